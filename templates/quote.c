/* Is this place of an answer quoted? A marker of a call that stands in a code block,
 * in a code span or between quotation marks is being talked about. Code spans and
 * quotations are followed to the end of their line only: a lone backtick or inch sign
 * must not hide the call that comes later. */
#include "config.h"

#include <string.h>

#include "templates/syntax.h"

void syn_quote_init(struct syn_quote *q)
{
    *q = (struct syn_quote){ .line_start = true, .last = { '\n', '\n', '\n' } };
}

/* A run of backticks or tildes is over; next comes behind it. */
static void quote_run(struct syn_quote *q, char next)
{
    size_t run = q->run;
    bool first = q->run_first;

    q->run = 0;
    if (!run)
        return;
    if (q->fence == '`' && q->fence_line && q->run_char == '`') {
        q->code =
            run == q->fence_len ? 0 : q->fence_len; /* a span, no block, after all */
        q->fence = 0;
    } else if (q->fence) {
        if (first && q->run_char == q->fence && run >= q->fence_len && !syn_is_name(next))
            q->fence = 0;
    } else if (q->code) {
        if (q->run_char == '`' && run == q->code)
            q->code = 0;
    } else if (first && run >= 3) {
        q->fence = q->run_char;
        q->fence_len = run;
        q->fence_line = true;
    } else if (q->run_char == '`') {
        q->code = run;
    }
}

static void quote_byte(struct syn_quote *q, char c)
{
    if (c == '`' || c == '~') {
        if (q->run && q->run_char != c)
            quote_run(q, c);
        if (!q->run++) {
            q->run_char = c;
            q->run_first = q->line_start;
        }
        q->line_start = false;
    } else {
        quote_run(q, c);
        if (c == '\n') {
            q->code = 0;
            q->quoted = false;
            q->fence_line = false;
            q->line_start = true;
        } else if (c != ' ') {
            q->line_start = false;
        }
        if (c == '"')
            q->quoted = !q->quoted;
    }
    q->last[0] = q->last[1];
    q->last[1] = q->last[2];
    q->last[2] = (unsigned char)c;
}

void syn_quote_feed(struct syn_quote *q, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        quote_byte(q, s[i]);
}

/* An opening quotation mark that needs no partner to be known as one. */
static bool quote_opens(const unsigned char *last)
{
    static const char *const marks[] = {
        "\xe2\x80\x9c", "\xe2\x80\x98", "\xe2\x80\x9e", "\xe2\x80\x9a", "\xe2\x80\xb9",
        "\xe3\x80\x8c", "\xe3\x80\x8e", "\xef\xbc\x82",
    };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!memcmp(last, marks[i], 3))
            return true;
    if (!memcmp(last + 1, "\xc2\xab", 2))
        return true;
    return last[2] == '\'' && strchr(" \t\n(", last[1]) && last[1];
}

bool syn_quote_inside(const struct syn_quote *q)
{
    struct syn_quote now = *q;

    quote_run(&now, '<');
    return now.fence || now.code || now.quoted || quote_opens(now.last);
}
