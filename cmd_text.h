#ifndef CMD_TEXT_H
#define CMD_TEXT_H

/* How the subcommands read and print: foreign bytes, columns, JSON, JSON lines. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

/* Foreign bytes on stdout: exact in a pipe or file, shown on a terminal. */
void cmd_put_exact(const char *p, size_t n);
/* Foreign bytes that stand in our own text: always shown, in one line. */
void cmd_add_shown(struct buf *out, const char *p, size_t n);
/* The same, at most so many columns; "..." stands for the rest. True if there is one. */
bool cmd_add_cut(struct buf *out, const char *p, size_t n, int columns);

/* "1.1 MiB"; "1,234,567". */
void cmd_add_size(struct buf *out, uint64_t bytes);
void cmd_add_count(struct buf *out, uint64_t n);

/* ---- aligned columns ---- */

struct cmd_columns {
    struct buf *cells;      /* (n) row after row */
    size_t n, cap;
    size_t width;           /* cells in a row */
    const char *align;      /* one letter a column: l or r */
};
/* The next cell, from foreign text. */
void cmd_cell(struct cmd_columns *c, const char *p, size_t n);
void cmd_cellf(struct cmd_columns *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void cmd_cell_cut(struct cmd_columns *c, const char *p, size_t n, int columns);
/* Print all rows on stdout, two spaces between columns, and release them. */
void cmd_columns_print(struct cmd_columns *c);

/* ---- JSON ---- */

/* o[key] = the text, or o[raw_key] = its base64 when it is not UTF-8. */
void cmd_json_bytes(json_t *o, const char *key, const char *raw_key, const char *p,
                    size_t n);
/* A number, or null when JSON cannot hold it. */
json_t *cmd_json_real(double v);
/* Print on stdout, with a newline, and release: indented, or in one line and flushed. */
void cmd_json_print(json_t *j);
void cmd_json_line(json_t *j);

/* ---- JSON lines in ---- */

/* Call f for each line of the file (NULL or "-": stdin), its newline included. f prints one
 * line; when it returns false it has printed nothing and {"error": text} is printed
 * instead. e is filled in either case when something went wrong. The returned status is
 * that of the first error, or 0. Empty lines are skipped. */
typedef bool cmd_line_fn(void *arg, const char *line, size_t n, struct err *e);
int cmd_lines(const char *path, cmd_line_fn *f, void *arg, struct err *e);
/* The same with the value that the line is in JSON. */
typedef bool cmd_jsonl_fn(void *arg, const json_t *in, struct err *e);
int cmd_jsonl(const char *path, cmd_jsonl_fn *f, void *arg, struct err *e);

/* Text as JSON lines have it: a string, or {"hex": "..."} when it is not UTF-8. */
bool cmd_json_text(const json_t *in, struct buf *out, struct err *e);
json_t *cmd_json_from_text(const char *p, size_t n);

#endif
