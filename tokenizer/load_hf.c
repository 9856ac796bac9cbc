/* A Hugging Face tokenizer.json whose model is BPE. The file says everything itself:
 * vocabulary and merges, how text is normalised and cut, the added tokens and how they
 * are found in text. Other models than BPE are refused by name. */
#include "config.h"

#include "tokenizer/hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

/* Gemma's has 33 MB; no tokenizer is ten times as large. */
static const size_t hf_max = (size_t)400 << 20;

struct hf_name {
    size_t at, n;           /* in names */
    int32_t id;
};

struct hf_load {
    const char *path;
    struct tok *t;
    struct hf_list vocab, merges;
    json_t *doc;            /* without the two */
    struct buf names;
    struct hf_name *v;
    size_t n, cap;
    struct err *e;
};

static bool load_name(struct hf_load *l, const char *p, size_t n, int64_t id)
{
    if (id < 0 || id >= TOK_COUNT_MAX)
        return hf_bad(l->e, l->path, "token \"%.*s\" has the id %lld",
                      (int)(n < 40 ? n : 40), p, (long long)id);
    if (n > UINT16_MAX)
        return hf_bad(l->e, l->path, "token %lld has %zu bytes", (long long)id, n);
    MEM_GROW(l->v, l->cap, l->n + 1);
    l->v[l->n++] = (struct hf_name){ l->names.n, n, (int32_t)id };
    buf_add(&l->names, p, n);
    return true;
}

static bool load_vocab(struct hf_load *l)
{
    struct hf_str name;
    int64_t id;

    while (hf_next_token(&l->vocab, &name, &id))
        if (!load_name(l, name.p, name.n, id))
            return false;
    if (l->vocab.broken)
        return hf_bad(l->e, l->path,
                      "\"vocab\" is not a list of names and ids; entry %zu "
                      "is wrong",
                      l->n);
    if (l->n == 0)
        return hf_bad(l->e, l->path, "\"vocab\" is empty");
    return true;
}

/* The added tokens, whose names come behind those of the vocabulary. */
static bool load_added(struct hf_load *l)
{
    const json_t *list = json_object_get(l->doc, "added_tokens"), *o;
    struct hf_added a;
    size_t i;

    json_array_foreach(list, i, o)
    {
        const json_t *id = json_object_get(o, "id");
        if (!json_is_integer(id) || !hf_added_read(o, json_integer_value(id), &a))
            return hf_bad(l->e, l->path, "added token %zu has no id or no content", i);
        if (a.n > TOK_NAME_MAX)
            return hf_bad(l->e, l->path,
                          "added token %zu has %zu bytes; such a name has at "
                          "most %d",
                          i, a.n, TOK_NAME_MAX);
        if (!load_name(l, a.content, a.n, a.id))
            return false;
    }
    return true;
}

/* Ids are dense, or nearly: a few holes are left where tokens were taken out. */
static bool load_count(struct hf_load *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if ((size_t)l->v[i].id >= n)
            n = (size_t)l->v[i].id + 1;
    if (n > 2 * l->n + 65536)
        return hf_bad(l->e, l->path, "it has %zu tokens, but ids up to %zu", l->n, n - 1);
    l->t->n = n;
    l->t->v = xcalloc(n, sizeof *l->t->v);
    return true;
}

static bool load_entries(struct hf_load *l, size_t n_vocab)
{
    struct tok *t = l->t;

    t->names = buf_take(&l->names);
    for (size_t i = 0; i < t->n; i++)
        t->v[i] = (struct tok_entry){ .name = "", .bytes = "", .type = TOK_UNUSED };
    for (size_t i = 0; i < l->n; i++) {
        struct tok_entry *v = &t->v[l->v[i].id];
        if (i < n_vocab && v->type != TOK_UNUSED)
            return hf_bad(l->e, l->path, "two tokens have the id %d", (int)l->v[i].id);
        const char *name = t->names + l->v[i].at;
        bool same = v->name_len == l->v[i].n && memcmp(v->name, name, v->name_len) == 0;
        v->found = i < n_vocab || (same && v->found) ? TOK_FOUND_ALSO : 0;
        v->name = name;
        v->name_len = (uint32_t)l->v[i].n;
        v->type = TOK_NORMAL;
    }
    return true;
}

static void load_added_types(struct hf_load *l)
{
    const json_t *o;
    struct hf_added a;
    size_t i;

    json_array_foreach(json_object_get(l->doc, "added_tokens"), i, o)
    {
        if (!hf_added_read(o, json_integer_value(json_object_get(o, "id")), &a))
            continue;
        struct tok_entry *v = &l->t->v[a.id];
        bool also = (v->found & TOK_FOUND_ALSO) && !tok_is_markup(v);
        v->type = a.special ? TOK_CONTROL : TOK_USER;
        v->found = (uint8_t)(a.found | (also ? TOK_FOUND_ALSO : 0));
        if (tok_is_control_like(v))
            v->type = TOK_CONTROL;
    }
}

/* model.unk_token and model.byte_fallback. */
static void load_unknown(struct hf_load *l, const json_t *model)
{
    const json_t *unk = json_object_get(model, "unk_token");
    bool bytes = json_is_true(json_object_get(model, "byte_fallback"));
    struct tok *t = l->t;

    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        if (bytes && v->type == TOK_NORMAL && spm_byte(v) >= 0)
            v->type = TOK_BYTE;
        if (t->unk < 0 && json_is_string(unk) && v->name_len == json_string_length(unk) &&
            memcmp(v->name, json_string_value(unk), v->name_len) == 0 && v->name_len)
            t->unk = (int32_t)i;
    }
    if (t->unk >= 0 && t->v[t->unk].type == TOK_NORMAL)
        t->v[t->unk].type = TOK_UNKNOWN;
    t->writes_unknown = t->unk >= 0;
    t->fuses_unknown = json_is_true(json_object_get(model, "fuse_unk"));
}

/* About how many merges there are, by the length of the first ones. */
static size_t load_merge_count(struct hf_list probe)
{
    struct hf_str left, right;
    const char *from = probe.p, *to = probe.end;
    size_t n = 0;

    probe.left = probe.right = (struct buf){0};
    while (n < 4000 && hf_next_merge(&probe, &left, &right))
        n++;
    size_t bytes = (size_t)(probe.p - from), all = (size_t)(to - from);
    hf_list_release(&probe);
    double about = n ? (double)all / (double)bytes * (double)n : 0;
    return about < TOK_COUNT_MAX ? (size_t)about : TOK_COUNT_MAX;
}

static bool load_merges(struct hf_load *l)
{
    struct tok_merges m;
    struct hf_str left, right;
    bool ok = true;

    tok_merges_start(&m, l->t, load_merge_count(l->merges));
    while (ok && hf_next_merge(&l->merges, &left, &right)) {
        if (m.rank >= TOK_COUNT_MAX)
            ok = hf_bad(l->e, l->path, "\"merges\" has too many entries");
        else if (right.p)
            tok_merges_add(&m, left.p, left.n, right.p, right.n);
        else if (!tok_merges_add_line(&m, left.p, left.n))
            ok = hf_bad(l->e, l->path,
                        "\"merges\" has an entry %u that is not two tokens "
                        "with a space between",
                        m.rank);
    }
    if (ok && l->merges.broken)
        ok = hf_bad(l->e, l->path, "\"merges\" is not a list of pairs; entry %u is wrong",
                    m.rank);
    tok_merges_end(&m);
    if (ok && m.useless && log_on())
        log_line("tokenizer", "%zu merges of parts that are no tokens", m.useless);
    return ok;
}

/* BOS, if the template of the post-processor begins with a special token. */
static void load_post_processor(struct hf_load *l, const json_t *o, int depth)
{
    const char *type = json_string_value(json_object_get(o, "type"));
    const json_t *one, *first, *id;
    size_t i;

    if (type && strcmp(type, "Sequence") == 0 && depth < 4)
        json_array_foreach(json_object_get(o, "processors"), i, one)
            load_post_processor(l, one, depth + 1);
    if (!type || strcmp(type, "TemplateProcessing") != 0)
        return;
    first = json_array_get(json_object_get(o, "single"), 0);
    id = json_object_get(json_object_get(first, "SpecialToken"), "id");
    if (!json_is_string(id))
        return;
    one = json_object_get(json_object_get(o, "special_tokens"), json_string_value(id));
    one = json_array_get(json_object_get(one, "ids"), 0);
    if (json_is_integer(one) && json_integer_value(one) >= 0 &&
        (uint64_t)json_integer_value(one) < l->t->n) {
        l->t->bos = (int32_t)json_integer_value(one);
        l->t->adds_bos = true;
    }
}

static bool load_model_kind(struct hf_load *l, const json_t *model)
{
    static const char *const parts[] = { "continuing_subword_prefix",
                                         "end_of_word_suffix" };
    const char *type = json_string_value(json_object_get(model, "type"));

    if (type && strcmp(type, "BPE") != 0)
        return hf_bad(l->e, l->path, "its model is \"%s\"; only BPE is supported", type);
    for (int i = 0; i < 2; i++)
        if (json_string_length(json_object_get(model, parts[i])))
            return hf_bad(l->e, l->path, "its model has a \"%s\", which is not supported",
                          parts[i]);
    if (json_number_value(json_object_get(model, "dropout")) > 0)
        return hf_bad(l->e, l->path,
                      "its model leaves merges out at random (\"dropout\")");
    if (!l->vocab.p || !l->merges.p)
        return hf_bad(l->e, l->path, "its model has no list \"%s\"",
                      l->vocab.p ? "merges" : "vocab");
    return true;
}

static bool load_all(struct hf_load *l)
{
    const json_t *model = json_object_get(l->doc, "model");
    struct tok *t = l->t;
    size_t n_vocab, bad;

    if (!load_model_kind(l, model) || !load_vocab(l))
        return false;
    n_vocab = l->n;
    if (!load_added(l) || !load_count(l) || !load_entries(l, n_vocab))
        return false;
    load_added_types(l);
    load_unknown(l, model);
    if (!hf_split_load(t, l->doc, l->path, l->e))
        return false;
    if (json_is_true(json_object_get(model, "ignore_merges")))
        t->presplit_flags |= PRESPLIT_WHOLE;
    if (!(t->presplit_flags & PRESPLIT_CHARS))
        bpe_init(t);
    else if (spm_load_tokens(t, &bad))
        chars_init(t);
    snprintf(t->kind, sizeof t->kind, "BPE tokenizer.json");
    load_post_processor(l, json_object_get(l->doc, "post_processor"), 0);
    return load_merges(l);
}

static bool load_document(struct hf_load *l, const char *text, size_t len)
{
    struct buf rest = {0};
    json_error_t je;
    const char *why;
    bool ok = hf_scan(text, len, &rest, &l->vocab, &l->merges, &why);

    if (ok)
        l->doc = json_loadb(buf_str(&rest), rest.n,
                            JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &je);
    if (!ok)
        hf_bad(l->e, l->path, "it is no tokenizer.json: %s", why);
    else if (!l->doc)
        ok = hf_bad(l->e, l->path, "it is no tokenizer.json: %s", je.text);
    buf_release(&rest);
    return ok && load_all(l);
}

struct tok *tok_hf_memory(const char *text, size_t len, const char *name,
                          const struct hf_config *config, struct err *e)
{
    struct hf_load l = { .t = tok_new(), .path = name, .e = e };
    bool ok = load_document(&l, text, len);

    if (ok) {
        tok_index(l.t);
        hf_config_apply(config, l.t);
    } else {
        tok_free(l.t);
    }
    json_decref(l.doc);
    hf_list_release(&l.vocab);
    hf_list_release(&l.merges);
    buf_release(&l.names);
    free(l.v);
    return ok ? l.t : NULL;
}

struct tok *tok_from_hf(const char *path, struct err *e)
{
    struct buf file = {0};
    struct hf_file text = {0};
    struct hf_config config = {0};
    struct tok *t = NULL;

    if (hf_is_dir(path))
        buf_addf(&file, "%s/tokenizer.json", path);
    else
        buf_adds(&file, path);
    if (hf_map(file.p, hf_max, &text, e) && hf_config_load(&config, file.p, e))
        t = tok_hf_memory(text.p, text.n, file.p, &config, e);
    if (t)
        hf_origin(t, file.p, &config);
    hf_config_release(&config);
    hf_unmap(&text);
    buf_release(&file);
    return t;
}
