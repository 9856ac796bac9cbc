#ifndef UNIT_VOCAB_H
#define UNIT_VOCAB_H

/* For tests of the tokenizer: real vocabularies and the JSON lists that go with them. */

#include "tests/unit/unit.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "tokenizer/tokenizer.h"

struct vocab {
    struct gguf *g;
    struct tok *t;
    struct buf bytes;       /* of an .xz file, decompressed */
};

static inline void vocab_close(struct vocab *v)
{
    tok_free(v->t);
    gguf_free(v->g);
    buf_release(&v->bytes);
    *v = (struct vocab){0};
}

static inline json_t *shared_json(const char *name)
{
    char path[8192];
    json_error_t je;

    snprintf(path, sizeof path, "%s/%s", unit_shared(), name);
    json_t *j = json_load_file(path, JSON_ALLOW_NUL, &je);
    if (!j)
        fail_msg("%s: %s", path, je.text);
    return j;
}

static inline bool vocab_unxz(const char *path, struct buf *out)
{
    char part[65536];
    struct buf cmd = {0};
    size_t n;

    buf_addf(&cmd, "xz -dc '%s'", path);
    FILE *f = popen(cmd.p, "r");
    buf_release(&cmd);
    if (!f)
        return false;
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(out, part, n);
    return pclose(f) == 0 && out->n > 0;
}

/* Open a file of the shared folder, plain or .xz. Fails the test if it cannot be loaded;
 * false when only xz is missing. */
static inline bool vocab_open(struct vocab *v, const char *name)
{
    char path[8192];
    struct err e = {0};
    size_t n = strlen(name);

    *v = (struct vocab){0};
    snprintf(path, sizeof path, "%s/%s", unit_shared(), name);
    if (n > 3 && strcmp(name + n - 3, ".xz") == 0) {
        if (system("xz --version >/dev/null 2>&1") != 0 || !vocab_unxz(path, &v->bytes)) {
            print_message("skipped: xz cannot unpack %s\n", name);
            return false;
        }
        v->g = gguf_open_memory(v->bytes.p, v->bytes.n, name, &e);
    } else {
        v->g = gguf_open(path, &e);
    }
    if (v->g)
        v->t = tok_from_gguf(v->g, &e);
    if (!v->t)
        fail_msg("%s", e.text);
    return true;
}

/* The text of a case of a corpus: "text", or "hex" for any bytes. */
static inline void case_text(const json_t *c, struct buf *out)
{
    const json_t *text = json_object_get(c, "text");
    const char *hex = json_string_value(json_object_get(c, "hex"));

    buf_reset(out);
    if (text)
        buf_add(out, json_string_value(text), json_string_length(text));
    for (; hex && hex[0] && hex[1]; hex += 2) {
        char two[3] = { hex[0], hex[1], 0 };
        buf_addc(out, (char)strtoul(two, NULL, 16));
    }
}

static inline void print_ids(const char *what, const int32_t *v, size_t n)
{
    struct buf b = {0};

    for (size_t i = 0; i < n && i < 60; i++)
        buf_addf(&b, " %d", v[i]);
    print_message("%s %zu:%s\n", what, n, buf_str(&b));
    buf_release(&b);
}

/* True if ids are those of the JSON list; tells the difference if not. */
static inline bool same_ids(const char *name, const struct tok_ids *ids,
                            const json_t *want)
{
    struct tok_ids w = {0};

    for (size_t i = 0; i < json_array_size(want); i++)
        tok_ids_add(&w, (int32_t)json_integer_value(json_array_get(want, i)));
    bool same =
        ids->n == w.n && (w.n == 0 || memcmp(ids->v, w.v, w.n * sizeof *w.v) == 0);
    if (!same) {
        print_message("case %s\n", name);
        print_ids("  got", ids->v, ids->n);
        print_ids("  expected", w.v, w.n);
    }
    tok_ids_release(&w);
    return same;
}

#endif
