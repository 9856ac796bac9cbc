#ifndef TMPL_PARSED_H
#define TMPL_PARSED_H

/* A whole answer as a stream takes it apart, collected: for `vitrine parse` and tests. */

#include "base/buf.h"
#include "templates/template.h"

struct tmpl_parsed {
    struct buf text;            /* all that was fed */
    struct buf reasoning, content;
    struct tmpl_result result;  /* every run and call so far */
    size_t seen;                /* runs that were collected */
    uint64_t to;                /* bytes of text that they cover */
    bool ended;                 /* by the model */
};

void tmpl_parsed_release(struct tmpl_parsed *p);
void tmpl_parsed_feed(struct tmpl_parsed *p, struct tmpl_stream *st, const char *bytes,
                      size_t len, const char *special);
void tmpl_parsed_finish(struct tmpl_parsed *p, struct tmpl_stream *st);

/* Append {"reasoning", "content", "tool_calls", "end"} in one line. Arguments are
 * objects, with numbers as the model wrote them; a call that must not be run has
 * "raw", "error" and "error_at", and beside it what could be read of it. "status" is
 * complete, malformed or truncated. What is not UTF-8 is {"hex": ...}. A call without
 * a name that the syntax does not number stands in "malformed" instead of
 * "tool_calls". "end" is "message" when the model ended its message, else "eof". */
void tmpl_parsed_write(const struct tmpl_parsed *p, struct buf *out);
/* A call as it stands there. */
void tmpl_parsed_write_call(const struct tmpl_call *c, struct buf *out);
/* Text as it stands there. */
void tmpl_parsed_write_text(const char *s, size_t n, struct buf *out);

#endif
