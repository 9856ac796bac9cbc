#ifndef BASE_PATHS_H
#define BASE_PATHS_H

/* Where files live: the XDG base directories, version 0.8. A variable that is unset, empty
 * or not absolute counts as unset, as the specification demands. */

#include <stdbool.h>

struct buf;
struct err;

enum path_kind { PATH_CONFIG, PATH_DATA, PATH_STATE, PATH_CACHE };

/* Append "$XDG_.../vitrine/rest" to out; rest may be NULL. Fails when neither the variable
 * nor HOME is set. */
bool path_xdg(struct buf *out, enum path_kind kind, const char *rest, struct err *e);

/* Create dir and its missing parents with mode 0700. */
bool path_make_dirs(const char *dir, struct err *e);

/* The part after the last slash; borrowed. */
const char *path_base(const char *path);

#endif
