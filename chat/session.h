#ifndef CHAT_SESSION_H
#define CHAT_SESSION_H

/* Session files: the event stream as JSON lines, appended as it happens, never rewritten.
 * vitrine-session(5) is the format's manual. A file belongs to one writer (flock). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chat/event.h"

struct buf;
struct err;
struct chat_session;        /* a file open for appending */

/* Make an id (YYYYMMDD-HHMMSS-xxxx) and the file with mode 0600 in the sessions directory. */
struct chat_session *chat_session_create(struct err *e);
/* Open an existing file to append to it. A torn last line is closed with a newline, so that
 * what follows is whole; readers skip it with a note. */
struct chat_session *chat_session_append(const char *path, struct err *e);
/* A session that is kept in memory only (--private); it has an id and no path. */
struct chat_session *chat_session_memory(void);
void chat_session_close(struct chat_session *s);

const char *chat_session_id(const struct chat_session *s);
const char *chat_session_path(const struct chat_session *s);     /* NULL: in memory */

/* One write per event; sync asks for fsync (end of a message). */
bool chat_session_write(struct chat_session *s, const struct chat_event *ev, bool sync,
                        struct err *e);

/* Copy everything written so far to a new file (mode 0600, refuses to overwrite). */
bool chat_session_copy(const struct chat_session *s, const char *to, struct err *e);

/* Find a session by path, id, or unique beginning of an id; "last" is the newest. */
bool chat_session_find(const char *name, struct buf *path, struct err *e);

/* Read a whole file: every known event in order. Unknown types are counted, a torn last
 * line is dropped, a broken line elsewhere is skipped: notes (may be NULL) gets sentences. */
bool chat_session_read(const char *path, struct chat_events *out, struct buf *notes,
                       struct err *e);

/* For `sessions list`: newest first. */
struct chat_session_entry {
    char *id, *path, *model, *title;    /* title: the first user message, one line */
    char *created;
    size_t messages;
    uint64_t bytes;
};
struct chat_session_list {
    struct chat_session_entry *v;
    size_t n, cap;
};
bool chat_session_list(struct chat_session_list *out, struct err *e);
void chat_session_list_release(struct chat_session_list *l);

#endif
