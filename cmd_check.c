/* `vitrine tokenize --check FILE`: compare with ids that somebody else made.
 *
 * FILE is JSON or llama.cpp's form. As JSON it is an object with any of these:
 *
 *   "ref"    { NAME: [ids] }     ids where names of special tokens are those tokens
 *   "plain"  { NAME: [ids] }     ids where they are text
 *            the texts stand in the file that "corpus" names, which is looked for beside
 *            FILE and one folder above: { "cases": [ CASE... ] }, each CASE with "name"
 *            and "text", or "hex" for any bytes
 *   "cases", "tokenize"          [ CASE... ], with "ids" and, if names of special tokens
 *                                count, "allow_special": true
 *
 * FILE.inp has texts with a line __ggml_vocab_test__ behind each, and beside it FILE.out
 * the ids, a line for each text; special tokens are text. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_check.h"
#include "cmd_text.h"

static const char check_mark[] = "\n__ggml_vocab_test__\n";

enum { IDS_SHOWN = 24 };

struct check {
    const struct tok *tok;
    const char *path;
    bool json;
    size_t cases, equal;
    json_t *differ;
};

static json_t *check_list(const struct tok_ids *ids)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ids->n; i++)
        json_array_append_new(list, json_integer(ids->v[i]));
    return list;
}

/* Where the two lists part, and what is there. */
static void check_say(const char *name, const struct tok_ids *got,
                      const struct tok_ids *want)
{
    const struct tok_ids *both[] = { want, got };
    size_t at = 0;
    struct buf b = {0};

    while (at < got->n && at < want->n && got->v[at] == want->v[at])
        at++;
    cmd_add_shown(&b, name, strlen(name));
    buf_addf(&b, ": differs at token %zu\n", at);
    for (int k = 0; k < 2; k++) {
        buf_addf(&b, "  %s %zu:", k ? "got     " : "expected", both[k]->n);
        for (size_t i = at; i < both[k]->n && i < at + IDS_SHOWN; i++)
            buf_addf(&b, " %d", (int)both[k]->v[i]);
        buf_addf(&b, "%s\n", at + IDS_SHOWN < both[k]->n ? " ..." : "");
    }
    fwrite(b.p, 1, b.n, stdout);
    buf_release(&b);
}

static void check_one(struct check *c, const char *name, const struct buf *text,
                      bool special, const struct tok_ids *want)
{
    struct tok_ids got = {0};

    (special ? tok_encode_special : tok_encode)(c->tok, buf_str(text), text->n,
                                                TOK_AT_START, &got);
    bool same =
        got.n == want->n && (!got.n || !memcmp(got.v, want->v, got.n * sizeof *got.v));
    c->cases++;
    c->equal += same;
    if (!same && c->json) {
        json_t *o = json_object();
        cmd_json_bytes(o, "name", "name_bytes", name, strlen(name));
        json_object_set_new(o, "special", json_boolean(special));
        json_object_set_new(o, "expected", check_list(want));
        json_object_set_new(o, "got", check_list(&got));
        json_array_append_new(c->differ, o);
    } else if (!same) {
        check_say(name, &got, want);
    }
    tok_ids_release(&got);
}

/* ---- JSON ---- */

static bool check_ids(const struct check *c, const json_t *list, const char *name,
                      struct tok_ids *out, struct err *e)
{
    const json_t *one;
    size_t i;

    out->n = 0;
    if (!json_is_array(list))
        return err_set(e, "%s: the ids of %s are no list", c->path, name);
    json_array_foreach(list, i, one) {
        double id = json_is_number(one) ? json_number_value(one) : -1;
        if (!(id >= 0 && id <= INT32_MAX))
            return err_set(e, "%s: the ids of %s are not numbers", c->path, name);
        tok_ids_add(out, (int32_t)id);
    }
    return true;
}

static bool check_text(const struct check *c, const json_t *o, struct buf *out,
                       struct err *e)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    const json_t *text = json_object_get(o, "text");
    struct err why = {0};

    if (!name)
        return err_set(e, "%s: a case has no name", c->path);
    if (cmd_json_text(text ? text : o, out, &why))
        return true;
    return err_set(e, "%s: case %s has neither \"text\" nor \"hex\"", c->path, name);
}

/* Cases that hold their ids, or whose ids stand in a list by name. */
static bool check_cases(struct check *c, const json_t *cases, const json_t *by_name,
                        bool special, struct err *e)
{
    struct buf text = {0};
    struct tok_ids want = {0};
    const json_t *o;
    size_t i;
    bool ok = true;

    json_array_foreach(cases, i, o) {
        if (!ok)
            break;
        buf_reset(&text);
        const char *name = json_string_value(json_object_get(o, "name"));
        const json_t *ids = by_name ? json_object_get(by_name, name ? name : "")
                                    : json_object_get(o, "ids");
        if (by_name && !ids)
            continue; /* "plain" has only what differs from "ref" */
        ok = check_text(c, o, &text, e) && check_ids(c, ids, name, &want, e);
        if (ok)
            check_one(c, name, &text,
                      special || json_is_true(json_object_get(o, "allow_special")),
                      &want);
    }
    tok_ids_release(&want);
    buf_release(&text);
    return ok;
}

/* Numbers elsewhere in the file may be of any size, so all are read as reals. */
static json_t *check_load(const char *path, struct err *e)
{
    json_error_t je;
    json_t *v = json_load_file(path, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &je);

    if (!v)
        err_set(e, "cannot read %s: %s", path, je.text);
    else if (!json_is_object(v))
        err_set(e, "%s is not a JSON object", path);
    else
        return v;
    json_decref(v);
    return NULL;
}

/* The texts that "corpus" names. */
static json_t *check_corpus(const struct check *c, const char *name, struct err *e)
{
    const char *slash = strrchr(c->path, '/');
    struct buf path = {0};
    struct stat st;
    json_t *v = NULL;

    if (!name || *name == '/' || strstr(name, "..")) {
        err_set(e, "%s: \"corpus\" does not name a file beside it", c->path);
        return NULL;
    }
    for (int up = 0; up < 2 && !v; up++) {
        buf_reset(&path);
        buf_addf(&path, "%.*s%s%s", slash ? (int)(slash - c->path) + 1 : 0, c->path,
                 up ? "../" : "", name);
        if (stat(path.p, &st) == 0)
            v = check_load(path.p, e);
    }
    if (!v && !e->text[0])
        err_set(e, "%s: its corpus %s is neither beside it nor one folder above", c->path,
                name);
    buf_release(&path);
    return v;
}

static bool check_json(struct check *c, struct err *e)
{
    json_t *doc = check_load(c->path, e), *corpus = NULL;
    const json_t *ref = json_object_get(doc, "ref"),
                 *plain = json_object_get(doc, "plain");
    bool ok = doc != NULL;

    if (ok && (ref || plain)) {
        corpus = check_corpus(c, json_string_value(json_object_get(doc, "corpus")), e);
        const json_t *cases = json_object_get(corpus, "cases");
        ok = corpus && (!ref || check_cases(c, cases, ref, true, e)) &&
             (!plain || check_cases(c, cases, plain, false, e));
    }
    ok = ok && check_cases(c, json_object_get(doc, "cases"), NULL, false, e) &&
         check_cases(c, json_object_get(doc, "tokenize"), NULL, false, e);
    json_decref(corpus);
    json_decref(doc);
    return ok;
}

/* ---- .inp and .out ---- */

/* The numbers of one line. */
static bool check_line(const struct check *c, const char *p, const char *end, size_t line,
                       struct tok_ids *out, struct err *e)
{
    out->n = 0;
    while (p < end) {
        char *behind;
        if (*p == ' ' || *p == '\r') {
            p++;
            continue;
        }
        long id = strtol(p, &behind, 10);
        if (behind == p || id < 0 || id > INT32_MAX)
            return err_set(e, "%s: line %zu of its .out is no list of ids", c->path,
                           line);
        tok_ids_add(out, (int32_t)id);
        p = behind;
    }
    return true;
}

static bool check_inp(struct check *c, struct err *e)
{
    struct buf in = {0}, out = {0}, path = {0}, text = {0};
    struct tok_ids want = {0};
    size_t n = strlen(c->path) - 4, line = 0;

    buf_addf(&path, "%.*s.out", (int)n, c->path);
    bool ok = cmd_read(c->path, &in, e) && cmd_read(path.p, &out, e);
    const char *s = buf_str(&in), *end = s + in.n, *l = buf_str(&out);
    while (ok && s < end) {
        const char *mark =
            memmem(s, (size_t)(end - s), check_mark, sizeof check_mark - 1);
        const char *behind = strchr(l, '\n');
        char name[32];
        if (!behind && !*l) {
            ok = err_set(e, "%s: its .out has %zu lines, but there are more texts",
                         c->path, line);
            break;
        }
        ok = check_line(c, l, behind ? behind : l + strlen(l), ++line, &want, e);
        buf_reset(&text);
        buf_add(&text, s, (size_t)((mark ? mark : end) - s));
        snprintf(name, sizeof name, "text %zu", line);
        if (ok)
            check_one(c, name, &text, false, &want);
        s = mark ? mark + sizeof check_mark - 1 : end;
        l = behind ? behind + 1 : l + strlen(l);
    }
    tok_ids_release(&want);
    buf_release(&in);
    buf_release(&out);
    buf_release(&path);
    buf_release(&text);
    return ok;
}

int cmd_check(struct cmd_call *call, const struct tok *t)
{
    struct check c = { .tok = t, .path = call->set.check, .json = call->set.json };
    const char *dot = strrchr(c.path, '.');
    struct err e = {0};

    c.differ = json_array();
    bool ok = dot && !strcmp(dot, ".inp") ? check_inp(&c, &e) : check_json(&c, &e);
    if (ok && c.cases == 0)
        ok = err_set(&e, "%s has no cases", c.path);
    if (ok && c.json)
        cmd_json_print(json_pack("{s:I, s:I, s:O}", "cases", (json_int_t)c.cases, "equal",
                                 (json_int_t)c.equal, "differ", c.differ));
    else if (ok)
        printf("%zu cases: %zu equal, %zu differ\n", c.cases, c.equal, c.cases - c.equal);
    json_decref(c.differ);
    if (!ok)
        return cmd_fail(call, &e);
    return c.equal == c.cases ? CMD_OK : ERR_FAILED;
}
