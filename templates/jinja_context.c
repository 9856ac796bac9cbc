#include "config.h"

#include "templates/jinja_ast.h"
#include "templates/pyjson.h"

/* The variables of a rendering: JSON to values, and who they belong to.
 *
 * Everything in the context is the conversation's, with two exceptions that are the
 * template's: strings that name the model's own special tokens; and the role of a
 * message if it is a word that every program knows, for some templates build their
 * special tokens from it ('<|' + message.role + '|>').
 *
 * Text is borrowed from the JSON, not copied. Only variables that the template mentions
 * are looked at. Numbers that jansson cannot hold come as pyjson.h has them: strings
 * that begin with the byte 0xFF, which no text does. */

static const char *const token_variables[] = {
    "bos_token", "eos_token", "pad_token",  "unk_token",
    "sep_token", "cls_token", "mask_token",
};

static const char *const roles[] = {
    "system",   "user",    "assistant", "tool",        "developer",
    "function", "ipython", "model",     "observation", "environment",
};

static struct jj_value load(struct jj *jj, const json_t *v);

static struct jj_value load_object(struct jj *jj, const json_t *v)
{
    struct jj_value dict = { .type = JJ_DICT, .origin = JINJA_CONVERSATION };

    dict.u.dict = jj_dict_new(jj, json_object_size(v));
    json_t *obj = (json_t *)v;
    for (void *it = json_object_iter(obj); it; it = json_object_iter_next(obj, it)) {
        const char *key = json_object_iter_key(it);
        jj_dict_set(jj, dict.u.dict,
                    jj_string(jj_str_new(jj, key, strlen(key), JINJA_CONVERSATION)),
                    load(jj, json_object_iter_value(it)));
    }
    return dict;
}

static struct jj_value load_array(struct jj *jj, const json_t *v)
{
    struct jj_list *l = jj_list_new(jj, json_array_size(v));

    for (size_t i = 0; i < json_array_size(v); i++)
        jj_list_add(jj, l, load(jj, json_array_get(v, i)));
    return jj_list(l, JJ_LIST, JINJA_CONVERSATION);
}

/* The spelling of a number, kept by pyjson_load(). */
static struct jj_value load_number(struct jj *jj, const char *p, size_t n)
{
    struct jj_str *s = jj_str_new(jj, p, n, JINJA_CONVERSATION);
    bool real = n && (memchr(p, '.', n) || memchr(p, 'e', n) || memchr(p, 'E', n) ||
                      memchr(p, 'N', n) || memchr(p, 'I', n));
    int64_t i;
    double d;

    if (!real && jj_parse_int(s, 10, &i))
        return jj_int(i, JINJA_CONVERSATION);
    if (jj_parse_float(jj, s, &d))
        return real ? jj_float(d, JINJA_CONVERSATION)
                    : (struct jj_value){ .type = JJ_BIG, .u.s = s };
    jj_fail(jj, "a variable holds '%.*s', which is no number", JJ_TEXT(s));
}

static struct jj_value load_string(struct jj *jj, const json_t *v)
{
    const char *p = json_string_value(v);
    size_t n = json_string_length(v);

    if (pyjson_is_number(v))
        return load_number(jj, p + 1, n - 1);
    return jj_string(jj_str_new(jj, p, n, JINJA_CONVERSATION));
}

static struct jj_value load(struct jj *jj, const json_t *v)
{
    struct jj_value out = jj_none();

    jj_step(jj);
    jj_enter(jj);
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        out = load_object(jj, v);
        break;
    case JSON_ARRAY:
        out = load_array(jj, v);
        break;
    case JSON_STRING:
        out = load_string(jj, v);
        break;
    case JSON_INTEGER:
        out = jj_int(json_integer_value(v), JINJA_CONVERSATION);
        break;
    case JSON_REAL:
        out = jj_float(json_real_value(v), JINJA_CONVERSATION);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        out = jj_bool(json_is_true(v));
        out.origin = JINJA_CONVERSATION;
        break;
    case JSON_NULL:
        out.origin = JINJA_CONVERSATION;
        break;
    }
    jj->depth--;
    return out;
}

static bool is_one_of(const struct jj_str *s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (jj_str_is(s, words[i]))
            return true;
    return false;
}
#define IS_ONE_OF(s, words) is_one_of((s), (words), sizeof(words) / sizeof *(words))

static void own_roles(struct jj *jj, struct jj_value messages)
{
    for (size_t i = 0; messages.type == JJ_LIST && i < messages.u.l->n; i++) {
        struct jj_value m = messages.u.l->v[i];
        struct jj_value *role =
            m.type == JJ_DICT ? jj_dict_gets(jj, m.u.dict, "role") : NULL;
        if (role && role->type == JJ_STRING && IS_ONE_OF(role->u.s, roles))
            role->u.s->origin = JINJA_TEMPLATE;
    }
}

void jj_context_load(struct jj *jj, const json_t *context)
{
    const struct jinja *t = jj->tmpl;

    jj->globals = jj_array(jj, t->n_symbols, sizeof *jj->globals);
    for (size_t i = 0; i < t->n_symbols; i++) {
        const struct jj_str *name = t->symbols[i];
        const struct jj_builtin *fn = jj_global(name->p, name->n);
        const json_t *v = json_object_get(context, name->p);

        if (v) {
            jj->globals[i] = load(jj, v);
            if (pyjson_is_string(v) && IS_ONE_OF(name, token_variables))
                jj->globals[i].u.s->origin = JINJA_TEMPLATE;
            if (jj_str_is(name, "messages"))
                own_roles(jj, jj->globals[i]);
        } else if (fn) {
            jj->globals[i] = (struct jj_value){ .type = JJ_FUNCTION, .u.fn = fn };
        }
    }
}
