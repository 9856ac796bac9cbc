/* The tokenizer as its callers see it: names in text, ends of turns, bytes and decoding.
 * What lies between two names is a matter of the family (spm.c, bpe.c, list.c).
 *
 * A vocabulary has three kinds of tokens that stand apart. Control tokens are never made
 * from text. User-defined tokens are: the model was trained with them cut out of the text
 * before anything was merged (runs of spaces, <think>), and so the text cannot be written
 * without them. Many files mark as user-defined what is control by every other sign;
 * tok_index() goes by the signs, since text must not end a turn or open one. */
#include "config.h"

#include "tokenizer/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TOK_DEEPSEEK_END \
    "<\xEF\xBD\x9C" \
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"

/* Names that end a turn. EOS and EOT of the file end it too; these are for files that do
 * not name them, and for models that have several. Where user is false, the name is also
 * that of an ordinary tag (</s> ends struck-out text in HTML), so only a control token
 * counts. */
static const struct tok_end_name {
    const char *name;
    bool user;
} tok_end_names[] = {
    { "<|im_end|>", true },      /* ChatML: Qwen and many others */
    { "<|eot_id|>", true },      /* Llama 3 */
    { "<|eom_id|>", true },      /* Llama 3, before a tool's answer */
    { "<|eot|>", true },         /* Llama 4 */
    { "<|end|>", true },         /* Phi */
    { "<|return|>", true },      /* gpt-oss */
    { "<|call|>", true },        /* gpt-oss, before a tool's answer */
    { "<|endoftext|>", true },   /* GPT-2 and its heirs */
    { "<|end_of_text|>", true }, /* Llama 3, Granite */
    { "<|end_of_turn|>", true },
    { "<|END_OF_TURN_TOKEN|>", true }, /* Command R */
    { "<|role_end|>", true },          /* Ling */
    { "[|endofturn|]", true },         /* EXAONE */
    { "<end_of_turn>", true },         /* Gemma */
    { "<end_of_utterance>", true },    /* SmolVLM */
    { TOK_DEEPSEEK_END, true },        /* DeepSeek */
    { "</s>", false },                 /* Llama 2, Mistral */
    { "<eos>", false },
    { "<EOT>", false },
    { "[EOS]", false },
    { "[EOT]", false },
};

void tok_ids_add(struct tok_ids *ids, int32_t id)
{
    MEM_GROW(ids->v, ids->cap, ids->n + 1);
    ids->v[ids->n++] = id;
}

void tok_ids_release(struct tok_ids *ids)
{
    free(ids->v);
    *ids = (struct tok_ids){0};
}

static bool tok_named(const struct tok_entry *v, const char *name)
{
    return v->name_len == strlen(name) && memcmp(v->name, name, v->name_len) == 0;
}

static const struct tok_end_name *tok_end_name(const struct tok_entry *v)
{
    for (size_t i = 0; i < sizeof tok_end_names / sizeof *tok_end_names; i++)
        if (tok_named(v, tok_end_names[i].name))
            return &tok_end_names[i];
    return NULL;
}

/* <|name|>, also with the wide bars that DeepSeek has. */
static bool tok_looks_like_control(const struct tok_entry *v)
{
    static const char wide[] = "\xEF\xBD\x9C"; /* ｜ */
    const char *p = v->name;
    size_t n = v->name_len;

    if (n < 5 || p[0] != '<' || p[n - 1] != '>')
        return false;
    return (p[1] == '|' && p[n - 2] == '|') ||
           (n > 8 && memcmp(p + 1, wide, 3) == 0 && memcmp(p + n - 4, wide, 3) == 0);
}

bool tok_is_markup(const struct tok_entry *v)
{
    size_t n = v->name_len;

    return n > 2 && ((v->name[0] == '<' && v->name[n - 1] == '>') ||
                     (v->name[0] == '[' && v->name[n - 1] == ']'));
}

static unsigned tok_modes(const struct tok_entry *v, bool end)
{
    unsigned modes = TOK_IN_SPECIAL;

    if (v->type == TOK_USER && !end && !v->ends)
        modes |= TOK_IN_PLAIN | (tok_is_markup(v) ? 0 : TOK_IN_FOREIGN);
    return modes;
}

/* A name that is looked for in normalised text is normalised itself. */
static void tok_index_late(struct tok *t, const struct tok_entry *v, int32_t id,
                           unsigned modes)
{
    struct buf b = {0};

    if (t->prefix == TOK_PREFIX_ALWAYS)
        buf_addc(&b, ' ');
    if (!tok_normalize(t, v->name, v->name_len, &b))
        buf_add(&b, v->name, v->name_len);
    if (t->norm_spaces)
        buf_truncate(&b, spm_unescape(b.p, b.p, b.n));
    size_t n = b.n;
    MEM_GROW(t->late_names, t->cap_late, t->n_late + 1);
    t->late_names[t->n_late++] = buf_take(&b);
    tok_names_add(&t->late, t->late_names[t->n_late - 1], n, id, modes);
}

static const struct tok_entry *tok_entry(const struct tok *t, int32_t id)
{
    static const struct tok_entry none = { .name = "", .bytes = "", .type = TOK_NORMAL };

    return id >= 0 && (size_t)id < t->n ? &t->v[id] : &none;
}

void tok_index(struct tok *t)
{
    if (t->eos >= 0)
        t->v[t->eos].ends = true;
    for (size_t i = 0; i < t->n; i++) {
        struct tok_entry *v = &t->v[i];
        if (v->type != TOK_CONTROL && v->type != TOK_USER && v->type != TOK_UNKNOWN)
            continue;
        const struct tok_end_name *end = tok_end_name(v);
        if (end && (v->type == TOK_CONTROL || (v->type == TOK_USER && end->user)))
            v->ends = true;
        unsigned modes = tok_modes(v, end != NULL);
        t->takes |= tok_takes_space(t, (int32_t)i);
        tok_names_add(&t->specials, v->name, v->name_len, (int32_t)i, modes);
        if (v->found & TOK_FOUND_LATE)
            tok_index_late(t, v, (int32_t)i, modes);
        else
            tok_names_add(&t->found, v->name, v->name_len, (int32_t)i, modes);
    }
    tok_names_sort(&t->specials);
    tok_names_sort(&t->found);
    tok_names_sort(&t->late);

    /* gpt-oss closes a channel with <|end|>; its turn goes on. */
    int32_t end = tok_special(t, "<|end|>");
    if (end >= 0 && end != t->eos && tok_special(t, "<|return|>") >= 0 &&
        tok_special(t, "<|call|>") >= 0)
        t->v[end].ends = false;
}

bool tok_is_control_like(const struct tok_entry *v)
{
    return v->type == TOK_USER && tok_looks_like_control(v);
}

struct tok *tok_new(void)
{
    struct tok *t = xcalloc(1, sizeof *t);

    t->bos = t->eos = t->unk = -1;
    return t;
}

void tok_free(struct tok *t)
{
    if (!t)
        return;
    presplit_free(t->presplit);
    tok_pairs_release(&t->pairs);
    tok_names_release(&t->list);
    tok_map_release(&t->map);
    tok_names_release(&t->late);
    tok_names_release(&t->found);
    tok_names_release(&t->specials);
    for (size_t i = 0; i < t->n_late; i++)
        free(t->late_names[i]);
    free(t->late_names);
    for (size_t i = 0; i < t->n_norm; i++) {
        free(t->norm[i].from);
        free(t->norm[i].to);
    }
    free(t->norm);
    free(t->whole);
    free(t->names);
    free(t->arena);
    free(t->origin);
    free(t->v);
    free(t);
}

size_t tok_count(const struct tok *t)
{
    return t->n;
}

const char *tok_kind(const struct tok *t)
{
    return t->kind;
}

const char *tok_origin(const struct tok *t)
{
    return t->origin ? t->origin : "";
}

int32_t tok_special(const struct tok *t, const char *name)
{
    return tok_names_find(&t->specials, name, strlen(name));
}

bool tok_is_special(const struct tok *t, int32_t id)
{
    uint8_t type = tok_entry(t, id)->type;

    return type == TOK_CONTROL || type == TOK_USER;
}

unsigned tok_takes_space(const struct tok *t, int32_t id)
{
    unsigned found = tok_entry(t, id)->found;

    return (found & TOK_FOUND_LEFT ? TOK_BEFORE : 0u) |
           (found & TOK_FOUND_RIGHT ? TOK_BEHIND : 0u);
}

bool tok_has_takers(const struct tok *t, enum tok_side side)
{
    return (t->takes & side) != 0;
}

const char *tok_name(const struct tok *t, int32_t id, size_t *len)
{
    *len = tok_entry(t, id)->name_len;
    return tok_entry(t, id)->name;
}

const char *tok_bytes(const struct tok *t, int32_t id, size_t *len)
{
    *len = tok_entry(t, id)->bytes_len;
    return tok_entry(t, id)->bytes;
}

int32_t tok_bos(const struct tok *t)
{
    return t->bos;
}

int32_t tok_eos(const struct tok *t)
{
    return t->eos;
}

bool tok_adds_bos(const struct tok *t)
{
    return t->adds_bos;
}

bool tok_is_end(const struct tok *t, int32_t id)
{
    return tok_entry(t, id)->ends;
}

void tok_decode(const struct tok *t, const int32_t *ids, size_t n, enum tok_place place,
                enum tok_specials specials, struct buf *out)
{
    /* The space of the place stands before the first token that is text, if it opens the
     * text or follows control tokens only. */
    bool strip = t->prefix != TOK_PREFIX_NONE && place == TOK_AT_START;

    for (size_t i = 0; i < n; i++) {
        const struct tok_entry *v = tok_entry(t, ids[i]);
        if (v->type == TOK_CONTROL || v->type == TOK_UNKNOWN) {
            if (specials == TOK_SPECIALS_SHOW)
                buf_add(out, v->name, v->name_len);
            continue;
        }
        size_t skip = strip && v->type != TOK_USER && v->bytes_len && v->bytes[0] == ' ';
        buf_add(out, v->bytes + skip, v->bytes_len - skip);
        strip = false;
    }
}
