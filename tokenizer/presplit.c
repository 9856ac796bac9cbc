/* Byte-level BPE merges inside pieces that a regular expression of the model cuts first.
 *
 * The expressions stand here as the models' tokenizer.json files have them. PCRE2 takes
 * them but for one thing: its \s has U+180E, which is no White_Space since Unicode 6.3,
 * so \s and \S are spelled out before compiling. Where a family has several expressions,
 * each cuts the pieces that the one before it left; what stands between two matches is a
 * piece too.
 *
 * Compiled expressions are shared by threads; match data are not and live in tok_work. */
#include "config.h"

#include "tokenizer/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

enum { PRESPLIT_STEPS = 4 };

struct presplit_family {
    const char *name;
    const char *step[PRESPLIT_STEPS];   /* NULL: no more */
};

static const struct presplit_family presplit_families[] = {
    { "gpt-2",
      { "'(?:[sdmt]|ll|ve|re)"
        "| ?\\p{L}+"
        "| ?\\p{N}+"
        "| ?[^\\s\\p{L}\\p{N}]+"
        "|\\s+(?!\\S)"
        "|\\s+" } },
    { "llama-bpe",
      { "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
        "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}{1,3}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
        "|\\s*[\\r\\n]+"
        "|\\s+(?!\\S)"
        "|\\s+" } },
    { "qwen2",
      { "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
        "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
        "|\\s*[\\r\\n]+"
        "|\\s+(?!\\S)"
        "|\\s+" } },
};

/* Values of tokenizer.ggml.pre. Several models share a family's expressions and differ in
 * the rest: NFC where the model's tokenizer.json has that normaliser, WHOLE where it says
 * "ignore_merges", BOS where llama.cpp adds one although the file does not say so. */
static const struct presplit_name presplit_names[] = {
    { "llama-bpe", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "llama3", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "llama-v3", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "falcon3", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "falcon-h1", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "pixtral", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "lfm2", "llama-bpe", PRESPLIT_WHOLE | PRESPLIT_BOS },
    { "smaug-bpe", "llama-bpe", 0 },
    { "dbrx", "llama-bpe", 0 },
    { "glm4", "llama-bpe", 0 },
    { "chatglm-bpe", "llama-bpe", 0 },
    { "qwen2", "qwen2", PRESPLIT_NFC },
    { "deepseek-r1-qwen", "qwen2", PRESPLIT_NFC },
    { "stablelm2", "qwen2", PRESPLIT_NFC },
    { "hunyuan", "qwen2", PRESPLIT_NFC },
    { "megrez", "qwen2", 0 },
    { "grok-2", "qwen2", 0 },
    { "solar-open", "qwen2", 0 },
    { "gpt-2", "gpt-2", 0 },
    { "phi-2", "gpt-2", 0 },
    { "olmo", "gpt-2", PRESPLIT_NFC },
    { "mpt", "gpt-2", 0 },
    { "roberta-bpe", "gpt-2", 0 },
    { "jais", "gpt-2", 0 },
    { "exaone4", "gpt-2", 0 },
    { "trillion", "gpt-2", 0 },
    { "granite-docling", "gpt-2", 0 },
};

struct presplit {
    pcre2_code *code[PRESPLIT_STEPS];
    int n;
    pcre2_match_context *context;
};

const struct presplit_name *presplit_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof presplit_names / sizeof *presplit_names; i++)
        if (strlen(presplit_names[i].name) == len &&
            memcmp(presplit_names[i].name, name, len) == 0)
            return &presplit_names[i];
    return NULL;
}

void presplit_list(struct buf *out)
{
    for (size_t i = 0; i < sizeof presplit_names / sizeof *presplit_names; i++)
        buf_addf(out, "%s%s", i ? ", " : "", presplit_names[i].name);
}

/* Spell \s and \S out as Unicode's White_Space. */
static void presplit_spell(struct buf *out, const char *re)
{
    static const char space[] = "\\t-\\r\\x{85}\\p{Z}";
    bool in_class = false;

    for (const char *p = re; *p; p++) {
        if (*p == '\\' && (p[1] == 's' || p[1] == 'S')) {
            p++;
            assert(!in_class || *p == 's');
            buf_addf(out, in_class ? "%s" : *p == 's' ? "[%s]" : "[^%s]", space);
        } else if (*p == '\\') {
            buf_add(out, p++, 2);
        } else {
            if (*p == '[')
                in_class = true;
            else if (*p == ']')
                in_class = false;
            buf_addc(out, *p);
        }
    }
}

struct presplit *presplit_new(const char *family)
{
    const struct presplit_family *f = presplit_families;
    struct presplit *p = xcalloc(1, sizeof *p);
    struct buf re = { 0 };

    while (strcmp(f->name, family) != 0)
        f++;                            /* the table of names has known families only */
    for (; p->n < PRESPLIT_STEPS && f->step[p->n]; p->n++) {
        int code;
        size_t at;
        buf_reset(&re);
        presplit_spell(&re, f->step[p->n]);
        p->code[p->n] = pcre2_compile((PCRE2_SPTR)re.p, re.n, PCRE2_UTF | PCRE2_UCP,
                                      &code, &at, NULL);
        assert(p->code[p->n]);
        pcre2_jit_compile(p->code[p->n], PCRE2_JIT_COMPLETE);   /* or it is interpreted */
    }
    buf_release(&re);
    /* The expressions cannot run away; a long text must not meet a limit. */
    p->context = pcre2_match_context_create(NULL);
    pcre2_set_match_limit(p->context, UINT32_MAX);
    pcre2_set_depth_limit(p->context, UINT32_MAX);
    pcre2_set_heap_limit(p->context, UINT32_MAX);
    return p;
}

void presplit_free(struct presplit *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n; i++)
        pcre2_code_free(p->code[i]);
    pcre2_match_context_free(p->context);
    free(p);
}

void presplit_work_release(struct tok_work *w)
{
    pcre2_match_data_free(w->match);
    w->match = NULL;
}

static void presplit_add(struct tok_work *w, size_t len)
{
    MEM_GROW(w->cut, w->cut_cap, w->cut_n + 1);
    w->cut[w->cut_n++] = len;
}

/* Cut one piece by one expression, appending to w->cut. */
static void presplit_step(const struct presplit *p, int step, const char *text,
                          size_t len, struct tok_work *w)
{
    PCRE2_SPTR s = (PCRE2_SPTR)text;
    size_t at = 0;

    while (at < len) {
        int rc = pcre2_match(p->code[step], s, len, at, PCRE2_NO_UTF_CHECK, w->match,
                             p->context);
        if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
            rc = pcre2_match(p->code[step], s, len, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                             w->match, p->context);
        assert(rc >= 0 || rc == PCRE2_ERROR_NOMATCH);
        const size_t *m = pcre2_get_ovector_pointer(w->match);
        if (rc < 0 || m[1] == m[0])
            break;
        if (m[0] > at)
            presplit_add(w, m[0] - at);
        presplit_add(w, m[1] - m[0]);
        at = m[1];
    }
    if (at < len)
        presplit_add(w, len - at);
}

void presplit_cut(const struct presplit *p, const char *text, size_t len,
                  struct tok_work *w)
{
    if (!w->match)
        w->match = pcre2_match_data_create(1, NULL);
    w->cut_n = 0;
    presplit_add(w, len);
    for (int step = 0; step < p->n; step++) {
        size_t *old = w->cut, n = w->cut_n, cap = w->cut_cap, at = 0;
        w->cut = w->cut2;
        w->cut_cap = w->cut2_cap;
        w->cut2 = old;
        w->cut2_cap = cap;
        w->cut_n = 0;
        for (size_t i = 0; i < n; i++) {
            presplit_step(p, step, text + at, old[i], w);
            at += old[i];
        }
    }
}
