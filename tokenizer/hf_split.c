/* The "normalizer" and "pre_tokenizer" of a tokenizer.json. Each is one object or a
 * sequence of them. What is not known is refused by its name: leaving a step out would
 * tokenize wrongly and say nothing. */
#include "config.h"

#include "tokenizer/hf.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { SPLIT_DEPTH = 8 };

struct split {
    struct tok *t;
    const char *path;
    struct err *e;
    bool bytes;   /* there is a ByteLevel: text is merged as bytes */
    bool escapes; /* spaces become U+2581 */
    bool done;    /* ByteLevel came; after it there are no characters */
};

static const char split_space[] = "\xE2\x96\x81";

static const char *split_type(const json_t *o)
{
    const char *type = json_string_value(json_object_get(o, "type"));

    return type ? type : "";
}

static bool split_is(const json_t *v, const char *text)
{
    return json_is_string(v) && json_string_length(v) == strlen(text) &&
           memcmp(json_string_value(v), text, strlen(text)) == 0;
}

static bool split_flag(const json_t *o, const char *key, bool absent)
{
    const json_t *v = json_object_get(o, key);

    return json_is_boolean(v) ? json_is_true(v) : absent;
}

/* ---- normalizers ---- */

static struct tok_norm *split_norm(struct tok *t, enum tok_norm_kind kind)
{
    MEM_GROW(t->norm, t->cap_norm, t->n_norm + 1);
    t->norm[t->n_norm] = (struct tok_norm){ .kind = kind };
    return &t->norm[t->n_norm++];
}

static bool split_replace(struct split *s, const json_t *o)
{
    const json_t *from = json_object_get(json_object_get(o, "pattern"), "String");
    const json_t *to = json_object_get(o, "content");

    if (!json_is_string(from) || !json_is_string(to) || !json_string_length(from))
        return hf_bad(s->e, s->path,
                      "its normalizer Replace has no string to look for; "
                      "expressions are not supported there");
    if (!s->bytes && split_is(from, " ") && split_is(to, split_space)) {
        s->escapes = s->t->norm_spaces = true;
        return true;
    }
    struct tok_norm *n = split_norm(s->t, TOK_NORM_REPLACE);
    n->from_len = json_string_length(from);
    n->to_len = json_string_length(to);
    n->from = xmemdup0(json_string_value(from), n->from_len);
    n->to = xmemdup0(json_string_value(to), n->to_len);
    return true;
}

static bool split_normalizer(struct split *s, const json_t *o, int depth)
{
    static const struct {
        const char *type;
        enum tok_norm_kind kind;
    } forms[] = {
        { "NFC", TOK_NORM_NFC },
        { "NFD", TOK_NORM_NFD },
        { "NFKC", TOK_NORM_NFKC },
        { "NFKD", TOK_NORM_NFKD },
    };
    const char *type = split_type(o);
    size_t i;
    const json_t *one;

    if (!o || json_is_null(o))
        return true;
    if (strcmp(type, "Sequence") == 0 && depth < SPLIT_DEPTH) {
        json_array_foreach(json_object_get(o, "normalizers"), i, one)
            if (!split_normalizer(s, one, depth + 1))
                return false;
        return true;
    }
    for (i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(type, forms[i].type) == 0)
            return split_norm(s->t, forms[i].kind) != NULL;
    if (strcmp(type, "Replace") == 0)
        return split_replace(s, o);
    if (strcmp(type, "ByteLevel") == 0)
        return true; /* seen by split_has_bytes() */
    if (strcmp(type, "Prepend") == 0 && !s->bytes &&
        split_is(json_object_get(o, "prepend"), split_space)) {
        s->t->prefix = TOK_PREFIX_ALWAYS;
        return true;
    }
    return hf_bad(s->e, s->path, "its normalizer \"%s\" is not supported", type);
}

/* ---- pre-tokenizers ---- */

/* For characters that mean something in an expression. */
static void split_quote(struct buf *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] && strchr("\\^$.[]|()?*+{}-&#", p[i]))
            buf_addc(out, '\\');
        buf_addc(out, p[i]);
    }
}

static bool split_behavior(struct split *s, const json_t *o, const char *absent,
                           enum presplit_behavior *out)
{
    static const struct {
        const char *name;
        enum presplit_behavior behavior;
    } known[] = {
        { "Isolated", PRESPLIT_ISOLATED },
        { "Removed", PRESPLIT_REMOVED },
        { "Contiguous", PRESPLIT_CONTIGUOUS },
        { "MergedWithPrevious", PRESPLIT_WITH_PREVIOUS },
        { "MergedWithNext", PRESPLIT_WITH_NEXT },
    };
    const char *name = json_string_value(json_object_get(o, "behavior"));

    name = name ? name : absent;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].behavior;
            return true;
        }
    }
    return hf_bad(s->e, s->path,
                  "its pre-tokenizer has a behavior \"%s\", which is not "
                  "supported",
                  name);
}

static bool split_step(struct split *s, const char *re, size_t len,
                       enum presplit_behavior behavior, bool invert)
{
    if (!s->bytes)
        return hf_bad(s->e, s->path,
                      "it cuts characters by an expression before it "
                      "merges them, which is supported for bytes only");
    if (!s->t->presplit)
        s->t->presplit = presplit_new(PRESPLIT_FOREIGN);
    if (presplit_add(s->t->presplit, re, len, behavior, invert, s->e))
        return true;
    return err_wrap(s->e, "cannot load the tokenizer of %s", s->path);
}

static bool split_fixed(struct split *s, const char *re, enum presplit_behavior behavior,
                        bool invert)
{
    return split_step(s, re, strlen(re), behavior, invert);
}

static bool split_split(struct split *s, const json_t *o)
{
    const json_t *pattern = json_object_get(o, "pattern");
    const json_t *regex = json_object_get(pattern, "Regex");
    const json_t *text = json_object_get(pattern, "String");
    enum presplit_behavior behavior;
    struct buf re = {0};

    if (!split_behavior(s, o, "", &behavior))
        return false;
    if (!s->bytes && split_is(text, " ") && s->escapes)
        return true; /* there are no spaces any more */
    if (json_is_string(regex))
        buf_add(&re, json_string_value(regex), json_string_length(regex));
    else if (json_is_string(text))
        split_quote(&re, json_string_value(text), json_string_length(text));
    bool ok = re.n ? split_step(s, re.p, re.n, behavior, split_flag(o, "invert", false))
                   : hf_bad(s->e, s->path, "its pre-tokenizer Split has no pattern");
    buf_release(&re);
    return ok;
}

static bool split_byte_level(struct split *s, const json_t *o)
{
    const char *gpt2 = presplit_family("gpt-2")->step[0];

    if (split_flag(o, "add_prefix_space", true)) {
        if (s->t->presplit)
            return hf_bad(s->e, s->path,
                          "its ByteLevel puts a space before every piece, "
                          "which is not supported");
        s->t->prefix = TOK_PREFIX_UNLESS;
    }
    if (split_flag(o, "use_regex", true) &&
        !split_fixed(s, gpt2, PRESPLIT_ISOLATED, false))
        return false;
    s->done = true;
    return true;
}

static bool split_metaspace(struct split *s, const json_t *o)
{
    const json_t *scheme = json_object_get(o, "prepend_scheme");
    const json_t *as = json_object_get(o, "replacement");

    if (s->bytes || (as && !split_is(as, split_space)))
        return hf_bad(s->e, s->path, "its Metaspace is of a kind that is not supported");
    s->escapes = true;
    if (split_is(scheme, "first"))
        s->t->prefix = TOK_PREFIX_FIRST;
    else if (split_is(scheme, "never"))
        s->t->prefix = TOK_PREFIX_NONE;
    else if (split_is(scheme, "always") || split_flag(o, "add_prefix_space", true))
        s->t->prefix = TOK_PREFIX_UNLESS;
    s->t->splits_spaces = split_flag(o, "split", true);
    return true;
}

static bool split_simple(struct split *s, const json_t *o, const char *type)
{
    enum presplit_behavior behavior;

    if (strcmp(type, "Digits") == 0)
        return split_fixed(s, "\\p{N}",
                           split_flag(o, "individual_digits", false)
                               ? PRESPLIT_ISOLATED
                               : PRESPLIT_CONTIGUOUS,
                           false);
    if (strcmp(type, "Punctuation") == 0)
        return split_behavior(s, o, "Isolated", &behavior) &&
               split_fixed(s, "[\\p{P}!-/:-@\\[-`{-~]", behavior, false);
    if (strcmp(type, "WhitespaceSplit") == 0)
        return split_fixed(s, "\\s+", PRESPLIT_REMOVED, false);
    if (strcmp(type, "Whitespace") == 0)
        return split_fixed(s, "\\w+|[^\\w\\s]+", PRESPLIT_REMOVED, true);
    return hf_bad(s->e, s->path, "its pre-tokenizer \"%s\" is not supported", type);
}

static bool split_pre_tokenizer(struct split *s, const json_t *o, int depth)
{
    const char *type = split_type(o);
    size_t i;
    const json_t *one;

    if (!o || json_is_null(o))
        return true;
    if (strcmp(type, "Sequence") == 0 && depth < SPLIT_DEPTH) {
        json_array_foreach(json_object_get(o, "pretokenizers"), i, one)
            if (!split_pre_tokenizer(s, one, depth + 1))
                return false;
        return true;
    }
    if (s->done)
        return hf_bad(s->e, s->path,
                      "its pre-tokenizer \"%s\" comes behind ByteLevel, "
                      "which is not supported",
                      type);
    if (strcmp(type, "Split") == 0)
        return split_split(s, o);
    if (strcmp(type, "ByteLevel") == 0)
        return split_byte_level(s, o);
    if (strcmp(type, "Metaspace") == 0)
        return split_metaspace(s, o);
    return split_simple(s, o, type);
}

/* Is there a ByteLevel anywhere? It says how the vocabulary is written. */
static bool split_has_bytes(const json_t *o, const char *list, int depth)
{
    size_t i;
    const json_t *one;

    if (strcmp(split_type(o), "ByteLevel") == 0)
        return true;
    if (depth < SPLIT_DEPTH)
        json_array_foreach(json_object_get(o, list), i, one)
            if (split_has_bytes(one, list, depth + 1))
                return true;
    return false;
}

bool hf_split_load(struct tok *t, const json_t *doc, const char *path, struct err *e)
{
    const json_t *norm = json_object_get(doc, "normalizer");
    const json_t *pre = json_object_get(doc, "pre_tokenizer");
    struct split s = { .t = t, .path = path, .e = e };

    s.bytes = split_has_bytes(norm, "normalizers", 0) ||
              split_has_bytes(pre, "pretokenizers", 0);
    if (!s.bytes)
        t->presplit_flags |= PRESPLIT_CHARS;
    if (!split_normalizer(&s, norm, 0) || !split_pre_tokenizer(&s, pre, 0))
        return false;
    if (!s.bytes && !s.escapes)
        return hf_bad(e, path,
                      "it merges characters and keeps spaces as they are, which is "
                      "not supported");
    return true;
}
