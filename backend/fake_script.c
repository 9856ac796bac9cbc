/* The script of `--device fake:FILE`: JSON lines, so that a test can be read and written by
 * hand. Blank lines are skipped. The first line is the header; all but "fake" may be absent:
 *
 *   {"fake":1, "name":"demo", "template":"chatml", "ctx":4096,
 *    "delay_us":0,           waited before every token but an answer's first
 *    "prefill_us":0,         waited for every token of a prompt
 *    "special":["<|im_start|>","<|im_end|>","<think>","</think>"],
 *    "bos":null,             a name of "special", or null for none
 *    "eos":"<|im_end|>"}     a name of "special"; what ends every answer
 *
 * Every further line is one answer, played in this order; after the last the first again:
 *
 *   {"answer":[ELEMENT, ...], "open":false}
 *
 * When the elements are used up the answer goes on with eos. An open one begins again with
 * its first element instead and never ends by itself. An ELEMENT is
 *
 *   "Hel"                          one token of this text, probability near 1
 *   {"t":"Hel"}                    the same
 *   {"b64":"4pQ="}                 one token of these bytes, which need not be UTF-8
 *   {"special":"<think>"}          a special token, by its name in the header
 *   {"sleep_us":200000}            wait before the next token
 *   {"error":"device lost"}        the evaluation that should give the next token fails
 *   {"open":true}                  as the last element: the same as on the line
 *
 * and the first four kinds, as objects, may also have
 *
 *   "lp":-0.5                      its log-probability (nats)
 *   "top":[["y",-1.2],[{"special":"</think>"},-3]]     others with theirs
 *   "repeat":1000                  so many times in a row
 *
 * Without "lp" a token gets what "top" leaves. What all leave is spread evenly over the rest
 * of the vocabulary, at least 1e-12 in total, so a scripted token need not be the likeliest:
 * the script goes on with its next element whatever the sampler chose.
 *
 * A text of one byte is that byte's id; all other texts have ids of their own, also those
 * that look like a special token. */
#include "config.h"

#include "backend/fake.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/fake_vocab.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum { FAKE_LINE_MAX = 16 << 20 };

/* Where we are, for messages. */
struct fake_at {
    const char *path;
    size_t line;
    struct err *e;
};

static const double fake_rest = 1e-12;

static bool fake_bad(const struct fake_at *at, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool fake_bad(const struct fake_at *at, const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    err_set_kind(at->e, ERR_MODEL, "%s line %zu: %s", at->path, at->line, text.p);
    buf_release(&text);
    return false;
}

/* Every key of obj must be in the NULL-terminated list: a typing mistake in a test must not
 * pass as a default. */
static bool fake_keys(const struct fake_at *at, json_t *obj, const char *const *known)
{
    const char *key;
    json_t *v;

    json_object_foreach(obj, key, v) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key))
            i++;
        if (!known[i])
            return fake_bad(at, "unknown key \"%s\"", key);
    }
    return true;
}

static bool fake_number(const struct fake_at *at, json_t *obj, const char *key, uint64_t least,
                        uint64_t most, uint64_t *out)
{
    json_t *v = json_object_get(obj, key);

    if (!v)
        return true;
    if (!json_is_integer(v) || json_integer_value(v) < (json_int_t)least ||
        json_integer_value(v) > (json_int_t)most)
        return fake_bad(at, "\"%s\" is not a whole number from %llu to %llu", key,
                        (unsigned long long)least, (unsigned long long)most);
    *out = (uint64_t)json_integer_value(v);
    return true;
}

static bool fake_string(const struct fake_at *at, json_t *obj, const char *key, char **out)
{
    json_t *v = json_object_get(obj, key);

    if (!v)
        return true;
    if (!json_is_string(v))
        return fake_bad(at, "\"%s\" is not a string", key);
    free(*out);
    *out = xmemdup0(json_string_value(v), json_string_length(v));
    return true;
}

/* ---- the header ---- */

static bool fake_specials(const struct fake_at *at, struct fake_script *s, json_t *list)
{
    static const char *const usual[] = {"<|im_start|>", "<|im_end|>", "<think>", "</think>"};
    size_t i;
    json_t *v;

    for (i = 0; !list && i < sizeof usual / sizeof *usual; i++)
        fake_vocab_add_special(s, usual[i], strlen(usual[i]));
    if (list && !json_is_array(list))
        return fake_bad(at, "\"special\" is not a list");
    json_array_foreach(list, i, v) {
        if (!json_is_string(v) || !json_string_length(v))
            return fake_bad(at, "\"special\" holds something else than names");
        if (fake_vocab_special(s, json_string_value(v), json_string_length(v)) >= 0)
            return fake_bad(at, "\"special\" names %s twice", json_string_value(v));
        fake_vocab_add_special(s, json_string_value(v), json_string_length(v));
    }
    return true;
}

/* The id of the special token that key names, or that usual names when key is absent. */
static bool fake_end(const struct fake_at *at, const struct fake_script *s, json_t *obj,
                     const char *key, const char *usual, int32_t *out)
{
    json_t *v = json_object_get(obj, key);
    const char *name = usual;

    *out = -1;
    if (v && !json_is_null(v) && !json_is_string(v))
        return fake_bad(at, "\"%s\" is not a name", key);
    if (v)
        name = json_string_value(v);
    if (!name)
        return true;
    *out = fake_vocab_special(s, name, strlen(name));
    return *out >= 0 || fake_bad(at, "\"%s\" %s is not in \"special\"", key, name);
}

static bool fake_header(const struct fake_at *at, struct fake_script *s, json_t *obj)
{
    static const char *const known[] = {"fake", "name", "template", "ctx", "delay_us",
                                        "prefill_us", "special", "bos", "eos", NULL};
    uint64_t version = 0, ctx = 4096;

    if (!fake_number(at, obj, "fake", 1, 1, &version) || !version)
        return fake_bad(at, "the first line of a script is a header with \"fake\":1");
    s->name = xstrdup("fake");
    s->template_name = xstrdup("chatml");
    if (!fake_keys(at, obj, known) || !fake_string(at, obj, "name", &s->name) ||
        !fake_string(at, obj, "template", &s->template_name) ||
        !fake_number(at, obj, "ctx", 1, 1 << 24, &ctx) ||
        !fake_number(at, obj, "delay_us", 0, 3600000000U, &s->delay_us) ||
        !fake_number(at, obj, "prefill_us", 0, 3600000000U, &s->prefill_us))
        return false;
    s->ctx = (uint32_t)ctx;
    if (!fake_specials(at, s, json_object_get(obj, "special")) ||
        !fake_end(at, s, obj, "bos", NULL, &s->vocab.bos) ||
        !fake_end(at, s, obj, "eos", "<|im_end|>", &s->vocab.eos))
        return false;
    return s->vocab.eos >= 0 || fake_bad(at, "\"eos\" must name a special token");
}

/* ---- answers ---- */

/* The token that v names: a string, or an object with "t", "b64" or "special". */
static bool fake_token(const struct fake_at *at, struct fake_script *s, json_t *v, int32_t *id)
{
    json_t *t = json_is_string(v) ? v : json_object_get(v, "t");
    json_t *b64 = json_object_get(v, "b64"), *special = json_object_get(v, "special");
    struct buf bytes = {0};

    if (!!t + !!b64 + !!special != 1 || !json_is_string(t ? t : b64 ? b64 : special))
        return fake_bad(at, "a token is a string, or an object with one string \"t\", "
                        "\"b64\" or \"special\"");
    if (special) {
        *id = fake_vocab_special(s, json_string_value(special), json_string_length(special));
        return *id >= 0 || fake_bad(at, "special token %s is not in the header",
                                    json_string_value(special));
    }
    if (t)
        buf_add(&bytes, json_string_value(t), json_string_length(t));
    else if (!base64_decode(&bytes, json_string_value(b64), json_string_length(b64))) {
        buf_release(&bytes);
        return fake_bad(at, "\"b64\" is not base64");
    }
    if (bytes.n)
        *id = fake_vocab_text(s, bytes.p, bytes.n);
    bool ok = bytes.n > 0;
    buf_release(&bytes);
    return ok || fake_bad(at, "a token cannot be empty");
}

static bool fake_lp(const struct fake_at *at, json_t *v, double *lp)
{
    if (!json_is_number(v) || json_number_value(v) > 0)
        return fake_bad(at, "a log-probability is a number and at most 0");
    *lp = json_number_value(v);
    return true;
}

static bool fake_tops(const struct fake_at *at, struct fake_script *s, json_t *list,
                      struct fake_item *item)
{
    size_t i;
    json_t *v;

    if (!list)
        return true;
    if (!json_is_array(list))
        return fake_bad(at, "\"top\" is not a list");
    item->top = xcalloc(json_array_size(list), sizeof *item->top);
    json_array_foreach(list, i, v) {
        struct fake_top *t = &item->top[i];
        if (json_array_size(v) != 2)
            return fake_bad(at, "an entry of \"top\" is a token and its log-probability");
        if (!fake_token(at, s, json_array_get(v, 0), &t->id) ||
            !fake_lp(at, json_array_get(v, 1), &t->lp))
            return false;
        for (size_t k = 0; k < i; k++)
            if (item->top[k].id == t->id)
                return fake_bad(at, "\"top\" names a token twice");
        if (item->id == t->id)
            return fake_bad(at, "\"top\" names the token itself");
        item->n_top++;
    }
    return true;
}

/* The token's own probability, and that all together stay below 1. */
static bool fake_mass(const struct fake_at *at, json_t *lp, struct fake_item *item)
{
    double others = 0;

    for (size_t i = 0; i < item->n_top; i++)
        others += exp(item->top[i].lp);
    if (!lp && others >= 1 - fake_rest)
        return fake_bad(at, "the probabilities of \"top\" leave nothing for the token");
    if (!lp)
        item->lp = log1p(-others - fake_rest);
    else if (!fake_lp(at, lp, &item->lp))
        return false;
    others += exp(item->lp);
    return others <= 1 + 1e-6 || fake_bad(at, "the probabilities add up to %g", others);
}

static bool fake_token_item(const struct fake_at *at, struct fake_script *s, json_t *v,
                            struct fake_item *item)
{
    static const char *const known[] = {"t", "b64", "special", "lp", "top", "repeat", NULL};

    item->kind = FAKE_TOKEN;
    if (!fake_token(at, s, v, &item->id))
        return false;
    if (json_is_string(v))
        return fake_mass(at, NULL, item);
    return fake_keys(at, v, known) &&
           fake_number(at, v, "repeat", 1, UINT64_C(1) << 40, &item->repeat) &&
           fake_tops(at, s, json_object_get(v, "top"), item) &&
           fake_mass(at, json_object_get(v, "lp"), item);
}

/* "open" on the line, or as a last element. */
static bool fake_open(const struct fake_at *at, json_t *v, bool last, bool *out)
{
    if (!last || !json_is_boolean(v))
        return fake_bad(at, "\"open\" is true or false, on the line or as the last element");
    *out = json_is_true(v);
    return true;
}

static bool fake_element(const struct fake_at *at, struct fake_script *s,
                         struct fake_answer *a, json_t *v, bool last)
{
    json_t *open = json_object_get(v, "open");
    static const char *const sleep_keys[] = {"sleep_us", NULL}, *const error_keys[] = {
        "error", NULL}, *const open_keys[] = {"open", NULL};

    if (open)
        return fake_keys(at, v, open_keys) && fake_open(at, open, last, &a->open);
    MEM_GROW(a->items, a->cap, a->n + 1);
    struct fake_item *item = &a->items[a->n++];
    *item = (struct fake_item){.repeat = 1};
    if (json_object_get(v, "sleep_us")) {
        item->kind = FAKE_SLEEP;
        return fake_keys(at, v, sleep_keys) &&
               fake_number(at, v, "sleep_us", 0, 3600000000U, &item->sleep_us);
    }
    if (json_object_get(v, "error")) {
        item->kind = FAKE_ERROR;
        return fake_keys(at, v, error_keys) && fake_string(at, v, "error", &item->text);
    }
    return fake_token_item(at, s, v, item);
}

static bool fake_answer_line(const struct fake_at *at, struct fake_script *s, json_t *obj)
{
    static const char *const known[] = {"answer", "open", NULL};
    json_t *list = json_object_get(obj, "answer"), *open = json_object_get(obj, "open"), *v;
    struct fake_answer *a;
    size_t i;

    if (!json_is_array(list) || !fake_keys(at, obj, known))
        return fake_bad(at, "a line after the header is {\"answer\":[...]}");
    MEM_GROW(s->answers, s->answers_cap, s->n_answers + 1);
    a = &s->answers[s->n_answers++];
    *a = (struct fake_answer){0};
    if (open && !fake_open(at, open, true, &a->open))
        return false;
    json_array_foreach(list, i, v)
        if (!fake_element(at, s, a, v, i + 1 == json_array_size(list)))
            return false;

    bool token = !a->open;
    for (i = 0; i < a->n; i++)
        token = token || a->items[i].kind == FAKE_TOKEN;
    return token || fake_bad(at, "an open answer needs a token");
}

static bool fake_line(const struct fake_at *at, struct fake_script *s, const char *p, size_t n)
{
    json_error_t je;
    json_t *obj = json_loadb(p, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &je);
    bool ok;

    if (!obj)
        return fake_bad(at, "not JSON: %s", je.text);
    if (!json_is_object(obj))
        ok = fake_bad(at, "a line is a JSON object");
    else if (!s->name)
        ok = fake_header(at, s, obj);
    else
        ok = fake_answer_line(at, s, obj);
    json_decref(obj);
    return ok;
}

bool fake_script_read(struct fake_script *s, const char *path, struct err *e)
{
    struct fake_at at = {.path = path, .e = e};
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool ok = true;

    if (!f)
        return err_set_kind(e, ERR_MODEL, "cannot open the script %s: %s", path,
                            strerror(errno));
    fake_vocab_bytes(s);
    while (ok && (n = getline(&line, &cap, f)) >= 0) {
        at.line++;
        if (n > FAKE_LINE_MAX)
            ok = fake_bad(&at, "a line is longer than 16 MiB");
        else if (strspn(line, " \t\r\n") < (size_t)n)
            ok = fake_line(&at, s, line, (size_t)n);
    }
    if (ok && ferror(f))
        ok = fake_bad(&at, "cannot be read: %s", strerror(errno));
    if (ok && !s->n_answers)
        ok = fake_bad(&at, s->name ? "the script has no answer" : "the script is empty");
    free(line);
    fclose(f);
    if (ok)
        fake_vocab_finish(s);
    return ok;
}

void fake_script_release(struct fake_script *s)
{
    for (size_t i = 0; i < s->n_answers; i++) {
        for (size_t k = 0; k < s->answers[i].n; k++) {
            free(s->answers[i].items[k].top);
            free(s->answers[i].items[k].text);
        }
        free(s->answers[i].items);
    }
    free(s->answers);
    fake_vocab_release(s);
    free(s->name);
    free(s->template_name);
}
