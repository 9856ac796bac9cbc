#ifndef PARSE_CASES_H
#define PARSE_CASES_H

/* Reading tests/vectors/parse/NAME.jsonl and comparing with what came out. */

#include <jansson.h>

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "templates/pyjson.h"
#include "templates/template.h"

struct parse_case {
    const char *syntax, *name;
    enum tmpl_channel start;
    bool spelled;               /* markers in the text are no tokens */
    const json_t *chunks, *expected;
    const char *expected_text;  /* the line, for numbers as they are written */
};

static inline bool case_file(const char *path, struct buf *out)
{
    char part[65536];
    size_t n;
    FILE *f = fopen(path, "rb");

    if (!f)
        return false;
    while ((n = fread(part, 1, sizeof part, f)))
        buf_add(out, part, n);
    fclose(f);
    return true;
}

/* A string, or {"hex": ...}. */
static inline void case_text(const json_t *v, struct buf *out)
{
    const char *hex = json_string_value(json_object_get(v, "hex"));
    unsigned byte;

    if (json_is_string(v)) {
        buf_add(out, json_string_value(v), json_string_length(v));
        return;
    }
    assert_non_null(hex);
    for (; *hex; hex += 2) {
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        buf_addc(out, (char)byte);
    }
}

/* Equal with numbers as they are written. */
static inline bool case_equal(const json_t *a, const json_t *b)
{
    struct buf x = {0}, y = {0};
    bool equal;

    if (!a || !b)
        return a == b;
    pyjson_add(&x, a, PYJSON_COMPACT);
    pyjson_add(&y, b, PYJSON_COMPACT);
    equal = !strcmp(buf_str(&x), buf_str(&y));
    buf_release(&x);
    buf_release(&y);
    return equal;
}

static inline bool case_call_equal(const json_t *want, const json_t *have)
{
    const char *key;
    const json_t *v;

    json_object_foreach((json_t *)want, key, v)
        if (!case_equal(v, json_object_get(have, key)))
            return false;
    if (json_object_get(want, "status"))
        return json_is_string(json_object_get(have, "error"));
    return !json_object_get(have, "error");
}

/* line is what came out. False: it is something else, and that was said. */
static inline bool case_check(const struct parse_case *pc, const char *line,
                              const char *how)
{
    static const char *const keys[] = { "reasoning", "content", "end" };
    json_t *have = pyjson_load(line, strlen(line), PYJSON_NUMBER_TEXT, NULL);
    const json_t *calls = json_object_get(pc->expected, "tool_calls"), *call;
    const json_t *got = json_object_get(have, "tool_calls");
    bool ok = have && json_array_size(got) == json_array_size(calls) &&
              !json_object_get(have, "malformed");
    size_t i;

    for (i = 0; ok && i < 3; i++)
        ok = case_equal(json_object_get(pc->expected, keys[i]),
                        json_object_get(have, keys[i]));
    json_array_foreach(calls, i, call)
        ok = ok && case_call_equal(call, json_array_get(got, i));
    if (!ok)
        print_error("%s: %s, %s\n  have %s\n  want %s\n", pc->syntax, pc->name, how, line,
                    pc->expected_text);
    json_decref(have);
    return ok;
}

typedef void case_fn(void *arg, const struct parse_case *pc);

static inline void case_line(const char *syntax, const char *line, size_t n, case_fn *f,
                             void *arg)
{
    struct pyjson_bad bad = {0};
    json_t *v = pyjson_load(line, n, PYJSON_NUMBER_TEXT, &bad);
    struct buf text = {0};
    const char *start;

    if (!v)
        fail_msg("%s: %s at byte %zu of a line", syntax, bad.what, bad.at);
    pyjson_add(&text, json_object_get(v, "expected"), PYJSON_SPACES);
    start = json_string_value(json_object_get(v, "start"));
    assert_non_null(start);
    struct parse_case pc = {
        .syntax = syntax,
        .name = json_string_value(json_object_get(v, "name")),
        .start = !strcmp(start, "think") ? TMPL_THINK : TMPL_RESPONSE,
        .spelled = json_is_true(json_object_get(v, "spelled")),
        .chunks = json_object_get(v, "chunks"),
        .expected = json_object_get(v, "expected"),
        .expected_text = text.p,
    };
    f(arg, &pc);
    buf_release(&text);
    json_decref(v);
}

/* Each case of a syntax; the first line says where they come from. */
static inline void cases_each(const char *syntax, case_fn *f, void *arg)
{
    const char *top = getenv("top_srcdir");
    struct buf path = {0}, text = {0};

    buf_addf(&path, "%s/tests/vectors/parse/%s.jsonl", top ? top : ".", syntax);
    if (!case_file(path.p, &text))
        fail_msg("cannot open %s", path.p);
    const char *line = strchr(text.p, '\n');
    assert_non_null(line);
    for (line++; *line;) {
        size_t n = strcspn(line, "\n");
        case_line(syntax, line, n, f, arg);
        line += n + (line[n] == '\n');
    }
    buf_release(&path);
    buf_release(&text);
}

#endif
