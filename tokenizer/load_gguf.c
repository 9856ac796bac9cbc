/* The vocabulary in a GGUF file: the keys tokenizer.ggml.*, described in ggml's
 * docs/gguf.md. Names are borrowed from the mapping. What a file says about itself is
 * believed only where no text could be tokenized wrongly because of it: a vocabulary
 * without a known pre-split is refused, not guessed. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

bool tok_bad(struct err *e, const struct gguf *g, const char *key, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    err_set_kind(e, ERR_MODEL, "cannot load the tokenizer of %s: %s %s", gguf_path(g),
                 key, b.p);
    buf_release(&b);
    return false;
}

static const char *tok_type_name(enum gguf_type type)
{
    return type == GGUF_STRING ? "strings"
           : type == GGUF_F32  ? "32-bit floats"
                               : "32-bit integers";
}

const struct gguf_kv *tok_array(const struct gguf *g, const char *key,
                                enum gguf_type type, uint64_t n, struct err *e)
{
    const struct gguf_kv *kv = gguf_find(g, key);

    if (!kv) {
        tok_bad(e, g, key, "is missing");
        return NULL;
    }
    bool same = kv->type == type || (type == GGUF_I32 && kv->type == GGUF_U32);
    if (!kv->array || !same) {
        tok_bad(e, g, key, "is not a list of %s", tok_type_name(type));
        return NULL;
    }
    if (n != UINT64_MAX && kv->n != n) {
        tok_bad(e, g, key, "has %llu entries for %llu tokens", (unsigned long long)kv->n,
                (unsigned long long)n);
        return NULL;
    }
    return kv;
}

static bool load_names(struct tok *t, const struct gguf *g, struct err *e)
{
    const char *key = "tokenizer.ggml.tokens";
    const struct gguf_kv *kv = tok_array(g, key, GGUF_STRING, UINT64_MAX, e);
    size_t at = 0;

    if (!kv)
        return false;
    if (kv->n == 0 || kv->n > INT32_MAX / 4)
        return tok_bad(e, g, key, "has %llu tokens", (unsigned long long)kv->n);
    t->n = kv->n;
    t->v = xcalloc(t->n, sizeof *t->v);
    for (size_t i = 0; i < t->n; i++) {
        struct gguf_str s = gguf_next_str(kv, &at);
        if (s.n > INT32_MAX / 4)
            return tok_bad(e, g, key, "has a token %zu of %zu bytes", i, s.n);
        t->v[i] = (struct tok_entry){
            .name = s.p, .name_len = (uint32_t)s.n, .bytes = "", .type = TOK_NORMAL
        };
    }
    return true;
}

/* Files without token types are old; the names that every such file has say enough. */
static void load_guess_types(struct tok *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        if (v->type == TOK_NORMAL && v->name_len == 6 && memcmp(v->name, "<0x", 3) == 0 &&
            v->name[5] == '>')
            v->type = TOK_BYTE;
    }
}

static bool load_types(struct tok *t, const struct gguf *g, bool spm, struct err *e)
{
    const char *key = "tokenizer.ggml.token_type";

    if (!gguf_find(g, key)) {
        if (spm)
            load_guess_types(t);
        return true;
    }
    const struct gguf_kv *kv = tok_array(g, key, GGUF_I32, t->n, e);
    if (!kv)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t type = gguf_u32_at(kv, i);
        if (type > TOK_BYTE)
            return tok_bad(e, g, key, "has an unknown type %d for token %zu",
                           (int32_t)type, i);
        t->v[i].type = (uint8_t)(type == 0 ? TOK_NORMAL : type);
        if (tok_is_control_like(&t->v[i]))
            t->v[i].type = TOK_CONTROL;
        if ((t->v[i].type == TOK_USER || t->v[i].type == TOK_CONTROL) &&
            t->v[i].name_len > TOK_NAME_MAX)
            return tok_bad(e, g, key,
                           "marks token %zu of %u bytes as special; such a name "
                           "has at most %d",
                           i, t->v[i].name_len, TOK_NAME_MAX);
    }
    return true;
}

/* A token that the file names by id. What has such a part to play is a control token,
 * also when the file does not say so: it is not made from text and not shown as text. */
static bool load_id(struct tok *t, const struct gguf *g, const char *key,
                    enum tok_type type, int32_t *id, struct err *e)
{
    uint32_t n = UINT32_MAX;

    *id = -1;
    if (!gguf_opt_u32(g, key, &n, e))
        return false;
    if (n >= t->n)
        return true; /* 2^32 - 1 and the like mean "none" */
    *id = (int32_t)n;
    if (t->v[n].type == TOK_NORMAL)
        t->v[n].type = (uint8_t)type;
    return true;
}

/* The ids that SentencePiece gives when nobody asks for others. */
static int32_t load_default_id(struct tok *t, int32_t id, const char *name,
                               enum tok_type type)
{
    if ((size_t)id >= t->n || t->v[id].name_len != strlen(name) ||
        memcmp(t->v[id].name, name, strlen(name)) != 0)
        return -1;
    if (t->v[id].type == TOK_NORMAL)
        t->v[id].type = (uint8_t)type;
    return id;
}

static bool load_ids(struct tok *t, const struct gguf *g, bool spm, struct err *e)
{
    int32_t eot, eom;

    if (!load_id(t, g, "tokenizer.ggml.bos_token_id", TOK_CONTROL, &t->bos, e) ||
        !load_id(t, g, "tokenizer.ggml.eos_token_id", TOK_CONTROL, &t->eos, e) ||
        !load_id(t, g, "tokenizer.ggml.unknown_token_id", TOK_UNKNOWN, &t->unk, e) ||
        !load_id(t, g, "tokenizer.ggml.eot_token_id", TOK_CONTROL, &eot, e) ||
        !load_id(t, g, "tokenizer.ggml.eom_token_id", TOK_CONTROL, &eom, e))
        return false;
    if (eot >= 0)
        t->v[eot].ends = true;
    if (eom >= 0)
        t->v[eom].ends = true;
    if (!spm)
        return true;
    if (!gguf_find(g, "tokenizer.ggml.unknown_token_id"))
        t->unk = load_default_id(t, 0, "<unk>", TOK_UNKNOWN);
    if (!gguf_find(g, "tokenizer.ggml.bos_token_id"))
        t->bos = load_default_id(t, 1, "<s>", TOK_CONTROL);
    if (!gguf_find(g, "tokenizer.ggml.eos_token_id"))
        t->eos = load_default_id(t, 2, "</s>", TOK_CONTROL);
    return true;
}

/* The mask of BERT's heirs takes the white space before it along; see load_phi3(). */
static void load_mask(struct tok *t, const char *pre)
{
    static const struct {
        const char *pre, *name;
    } masks[] = {
        { "roberta-bpe", "<mask>" },  { "jina-v2-de", "<mask>" }, { "jina-v2-es", "<mask>" },
        { "jina-v2-code", "<mask>" }, { "modern-bert", "[MASK]" },
    };

    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
        for (size_t i = 0; i < t->n && strcmp(masks[k].pre, pre) == 0; i++)
            if (t->v[i].name_len == strlen(masks[k].name) &&
                memcmp(t->v[i].name, masks[k].name, t->v[i].name_len) == 0)
                t->v[i].found |= TOK_FOUND_LEFT;
}

static bool load_presplit(struct tok *t, const struct gguf *g, const char *pre,
                          struct err *e)
{
    const char *key = pre ? "--pre" : "tokenizer.ggml.pre";
    const struct presplit_name *name = NULL;
    struct gguf_str s = { "", 0 };
    struct buf list = {0};

    if (pre)
        s = (struct gguf_str){ pre, strlen(pre) };
    else if (!gguf_opt_str(g, key, &s, e))
        return false;
    if (pre || gguf_find(g, key))
        name = presplit_find(s.p, s.n);
    if (!name) {
        presplit_list(&list);
        if (pre || gguf_find(g, key))
            tok_bad(e, g, key,
                    "is \"%.*s\", a pre-tokenizer that is not known here; known are "
                    "%s",
                    (int)(s.n < 40 ? s.n : 40), s.p, list.p);
        else
            tok_bad(e, g, key,
                    "is missing, and guessing it would tokenize wrongly; name it with "
                    "--pre NAME, or convert the model again (names: %s)",
                    list.p);
        buf_release(&list);
        return false;
    }
    tok_set_presplit(t, name);
    load_mask(t, name->name);
    t->adds_bos = (name->flags & PRESPLIT_BOS) != 0;
    return true;
}

void tok_set_presplit(struct tok *t, const struct presplit_name *name)
{
    t->presplit_flags = name->flags;
    t->presplit = presplit_family_new(name->family);
    if (name->flags & PRESPLIT_NFC) {
        MEM_GROW(t->norm, t->cap_norm, t->n_norm + 1);
        t->norm[t->n_norm++] = (struct tok_norm){ .kind = TOK_NORM_NFC };
    }
    snprintf(t->kind, sizeof t->kind, "BPE %s", name->name);
}

bool tok_spm_tokens(struct tok *t, const struct gguf *g, struct err *e)
{
    size_t bad = 0;

    if (spm_load_tokens(t, &bad))
        return true;
    const struct tok_entry *v = &t->v[bad];
    return tok_bad(e, g, "tokenizer.ggml.tokens",
                   "names token %zu \"%.*s\", which its type says is a byte; a byte is "
                   "named like <0x0A>",
                   bad, (int)(v->name_len < 40 ? v->name_len : 40), v->name);
}

static bool load_merges(struct tok *t, const struct gguf *g, struct err *e)
{
    const char *key = "tokenizer.ggml.merges";
    struct tok_merges m;
    size_t at = 0;
    bool ok = true;

    if ((t->presplit_flags & PRESPLIT_RANKS) && !gguf_find(g, key))
        return true;
    const struct gguf_kv *kv = tok_array(g, key, GGUF_STRING, UINT64_MAX, e);
    if (!kv)
        return false;
    if (kv->n > TOK_COUNT_MAX)
        return tok_bad(e, g, key, "has %llu entries", (unsigned long long)kv->n);
    tok_merges_start(&m, t, kv->n);
    for (uint64_t i = 0; i < kv->n && ok; i++) {
        struct gguf_str s = gguf_next_str(kv, &at);
        ok = tok_merges_add_line(&m, s.p, s.n) ||
             tok_bad(e, g, key,
                     "has an entry %llu that is not two tokens with a space between: "
                     "\"%.*s\"",
                     (unsigned long long)i, (int)(s.n < 40 ? s.n : 40), s.p);
    }
    tok_merges_end(&m);
    if (ok && m.useless && log_on())
        log_line("tokenizer", "%zu merges of parts that are no tokens", m.useless);
    return ok;
}

static bool load_bpe(struct tok *t, const struct gguf *g, struct err *e)
{
    if (!(t->presplit_flags & PRESPLIT_CHARS)) {
        bpe_init(t);
    } else {
        load_guess_types(t);
        t->aliases_spaces = true;
        if (!tok_spm_tokens(t, g, e))
            return false;
        chars_init(t);
    }
    return load_merges(t, g, e);
}

/* What tokenizer.json says of white space beside a token has no place in GGUF; the model's
 * name must tell. Phi-3's tokens take that behind them along. */
static void load_phi3(struct tok *t, const struct gguf *g)
{
    struct gguf_str s;

    if (!gguf_opt_str(g, "general.name", &s, NULL) || !gguf_find(g, "general.name"))
        return;
    if (!memmem(s.p, s.n, "Phi3", 4) && !memmem(s.p, s.n, "Phi-3", 5) &&
        !memmem(s.p, s.n, "phi3", 4) && !memmem(s.p, s.n, "phi-3", 5))
        return;
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        bool end = v->name_len == 4 && memcmp(v->name, "</s>", 4) == 0;
        bool plain =
            (int32_t)i == t->bos || (int32_t)i == t->eos || (int32_t)i == t->unk;
        if (end || (v->type == TOK_CONTROL && !plain))
            v->found |= TOK_FOUND_RIGHT;
    }
}

static bool load_spm(struct tok *t, const struct gguf *g, struct err *e)
{
    bool prefix = true;

    snprintf(t->kind, sizeof t->kind, "SPM");
    t->adds_bos = true;
    if (!gguf_opt_bool(g, "tokenizer.ggml.add_space_prefix", &prefix, e))
        return false;
    t->prefix = prefix ? TOK_PREFIX_ALWAYS : TOK_PREFIX_NONE;
    load_phi3(t, g);
    return true;
}

/* Other kinds of tokenizers that GGUF files name. */
static bool load_refuse(const struct gguf *g, struct gguf_str s, struct err *e)
{
    static const struct {
        const char *model, *what;
    } known[] = {
        { "bert", "WordPiece" },       { "t5", "Unigram" },
        { "rwkv", "RWKV's trie" },     { "plamo2", "PLaMo 2's table" },
        { "no_vocab", "none at all" }, { "none", "none at all" },
    };
    const char *what = "not known here";

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].model) == s.n && memcmp(known[i].model, s.p, s.n) == 0)
            what = known[i].what;
    return tok_bad(e, g, "tokenizer.ggml.model",
                   "is \"%.*s\" (%s); known are \"llama\" (SentencePiece) and \"gpt2\" "
                   "(byte-level BPE)",
                   (int)(s.n < 40 ? s.n : 40), s.p, what);
}

static bool load_family(struct tok *t, const struct gguf *g, const char *pre,
                        struct err *e)
{
    struct gguf_str s;

    if (!gguf_get_str(g, "tokenizer.ggml.model", &s, e))
        return false;
    bool spm = s.n == 5 && memcmp(s.p, "llama", 5) == 0;
    bool gemma4 = s.n == 6 && memcmp(s.p, "gemma4", 6) == 0;
    if (!spm && !gemma4 && !(s.n == 4 && memcmp(s.p, "gpt2", 4) == 0))
        return load_refuse(g, s, e);
    if (spm && pre)
        return tok_bad(e, g, "--pre", "means nothing for a SentencePiece vocabulary");
    if (!load_names(t, g, e) || !load_types(t, g, spm, e) || !load_ids(t, g, spm, e))
        return false;
    if (spm ? !load_spm(t, g, e)
            : !load_presplit(t, g, gemma4 && !pre ? "gemma4" : pre, e))
        return false;
    if (!gguf_opt_bool(g, "tokenizer.ggml.add_bos_token", &t->adds_bos, e))
        return false;
    t->adds_bos = t->adds_bos && t->bos >= 0;
    return spm ? spm_init(t, g, e) : load_bpe(t, g, e);
}

struct tok *tok_from_gguf_pre(const struct gguf *g, const char *pre, struct err *e)
{
    struct tok *t = tok_new();
    struct buf origin = {0};

    buf_addf(&origin, "tokenizer.ggml.* of %s", gguf_path(g));
    t->origin = buf_take(&origin);
    if (!load_family(t, g, pre, e)) {
        tok_free(t);
        return NULL;
    }
    tok_index(t);
    return t;
}

struct tok *tok_from_gguf(const struct gguf *g, struct err *e)
{
    return tok_from_gguf_pre(g, NULL, e);
}
