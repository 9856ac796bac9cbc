/* Mistral: [THINK]...[/THINK], and [TOOL_CALLS] with a list of JSON calls, or with a name
 * and its arguments: NAME[ARGS]{...}, NAME[CALL_ID]ID[ARGS]{...}, NAME{...}. */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "templates/syntax.h"

static void mistral_read(struct syn_reading *r)
{
    static const char args[] = "[ARGS]", id[] = "[CALL_ID]";
    size_t at = syn_space(r->raw, r->n), name = at, end;

    if (syn_begins_json(r->raw, r->n) == SYN_YES &&
        !syn_at(r->raw + at, r->n - at, args)) {
        syn_read_json(r);
        return;
    }
    struct tmpl_call *c = syn_call(r, 0, r->n);
    while (at < r->n && syn_is_name(r->raw[at]))
        at++;
    syn_set_name(c, r->raw + name, at - name);
    at += syn_space(r->raw + at, r->n - at);
    if (syn_at(r->raw + at, r->n - at, id)) {
        at += strlen(id);
        end = at + syn_find(r->raw + at, r->n - at, args);
        if (end > at && !memchr(r->raw + at, '\0', end - at))
            c->id = xmemdup0(r->raw + at, end - at);
        at = end;
    }
    if (!c->name)
        syn_wrong(c, "the call has no name", name, 0);
    else if (syn_at(r->raw + at, r->n - at, args))
        syn_json_arguments(r, c, at + strlen(args), r->n, 0);
    else if (at < r->n)
        syn_json_arguments(r, c, at, r->n, 0);
    else
        syn_wrong(c, "the call has no arguments", at, 0);
}

static enum syn_sure mistral_begins(const char *raw, size_t n)
{
    enum syn_sure sure = syn_begins_json(raw, n);

    return sure == SYN_NO ? syn_begins_name(raw, n, "[{") : sure;
}

static const struct syn_mark mistral_marks[] = {
    { .text = "[THINK]", .act = SYN_DO_THINK },
    { .text = "[/THINK]", .act = SYN_DO_THINK_END },
    { .text = "[TOOL_CALLS]", .act = SYN_DO_CALL, .until = SYN_UNTIL_JSON,
      .begins = mistral_begins },
    { .text = "[CALL_ID]", .act = SYN_DO_INSIDE },
    { .text = "[ARGS]", .act = SYN_DO_INSIDE },
};

const struct tmpl_syntax syn_mistral = {
    .name = "mistral",
    .help = "[THINK], [TOOL_CALLS] with a list or NAME[ARGS]{...}: Mistral, Devstral",
    .also = "magistral|devstral",
    .in_source = SYN_LIST("[TOOL_CALLS]"),
    .or_source = SYN_LIST("[THINK]"),
    .tokens = SYN_LIST("[TOOL_CALLS]"),
    SYN_MARKS(mistral_marks),
    .guard = SYN_GUARD_STRINGS,
    .read = mistral_read,
};
