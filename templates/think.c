/* --think, in the words of a template.
 *
 * Models name the switches for thinking as they like. This table has those that occur in
 * their templates, with what off, on and the levels are in each; a template is asked
 * which of the variables it mentions, and all of these are set. A level must be one of
 * the words that the template knows, so these are looked for in its source. */
#include "config.h"

#include <string.h>

#include "base/err.h"
#include "templates/internal.h"

enum think_how { THINK_OFF, THINK_ON, THINK_LOW, THINK_HIGH, THINK_MAX, THINK_HOWS };

static const char *const think_names[THINK_HOWS] = { "off", "on", "low", "high", "max" };

enum think_type { THINK_FLAG, THINK_WORD, THINK_NUMBER };

/* Words are choices, best first, separated by "|"; one with "=" counts even if the source
 * has it not in quotes; "" leaves the variable alone, NULL cannot be said. Of several
 * rows for one variable the first counts whose word "with" is in the source. */
static const struct think_switch {
    const char *name;
    enum think_type type;
    const char *with;
    const char *words[THINK_HOWS];
    long long numbers[THINK_HOWS];
} think_switches[] = {
    { "enable_thinking", THINK_FLAG, NULL, { NULL }, { 0 } },
    { "thinking", THINK_FLAG, NULL, { NULL }, { 0 } },
    { "reasoning", THINK_FLAG, NULL, { NULL }, { 0 } },
    { "thinking_mode", THINK_WORD, NULL,
      { "disabled", "enabled", NULL, NULL, NULL }, { 0 } },
    { "reasoning_effort", THINK_WORD, "no_think",
      { "no_think", "high", "low", "high", "high" }, { 0 } },
    { "reasoning_effort", THINK_WORD, "medium",
      { NULL, "", "=low", "=high", "=high" }, { 0 } },
    { "reasoning_effort", THINK_WORD, NULL,
      { "none|minimal", "", "low", "high", "max|high" }, { 0 } },
    { "thinking_budget", THINK_NUMBER, NULL, { NULL }, { 0, -1, 512, 16384, -1 } },
};
#define THINK_SWITCHES (sizeof think_switches / sizeof *think_switches)

static bool think_knows(const struct tmpl *t, const char *word, size_t n)
{
    size_t len;
    const char *source = tmpl_own_source(t, &len);
    struct buf b = {0};
    bool knows = false;

    for (const char *quote = "'\""; *quote && !knows; quote++) {
        buf_reset(&b);
        buf_addf(&b, "%c%.*s%c", *quote, (int)n, word, *quote);
        knows = tmpl_source_has(source, len, b.p);
    }
    buf_release(&b);
    return knows;
}

/* The switch is one of the template's. */
static bool think_applies(const struct tmpl *t, const struct think_switch *s)
{
    for (const struct think_switch *before = think_switches; before < s; before++)
        if (!strcmp(before->name, s->name) && think_applies(t, before))
            return false;
    return tmpl_own_mentions(t, s->name) &&
           (!s->with || think_knows(t, s->with, strlen(s->with)));
}

static bool think_set_word(const struct tmpl *t, const struct think_switch *s,
                           enum think_how how, json_t *options)
{
    const char *word = s->words[how];

    if (!word || !*word)
        return word;
    for (size_t n; *word; word += n + (word[n] == '|')) {
        bool sure = *word == '=';
        word += sure;
        n = strcspn(word, "|");
        if (!sure && !think_knows(t, word, n))
            continue;
        if (options)
            json_object_set_new(options, s->name, json_stringn(word, n));
        return true;
    }
    return false;
}

/* Set it, unless options is NULL. False: it cannot say that. */
static bool think_set(const struct tmpl *t, const struct think_switch *s,
                      enum think_how how, json_t *options)
{
    switch (s->type) {
    case THINK_FLAG:
        if (options)
            json_object_set_new(options, s->name, json_boolean(how != THINK_OFF));
        return how == THINK_OFF || how == THINK_ON;
    case THINK_WORD:
        return think_set_word(t, s, how, options);
    case THINK_NUMBER:
        if (options)
            json_object_set_new(options, s->name, json_integer(s->numbers[how]));
        return true;
    }
    return false;
}

/* Models of that syntax think. */
static bool think_syntax(const struct tmpl_syntax *s)
{
    for (size_t i = 0; i < s->n_marks; i++)
        if (s->marks[i].act == SYN_DO_THINK)
            return true;
    return s->xtml || s == &syn_harmony;
}

static bool think_own(const struct tmpl *t, enum think_how how, json_t *options)
{
    bool any = false, said = false;

    for (size_t i = 0; i < THINK_SWITCHES; i++) {
        if (!think_applies(t, &think_switches[i]))
            continue;
        any = true;
        if (think_set(t, &think_switches[i], how, options))
            said = true;
    }
    /* Without a switch a model that thinks always does. */
    return any ? said : how == THINK_ON && think_syntax(t->syntax);
}

static bool think_k3(enum think_how how, json_t *options)
{
    if (!options)
        return true;
    json_object_set_new(options, "thinking", json_boolean(how != THINK_OFF));
    if (how > THINK_ON)
        json_object_set_new(options, "thinking_effort", json_string(think_names[how]));
    return true;
}

/* Set how in options, or only say whether that can be done. */
static bool think_try(const struct tmpl *t, enum think_how how, json_t *options)
{
    if (t->own)
        return think_own(t, how, options);
    if (t == &tmpl_kimi_k3)
        return think_k3(how, options);
    if (how > THINK_ON || (how == THINK_OFF && !t->thinks) || !think_syntax(t->syntax))
        return false;
    if (options && t->thinks)
        json_object_set_new(options, "enable_thinking", json_boolean(how == THINK_ON));
    return true;
}

bool tmpl_think(const struct tmpl *t, const char *how, json_t *options, struct err *e)
{
    struct buf known = {0};

    if (!how || !strcmp(how, "auto"))
        return true;
    for (int i = 0; i < THINK_HOWS; i++)
        if (!strcmp(how, think_names[i]) && think_try(t, (enum think_how)i, NULL))
            return think_try(t, (enum think_how)i, options);
    for (int i = 0; i < THINK_HOWS; i++)
        if (think_try(t, (enum think_how)i, NULL))
            buf_addf(&known, ", %s", think_names[i]);
    err_set_kind(e, ERR_USAGE, "--think %s: the chat template %s has no such switch; it "
                               "knows auto%s", how, t->name, buf_str(&known));
    buf_release(&known);
    return false;
}

/* ---- thoughts of earlier messages ---- */

const char *tmpl_reasoning_key(const struct tmpl *t)
{
    static const char *const keys[] = { "reasoning_content", "thinking", "reasoning",
                                        "thought" };
    static const char *const before[] = { ".", "['", "[\"", "get('", "get(\"" };
    size_t len;

    if (!t->own)
        return keys[0];
    const char *source = tmpl_own_source(t, &len);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
            struct buf b = {0};
            buf_addf(&b, "%s%s", before[k], keys[i]);
            bool has = tmpl_source_has(source, len, b.p);
            buf_release(&b);
            if (has)
                return keys[i];
        }
    }
    return keys[0];
}
