/* A model file made anew with other metadata, for tests of chat templates.
 *
 *     remake IN OUT [KEY=@FILE | KEY=TEXT | ID:NAME]...
 *
 * KEY becomes a text: that of FILE, or TEXT. ID:NAME makes token ID a control token of
 * that name. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/gguf.h"
#include "tests/unit/gguf-write.h"

struct change {
    char *key;              /* NULL: a token */
    struct buf text;        /* its name */
    uint64_t id;
};

static int complain(const char *what, const char *more)
{
    fprintf(stderr, "remake: %s%s%s\n", what, more ? ": " : "", more ? more : "");
    return 1;
}

static bool read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    char block[65536];
    size_t n;

    if (!f)
        return false;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
    return true;
}

static bool parse_change(const char *arg, struct change *c)
{
    const char *equals = strchr(arg, '='), *colon = strchr(arg, ':');

    *c = (struct change){0};
    if (colon && arg[0] >= '0' && arg[0] <= '9') {
        c->id = strtoull(arg, NULL, 10);
        buf_adds(&c->text, colon + 1);
        return true;
    }
    if (!equals)
        return false;
    c->key = strndup(arg, (size_t)(equals - arg));
    if (equals[1] == '@')
        return read_file(equals + 2, &c->text);
    buf_adds(&c->text, equals + 1);
    return true;
}

static const struct change *find_key(const struct change *v, size_t n,
                                     const struct gguf_str *key)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].key && strlen(v[i].key) == key->n && !memcmp(v[i].key, key->p, key->n))
            return &v[i];
    return NULL;
}

static const struct change *find_token(const struct change *v, size_t n, uint64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (!v[i].key && v[i].id == id)
            return &v[i];
    return NULL;
}

/* Names and types of the tokens, with changes. */
static void copy_tokens(struct gguf_write *w, const struct gguf_kv *kv, const char *key,
                        const struct change *v, size_t n)
{
    size_t at = 0;

    gw_kv_array(w, key, kv->type, kv->n);
    for (uint64_t i = 0; i < kv->n; i++) {
        const struct change *c = find_token(v, n, i);
        if (kv->type == GGUF_STRING) {
            struct gguf_str s = gguf_next_str(kv, &at);
            gw_str(&w->kv, c ? c->text.p : s.p, c ? c->text.n : s.n);
        } else {
            gw_u32(&w->kv, c ? 3 : gguf_u32_at(kv, i));
        }
    }
}

static void copy_kv(struct gguf_write *w, const struct gguf_kv *kv,
                    const struct change *v, size_t n)
{
    char *key = strndup(kv->key.p, kv->key.n);

    if (!strcmp(key, "tokenizer.ggml.tokens") ||
        !strcmp(key, "tokenizer.ggml.token_type")) {
        copy_tokens(w, kv, key, v, n);
    } else if (kv->array) {
        gw_kv_array(w, key, kv->type, kv->n);
        buf_add(&w->kv, kv->data, kv->size);
    } else {
        gw_kv(w, key, kv->type, kv->data, kv->size);
    }
    free(key);
}

int main(int argc, char **argv)
{
    struct change *v = calloc((size_t)argc, sizeof *v);
    struct gguf_write w = {0};
    struct buf out = {0};
    struct err e = {0};
    size_t n = 0;

    if (argc < 3)
        return complain("needs IN and OUT", NULL);
    struct gguf *g = gguf_open(argv[1], &e);
    if (!g)
        return complain(e.text, NULL);
    for (int i = 3; i < argc; i++)
        if (!parse_change(argv[i], &v[n++]))
            return complain("cannot use", argv[i]);
    for (size_t i = 0; i < gguf_n_kv(g); i++)
        if (!find_key(v, n, &gguf_kv_at(g, i)->key))
            copy_kv(&w, gguf_kv_at(g, i), v, n);
    for (size_t i = 0; i < n; i++) {
        if (v[i].key) {
            gw_kv(&w, v[i].key, GGUF_STRING, NULL, 0);
            gw_str(&w.kv, buf_str(&v[i].text), v[i].text.n);
        }
        free(v[i].key);
        buf_release(&v[i].text);
    }
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        gw_tensor(&w, t->name, t->dtype, (uint32_t)t->n_dims, t->ne, t->data, t->size);
    }
    gw_finish(&w, &out);
    FILE *f = fopen(argv[2], "wb");
    if (!f || fwrite(out.p, 1, out.n, f) != out.n || fclose(f))
        return complain("cannot write", argv[2]);
    buf_release(&out);
    gw_release(&w);
    gguf_free(g);
    free(v);
    return 0;
}
