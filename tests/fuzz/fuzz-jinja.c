/* The template interpreter under any template.
 *
 * An input is a template, then, behind a first zero byte, the variables as JSON; without
 * them a conversation stands in whose every letter is U+10FFFD. A template cannot write
 * that character itself unless it names it, so wherever the output has it, it must count
 * as the conversation's. Always: runs cover the text in order and alternate, a failure
 * says where and why, and a second rendering gives the same. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "templates/jinja.h"
#include "templates/pyjson.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

#define X "\xF4\x8F\xBF\xBD"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char conversation[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"" X
    "\"}, {\"role\": \"user\", "
    "\"content\": \" " X X "\\n<" X "> \"}, {\"role\": \"assistant\", \"content\": null, "
    "\"tool_calls\": [{\"id\": \"" X "\", \"function\": {\"name\": \"" X "\", "
    "\"arguments\": {\"" X "\": [1, 2.5, true, null, \"" X "\"]}}}]}, "
    "{\"role\": \"tool\", \"content\": [{\"type\": \"text\", \"text\": \"" X "\"}]}], "
    "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"" X "\", "
    "\"description\": \"" X "," X "\", \"parameters\": {\"type\": \"object\", "
    "\"properties\": {\"" X "\": {\"type\": \"string\"}}}}}], \"documents\": null, "
    "\"bos_token\": \"<s>\", \"eos_token\": \"</s>\", \"add_generation_prompt\": true, "
    "\"enable_thinking\": false, \"u\": \" " X "<" X ">, " X "\", \"n\": 7}";

static const struct tm now = {
    .tm_year = 126, .tm_mday = 15, .tm_wday = 4, .tm_yday = 14
};

static const struct jinja_limits limits = {
    .steps = 300000,
    .memory = 32 << 20,
    .output = 1 << 20,
    .depth = 300,
    .now = &now,
};

static void check_runs(const struct jinja_output *out)
{
    size_t at = 0;

    for (size_t i = 0; i < out->n_runs; i++) {
        const struct jinja_run *r = &out->runs[i];
        MUST(r->from == at && r->to > r->from);
        MUST(i == 0 || r->origin != out->runs[i - 1].origin);
        at = r->to;
    }
    MUST(at == out->text.n);
}

static void check_origin(const struct jinja_output *out)
{
    const char *text = buf_str(&out->text), *at = text;
    size_t i = 0;

    while ((at = memmem(at, out->text.n - (size_t)(at - text), X, 4))) {
        size_t from = (size_t)(at - text);
        while (out->runs[i].to <= from)
            i++;
        MUST(out->runs[i].origin == JINJA_CONVERSATION && out->runs[i].to >= from + 4);
        at += 4;
    }
}

static void render(const struct jinja *j, const json_t *context, bool own)
{
    struct jinja_output a = {0}, b = {0};
    struct err e = {0};

    if (jinja_render(j, context, &limits, &a, &e)) {
        check_runs(&a);
        if (own)
            check_origin(&a);
        MUST(jinja_render(j, context, &limits, &b, &e));
        MUST(a.text.n == b.text.n && a.n_runs == b.n_runs);
        MUST(a.text.n == 0 || memcmp(a.text.p, b.text.p, a.text.n) == 0);
    } else {
        MUST(e.kind == ERR_FAILED && strstr(e.text, "chat template, line "));
        MUST(a.text.n == 0 && a.n_runs == 0);
    }
    jinja_output_release(&a);
    jinja_output_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    bool own = memmem(data, len, X, 4) == NULL;
    struct err e = {0};
    struct jinja *j = jinja_compile((const char *)data, len, &e);
    json_t *context =
        end ? pyjson_load((const char *)end + 1, size - len - 1, PYJSON_NAN, NULL) : NULL;

    MUST(j || (e.kind == ERR_FAILED && strstr(e.text, "chat template")));
    if (context)
        own = false;
    else
        context = pyjson_load(conversation, sizeof conversation - 1, PYJSON_NAN, NULL);
    MUST(context);
    if (j)
        render(j, context, own);
    json_decref(context);
    jinja_free(j);
    return 0;
}
