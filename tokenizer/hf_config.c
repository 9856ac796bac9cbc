/* tokenizer_config.json and generation_config.json: which tokens begin and end a text.
 * Both are optional, and so is all that is in them; what has a wrong type is not there.
 */
#include "config.h"

#include "tokenizer/hf.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const size_t config_max = (size_t)64 << 20;

static bool config_read(const char *path, const char *name, json_t **out, struct err *e)
{
    struct buf file = {0};
    struct hf_file text = {0};
    json_error_t je;
    bool ok = true;

    hf_beside(&file, path, name);
    if (hf_exists(file.p)) {
        ok = hf_map(file.p, config_max, &text, e);
        *out = ok ? json_loadb(text.p, text.n, JSON_ALLOW_NUL, &je) : NULL;
        if (ok && !json_is_object(*out)) {
            ok = hf_bad(e, file.p, "it is not a JSON object%s%s", *out ? "" : ": ",
                        *out ? "" : je.text);
            json_decref(*out);
            *out = NULL;
        }
    }
    buf_release(&file);
    hf_unmap(&text);
    return ok;
}

bool hf_config_load(struct hf_config *c, const char *path, struct err *e)
{
    *c = (struct hf_config){0};
    if (config_read(path, "tokenizer_config.json", &c->tokenizer, e) &&
        config_read(path, "generation_config.json", &c->generation, e))
        return true;
    hf_config_release(c);
    return false;
}

void hf_config_release(struct hf_config *c)
{
    json_decref(c->tokenizer);
    json_decref(c->generation);
    *c = (struct hf_config){0};
}

bool hf_added_read(const json_t *o, int64_t id, struct hf_added *a)
{
    static const struct {
        const char *key;
        unsigned flag;
    } flags[] = {
        { "single_word", TOK_FOUND_WORD },
        { "lstrip", TOK_FOUND_LEFT },
        { "rstrip", TOK_FOUND_RIGHT },
        { "normalized", TOK_FOUND_LATE },
    };
    const json_t *content = json_object_get(o, "content");

    if (!json_is_string(content) || !json_string_length(content))
        return false;
    *a = (struct hf_added){ .id = id,
                            .content = json_string_value(content),
                            .n = json_string_length(content),
                            .special = json_is_true(json_object_get(o, "special")) };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (json_is_true(json_object_get(o, flags[i].key)))
            a->found |= flags[i].flag;
    return true;
}

/* The id of a token that the configuration names, as "</s>" or { "content": "</s>" }. */
static int32_t config_id(const struct hf_config *c, const struct tok *t, const char *key)
{
    const json_t *v = json_object_get(c->tokenizer, key);

    if (json_is_object(v))
        v = json_object_get(v, "content");
    return json_is_string(v)
               ? tok_names_find(&t->specials, json_string_value(v), json_string_length(v))
               : -1;
}

static void config_end(struct tok *t, const json_t *v)
{
    if (json_is_integer(v) && json_integer_value(v) >= 0 &&
        (uint64_t)json_integer_value(v) < t->n)
        t->v[json_integer_value(v)].ends = true;
}

void hf_config_apply(const struct hf_config *c, struct tok *t)
{
    const json_t *adds = json_object_get(c->tokenizer, "add_bos_token");
    const json_t *ends = json_object_get(c->generation, "eos_token_id"), *one;
    int32_t bos = config_id(c, t, "bos_token"), eos = config_id(c, t, "eos_token");
    size_t i;

    if (bos >= 0)
        t->bos = bos;
    if (eos >= 0) {
        t->eos = eos;
        t->v[eos].ends = true;
    }
    if (json_is_boolean(adds))
        t->adds_bos = json_is_true(adds);
    t->adds_bos = t->adds_bos && t->bos >= 0;
    config_end(t, ends);
    json_array_foreach(ends, i, one) config_end(t, one);
}

void hf_origin(struct tok *t, const char *path, const struct hf_config *c)
{
    struct buf b = {0};

    buf_adds(&b, path);
    if (c->tokenizer)
        buf_adds(&b, " and tokenizer_config.json beside it");
    free(t->origin);
    t->origin = buf_take(&b);
}

struct tok *tok_from_files(const char *path, const char *pre, struct err *e)
{
    static const struct {
        const char *name;
        bool ranks;
    } known[] = { { "tokenizer.json", false }, { "tiktoken.model", true } };
    const char *dot = strrchr(path, '.');
    struct buf file = {0};

    if (!hf_is_dir(path)) {
        bool ranks = !dot || strcmp(dot, ".json") != 0;
        if (pre && !ranks) {
            hf_bad(e, path,
                   "--pre means nothing for a tokenizer.json, which says itself "
                   "how text is cut");
            return NULL;
        }
        return ranks ? tok_from_tiktoken(path, pre, e) : tok_from_hf(path, e);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        buf_reset(&file);
        buf_addf(&file, "%s/%s", path, known[i].name);
        if (!hf_exists(file.p))
            continue;
        struct tok *t = tok_from_files(file.p, pre, e);
        buf_release(&file);
        return t;
    }
    buf_reset(&file);
    buf_addf(&file, "%s/tokenizer.model", path);
    if (hf_exists(file.p))
        hf_bad(e, path,
               "it has a tokenizer.model only, a SentencePiece file, which is not "
               "supported; get the model's tokenizer.json too, or convert the "
               "model to GGUF");
    else
        hf_bad(e, path, "it has neither a tokenizer.json nor a tiktoken.model");
    buf_release(&file);
    return NULL;
}
