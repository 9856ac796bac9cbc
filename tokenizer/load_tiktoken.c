/* The ranks that OpenAI's tiktoken reads: a line for each token, its bytes in Base64, a
 * space, and the rank, which is also the id. What text is cut by and which special tokens
 * there are is not in the file. Kimi's models ship such a file: it is recognised by its
 * number of ranks, and its 256 special tokens follow the ranks. */
#include "config.h"

#include "tokenizer/hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"

static const size_t tiktoken_max = (size_t)200 << 20;

enum { KIMI_RANKS = 163584, KIMI_SPECIALS = 256 };

struct tiktoken {
    const char *path;
    struct tok *t;
    const struct hf_config *config;
    struct buf names;
    size_t *at; /* (n_ranks) where the bytes of a rank are, 1 more; 0: nowhere */
    uint32_t *len;
    size_t n_ranks;
    struct err *e;
};

/* One line; false if it is none. */
static bool tiktoken_line(struct tiktoken *k, const char *p, size_t n, size_t line)
{
    const char *space = memchr(p, ' ', n), *end = p + n;
    size_t rank = 0, at = k->names.n;
    const char *d = space ? space + 1 : end;

    if (d == end || end - d > 9)
        return hf_bad(k->e, k->path, "line %zu is not BASE64 RANK", line);
    for (; d < end; d++) {
        if (*d < '0' || *d > '9')
            return hf_bad(k->e, k->path, "line %zu is not BASE64 RANK", line);
        rank = rank * 10 + (size_t)(*d - '0');
    }
    if (!base64_decode(&k->names, p, (size_t)(space - p)) || k->names.n == at)
        return hf_bad(k->e, k->path, "line %zu is not BASE64 RANK", line);
    if (rank >= k->n_ranks)
        return hf_bad(k->e, k->path, "line %zu has the rank %zu, but there are %zu", line,
                      rank, k->n_ranks);
    if (k->at[rank])
        return hf_bad(k->e, k->path, "two lines have the rank %zu", rank);
    if (k->names.n - at > UINT16_MAX)
        return hf_bad(k->e, k->path, "line %zu has a token of %zu bytes", line,
                      k->names.n - at);
    k->at[rank] = at + 1;
    k->len[rank] = (uint32_t)(k->names.n - at);
    return true;
}

/* The next line of [*p, end): false at the end. Empty lines are passed over. */
static bool tiktoken_next(const char **p, const char *end, const char **line, size_t *n)
{
    while (*p < end) {
        const char *nl = memchr(*p, '\n', (size_t)(end - *p));
        *line = *p;
        *n = (size_t)((nl ? nl : end) - *p);
        *p = nl ? nl + 1 : end;
        if (*n && (*line)[*n - 1] == '\r')
            --*n;
        if (*n)
            return true;
    }
    return false;
}

static bool tiktoken_ranks(struct tiktoken *k, const char *text, size_t len)
{
    const char *p = text, *end = p + len, *line;
    size_t n, number = 0;

    while (tiktoken_next(&p, end, &line, &n))
        k->n_ranks++;
    if (k->n_ranks < 256 || k->n_ranks >= TOK_COUNT_MAX / 2)
        return hf_bad(k->e, k->path, "it has %zu ranks", k->n_ranks);
    k->at = xcalloc(k->n_ranks, sizeof *k->at);
    k->len = xcalloc(k->n_ranks, sizeof *k->len);
    for (p = text; tiktoken_next(&p, end, &line, &n);)
        if (!tiktoken_line(k, line, n, ++number))
            return false;
    return true; /* as many lines as ranks, and no rank twice */
}

static const json_t *tiktoken_added(const struct tiktoken *k)
{
    return json_object_get(k->config->tokenizer, "added_tokens_decoder");
}

/* How many tokens there are with the special ones, whose ids stand in the configuration.
 */
static bool tiktoken_count(struct tiktoken *k)
{
    size_t n = k->n_ranks == KIMI_RANKS ? KIMI_RANKS + KIMI_SPECIALS : k->n_ranks;
    const char *key;
    json_t *o;

    json_object_foreach((json_t *)tiktoken_added(k), key, o)
    {
        struct hf_added a;
        char *end;
        long id = strtol(key, &end, 10);
        if (*end || end == key || id < 0 || (size_t)id >= k->n_ranks + 65536 ||
            !hf_added_read(o, id, &a) || a.n > TOK_NAME_MAX)
            return hf_bad(k->e, k->path,
                          "tokenizer_config.json has an added token \"%s\" "
                          "that is wrong",
                          key);
        if ((size_t)id >= n)
            n = (size_t)id + 1;
    }
    k->t->n = n;
    k->t->v = xcalloc(n, sizeof *k->t->v);
    return true;
}

/* All names go to one piece of memory, so their places are known before it is. */
static void tiktoken_entries(struct tiktoken *k)
{
    struct tok *t = k->t;
    size_t *at = xcalloc(t->n, sizeof *at);
    const char *key;
    json_t *o;

    memcpy(at, k->at, k->n_ranks * sizeof *at);
    for (size_t i = 0; i < k->n_ranks; i++)
        t->v[i] =
            (struct tok_entry){ .bytes = "", .type = TOK_NORMAL, .name_len = k->len[i] };
    for (size_t i = k->n_ranks; i < t->n; i++) {
        at[i] = k->names.n + 1;
        buf_addf(&k->names, "<|reserved_token_%zu|>", i);
        t->v[i] = (struct tok_entry){ .bytes = "",
                                      .type = TOK_CONTROL,
                                      .name_len = (uint32_t)(k->names.n + 1 - at[i]) };
    }
    json_object_foreach((json_t *)tiktoken_added(k), key, o)
    {
        struct hf_added a;
        size_t id = (size_t)strtol(key, NULL, 10);
        hf_added_read(o, (int64_t)id, &a);
        at[id] = k->names.n + 1;
        buf_add(&k->names, a.content, a.n);
        t->v[id].name_len = (uint32_t)a.n;
        t->v[id].type = TOK_CONTROL;
        t->v[id].found = (uint8_t)(a.found & ~(unsigned)TOK_FOUND_LATE);
    }
    t->names = buf_take(&k->names);
    for (size_t i = 0; i < t->n; i++)
        t->v[i].name = t->names + at[i] - 1;
    free(at);
}

static const struct presplit_name *tiktoken_presplit(const struct tiktoken *k,
                                                     const char *pre)
{
    struct buf list = {0};
    const struct presplit_name *n = NULL;

    if (!pre && k->n_ranks == KIMI_RANKS)
        pre = "kimi-k2";
    if (pre)
        n = presplit_find(pre, strlen(pre));
    if (n && !(n->flags & PRESPLIT_CHARS))
        return n;
    presplit_list(&list);
    if (pre)
        hf_bad(k->e, k->path,
               "--pre is \"%s\", a pre-tokenizer that is not known here; "
               "known are %s",
               pre, list.p);
    else
        hf_bad(k->e, k->path,
               "the file does not say how text is cut, and guessing it would "
               "tokenize wrongly; name it with --pre NAME (names: %s)",
               list.p);
    buf_release(&list);
    return NULL;
}

static bool tiktoken_load(struct tiktoken *k, const char *text, size_t len,
                          const char *pre)
{
    const struct presplit_name *name;

    if (!tiktoken_ranks(k, text, len) || !(name = tiktoken_presplit(k, pre)) ||
        !tiktoken_count(k))
        return false;
    tiktoken_entries(k);
    tok_set_presplit(k->t, name);
    /* tiktoken takes a piece that is a token as it is. */
    k->t->presplit_flags |= PRESPLIT_WHOLE;
    bpe_init_raw(k->t);
    tok_index(k->t);
    hf_config_apply(k->config, k->t);
    return true;
}

struct tok *tok_tiktoken_memory(const char *text, size_t len, const char *name,
                                const struct hf_config *config, const char *pre,
                                struct err *e)
{
    struct tiktoken k = { .t = tok_new(), .path = name, .config = config, .e = e };
    bool ok = tiktoken_load(&k, text, len, pre);

    if (!ok)
        tok_free(k.t);
    buf_release(&k.names);
    free(k.at);
    free(k.len);
    return ok ? k.t : NULL;
}

struct tok *tok_from_tiktoken(const char *path, const char *pre, struct err *e)
{
    struct buf file = {0};
    struct hf_file text = {0};
    struct hf_config config = {0};
    struct tok *t = NULL;

    if (hf_is_dir(path))
        buf_addf(&file, "%s/tiktoken.model", path);
    else
        buf_adds(&file, path);
    if (hf_map(file.p, tiktoken_max, &text, e) && hf_config_load(&config, file.p, e))
        t = tok_tiktoken_memory(text.p, text.n, file.p, &config, pre, e);
    if (t)
        hf_origin(t, file.p, &config);
    hf_config_release(&config);
    hf_unmap(&text);
    buf_release(&file);
    return t;
}
