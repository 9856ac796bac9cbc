/* The table of output syntaxes and choosing from it. */
#include "config.h"

#include "templates/syntax.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "templates/internal.h"

/* In the order in which they are tried: what is more particular comes first. */
static const struct tmpl_syntax *const syntaxes[] = {
    &syn_kimi_k3,      &syn_harmony,    &syn_kimi_k2,       &syn_dsml,
    &syn_deepseek,     &syn_minimax_m3, &syn_minimax,       &syn_gemma4,
    &syn_solar,        &syn_apertus,    &syn_cohere,        &syn_command_r,
    &syn_lfm2,         &syn_hunyuan,    &syn_glm,           &syn_seed,
    &syn_mcp,          &syn_nemotron,   &syn_minicpm,       &syn_apriel,
    &syn_gigachat,     &syn_qwen_coder, &syn_functionary32, &syn_functionary31,
    &syn_firefunction, &syn_mistral,    &syn_granite,       &syn_glm4,
    &syn_hermes,       &syn_cogito,     &syn_llama3,        &syn_thought,
    &syn_marco,        &syn_think,      &syn_none,
};
#define COUNT (sizeof syntaxes / sizeof *syntaxes)

size_t tmpl_syntax_count(void)
{
    return COUNT;
}

const struct tmpl_syntax *tmpl_syntax_at(size_t i)
{
    assert(i < COUNT);
    return syntaxes[i];
}

const char *tmpl_syntax_name(const struct tmpl_syntax *s)
{
    return s->name;
}

const char *tmpl_syntax_help(const struct tmpl_syntax *s)
{
    return s->help;
}

const struct tmpl_syntax *tmpl_syntax_of(const struct tmpl *t)
{
    return t->syntax;
}

/* name is one of the words in list, "a|b". */
static bool has_word(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = list; p && n; p = strchr(p, '|')) {
        p += *p == '|';
        if (!strncmp(p, name, n) && (p[n] == '|' || p[n] == '\0'))
            return !strchr(name, '|');
    }
    return false;
}

const struct tmpl_syntax *tmpl_syntax_find(const char *name, struct err *e)
{
    struct buf names = {0};

    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(syntaxes[i]->name, name) || has_word(syntaxes[i]->also, name))
            return syntaxes[i];
    for (size_t i = 0; i < COUNT; i++)
        buf_addf(&names, "%s%s", i ? ", " : "", syntaxes[i]->name);
    err_set_kind(e, ERR_USAGE, "there is no output syntax \"%s\"; choose one of %s", name,
                 names.p);
    buf_release(&names);
    return NULL;
}

/* ---- choosing ---- */

static bool has_all(const char *const *words, const char *source, size_t len)
{
    for (const char *const *w = words; w && *w; w++)
        if (!tmpl_source_has(source, len, *w))
            return false;
    return words;
}

/* The text that decided, or NULL. */
static const char *is_of_source(const struct tmpl_syntax *s, const char *source,
                                size_t len)
{
    for (const char *const *not = s->not_in_source; not && *not; not++)
        if (tmpl_source_has(source, len, *not))
            return NULL;
    if (has_all(s->in_source, source, len))
        return s->in_source[0];
    return has_all(s->or_source, source, len) ? s->or_source[0] : NULL;
}

static bool is_of_vocab(const struct tmpl_syntax *s, const struct tmpl_vocab *vocab)
{
    for (const char *const *name = s->tokens; name && *name; name++)
        if (!vocab->has_special(vocab->arg, *name))
            return false;
    return s->tokens;
}

const struct tmpl_syntax *tmpl_syntax_choose(const char *source, size_t len,
                                             const struct tmpl_vocab *vocab,
                                             struct buf *why)
{
    for (size_t i = 0; source && len && i < COUNT; i++) {
        const char *word = is_of_source(syntaxes[i], source, len);
        if (!word)
            continue;
        if (why)
            buf_addf(why, "the chat template has %s", word);
        return syntaxes[i];
    }
    for (size_t i = 0; vocab && i < COUNT; i++) {
        if (!is_of_vocab(syntaxes[i], vocab))
            continue;
        if (why)
            buf_addf(why, "the vocabulary has %s", syntaxes[i]->tokens[0]);
        return syntaxes[i];
    }
    if (why)
        buf_adds(why, "neither the chat template nor the vocabulary has markers we know");
    return &syn_none;
}

/* ---- where a prompt leaves the model ---- */

static bool ends_with(const char *s, size_t n, const char *word)
{
    size_t len = strlen(word);

    while (len && syn_space(word + len - 1, 1))
        len--;
    return n >= len && !memcmp(s + n - len, word, len);
}

enum tmpl_channel tmpl_syntax_start(const struct tmpl_syntax *s, const char *prompt,
                                    size_t n)
{
    enum tmpl_channel start;

    if (s->start && s->start(prompt, n, &start))
        return start;
    while (n && syn_space(prompt + n - 1, 1))
        n--;
    for (size_t i = 0; i < s->n_marks; i++)
        if (s->marks[i].act == SYN_DO_THINK && ends_with(prompt, n, s->marks[i].text))
            return TMPL_THINK;
    return TMPL_RESPONSE;
}
