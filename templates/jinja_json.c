#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "templates/jinja_int.h"

/* tojson: Python's json.dumps(), with ensure_ascii off unless it is asked for. Keys keep
 * their order, 1.0 stays 1.0. Brackets and commas have the origin of their container,
 * quotes and escapes that of their string. */

struct json_style {
    bool ascii, sorted;
    bool lines; /* one item a line, indented */
    struct jj_str *indent;
    struct jj_str *item, *key; /* separators; NULL: the usual ones */
};

static void dump(struct jj_out *o, struct jj_value v, const struct json_style *st,
                 unsigned level);

static void dump_escape(struct jj_out *o, uint32_t cp, uint8_t origin)
{
    static const char *const plain[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r"
    };
    char text[16];

    if (cp == '"' || cp == '\\')
        snprintf(text, sizeof text, "\\%c", (int)cp);
    else if (cp <= '\r' && plain[cp])
        snprintf(text, sizeof text, "%s", plain[cp]);
    else if (cp >= 0x110000)
        snprintf(text, sizeof text, "\\udc%02x", cp - 0x110000);
    else if (cp >= 0x10000)
        snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD800 + ((cp - 0x10000) >> 10),
                 0xDC00 + ((cp - 0x10000) & 0x3FF));
    else
        snprintf(text, sizeof text, "\\u%04x", cp);
    jj_out_text(o, text, origin);
}

static void dump_string(struct jj_out *o, const struct jj_str *s, bool ascii)
{
    uint8_t origin = jj_str_origin(s);
    size_t from = 0;

    jj_out_text(o, "\"", origin);
    for (size_t i = 0, len; i < s->n; i += len) {
        uint32_t cp = (unsigned char)s->p[i];
        len = 1;
        if (cp >= 0x80 && ascii)
            len = jj_char(s->p + i, s->n - i, &cp);
        else if (cp >= 0x20 && cp != '"' && cp != '\\')
            continue;
        jj_out_part(o, s, from, i);
        dump_escape(o, cp, jj_str_origin_at(s, i));
        from = i + len;
    }
    jj_out_part(o, s, from, s->n);
    jj_out_text(o, "\"", origin);
}

static void dump_number(struct jj_out *o, struct jj_value v)
{
    char text[JJ_FLOAT_ROOM];

    if (v.type == JJ_INT)
        snprintf(text, sizeof text, "%lld", (long long)v.u.i);
    else
        jj_float_repr(o->jj, v.u.d, text);
    if (strcmp(text, "nan") == 0)
        jj_out_text(o, "NaN", v.origin);
    else if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0)
        jj_out_text(o, text[0] == '-' ? "-Infinity" : "Infinity", v.origin);
    else
        jj_out_text(o, text, v.origin);
}

static void dump_key(struct jj_out *o, struct jj_value key, const struct json_style *st)
{
    switch ((enum jj_type)key.type) {
    case JJ_STRING:
        dump_string(o, key.u.s, st->ascii);
        break;
    case JJ_NONE:
    case JJ_BOOL:
    case JJ_INT:
    case JJ_FLOAT:
    case JJ_BIG:
        jj_out_text(o, "\"", jj_origin(key));
        dump(o, key, st, 0);
        jj_out_text(o, "\"", jj_origin(key));
        break;
    default:
        jj_fail(o->jj, "keys must be str, int, float, bool or None, not %s",
                jj_type_name(key));
    }
}

static void dump_newline(struct jj_out *o, const struct json_style *st, unsigned level,
                         uint8_t origin)
{
    jj_out_text(o, "\n", origin);
    for (unsigned i = 0; i < level; i++)
        jj_out_add(o, st->indent->p, st->indent->n, origin);
}

/* What stands before item i of a container. */
static void dump_separator(struct jj_out *o, const struct json_style *st, size_t i,
                           unsigned level, uint8_t origin)
{
    if (i > 0 && st->item)
        jj_out_str(o, st->item);
    else if (i > 0)
        jj_out_text(o, st->lines ? "," : ", ", origin);
    if (st->lines)
        dump_newline(o, st, level + 1, origin);
}

static void dump_list(struct jj_out *o, struct jj_value v, const struct json_style *st,
                      unsigned level)
{
    const struct jj_list *l = v.u.l;

    jj_out_text(o, "[", v.origin);
    for (size_t i = 0; i < l->n; i++) {
        dump_separator(o, st, i, level, v.origin);
        dump(o, l->v[i], st, level + 1);
    }
    if (st->lines && l->n)
        dump_newline(o, st, level, v.origin);
    jj_out_text(o, "]", v.origin);
}

/* The positions of a dictionary's pairs by key, by insertion sort: sorted dumps are rare
 * and their dictionaries small. The work is charged by jj_order(). */
static size_t *sorted_pairs(struct jj *jj, const struct jj_dict *d)
{
    size_t *at = jj_array(jj, d->n + 1, sizeof *at);

    for (size_t i = 0; i < d->n; i++) {
        size_t k = i;
        for (; k > 0 && jj_order(jj, d->v[i].key, d->v[at[k - 1]].key, "<") < 0; k--)
            at[k] = at[k - 1];
        at[k] = i;
    }
    return at;
}

static void dump_dict(struct jj_out *o, struct jj_value v, const struct json_style *st,
                      unsigned level)
{
    const struct jj_dict *d = v.u.dict;
    size_t *order = st->sorted ? sorted_pairs(o->jj, d) : NULL;

    jj_out_text(o, "{", v.origin);
    for (size_t i = 0; i < d->n; i++) {
        const struct jj_pair *p = &d->v[order ? order[i] : i];
        dump_separator(o, st, i, level, v.origin);
        dump_key(o, p->key, st);
        if (st->key)
            jj_out_str(o, st->key);
        else
            jj_out_text(o, ": ", v.origin);
        dump(o, p->value, st, level + 1);
    }
    if (st->lines && d->n)
        dump_newline(o, st, level, v.origin);
    jj_out_text(o, "}", v.origin);
}

static void dump(struct jj_out *o, struct jj_value v, const struct json_style *st,
                 unsigned level)
{
    jj_step(o->jj);
    jj_enter(o->jj);
    switch ((enum jj_type)v.type) {
    case JJ_NONE:
        jj_out_text(o, "null", v.origin);
        break;
    case JJ_BOOL:
        jj_out_text(o, v.u.b ? "true" : "false", v.origin);
        break;
    case JJ_INT:
    case JJ_FLOAT:
        dump_number(o, v);
        break;
    case JJ_BIG:
        jj_out_str(o, v.u.s);
        break;
    case JJ_STRING:
        dump_string(o, v.u.s, st->ascii);
        break;
    case JJ_LIST:
    case JJ_TUPLE:
        dump_list(o, v, st, level);
        break;
    case JJ_DICT:
        dump_dict(o, v, st, level);
        break;
    default:
        jj_fail(o->jj, "Object of type %s is not JSON serializable", jj_type_name(v));
    }
    o->jj->depth--;
}

static void set_indent(struct jj *jj, struct json_style *st, struct jj_value v)
{
    if (!jj_given(v))
        return;
    st->lines = true;
    if (v.type == JJ_STRING) {
        st->indent = v.u.s;
        return;
    }

    int64_t n = jj_arg_int(jj, v, 0);
    struct jj_out o;
    jj_out_init(&o, jj);
    jj_out_pad(&o, jj_text(jj, " ").u.s, n > 0 ? (size_t)n : 0);
    st->indent = jj_out_finish(&o);
}

/* tojson(ensure_ascii, indent, separators, sort_keys) */
struct jj_value jj_tojson(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct json_style st = { .ascii = jj_arg_bool(a->v[0], false),
                             .sorted = jj_arg_bool(a->v[3], false) };
    struct jj_out o;

    set_indent(jj, &st, a->v[1]);
    if (jj_given(a->v[2])) {
        struct jj_list *pair = jj_items(jj, a->v[2]);
        if (pair->n != 2)
            jj_fail(jj, "tojson: separators must be a pair");
        st.item = jj_arg_str(jj, pair->v[0], "separator");
        st.key = jj_arg_str(jj, pair->v[1], "separator");
    }
    jj_out_init(&o, jj);
    dump(&o, self, &st, 0);
    return jj_string(jj_out_finish(&o));
}
