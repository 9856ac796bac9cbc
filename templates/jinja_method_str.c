#include "config.h"

#include "templates/jinja_int.h"

/* Methods of str that look for something, cut, or put together. Slices of the string keep
 * its origin byte by byte. What replace() puts in place of conversation text counts as
 * the conversation's, since the conversation decided that it stands there. */

static struct jj_value same_kind(struct jj *jj, const struct jj_str *of, struct jj_str *s)
{
    return jj_string(s->safe == of->safe ? s : jj_str_mark(jj, s, of->safe));
}

static struct jj_value slice(struct jj *jj, const struct jj_str *s, size_t from,
                             size_t to)
{
    return jj_string(jj_str_slice(jj, s, from, to));
}

/* ---- strip ---- */

static bool strips(const struct jj_str *chars, const char *p, size_t len, uint32_t cp)
{
    return chars ? memmem(chars->p, chars->n, p, len) != NULL : jj_is_space(cp);
}

static struct jj_value strip(struct jj *jj, struct jj_value self, struct jj_value chars,
                             bool left, bool right)
{
    const struct jj_str *s = self.u.s;
    const struct jj_str *set =
        jj_given(chars) ? jj_arg_str(jj, chars, "strip arg") : NULL;
    size_t from = 0, to = s->n;
    uint32_t cp;

    while (left && from < to) {
        size_t len = jj_char(s->p + from, to - from, &cp);
        if (!strips(set, s->p + from, len, cp))
            break;
        jj_charge(jj, 16 + (set ? set->n : 0));
        from += len;
    }
    while (right && to > from) {
        size_t len = jj_char_before(s->p + from, to - from, &cp);
        if (!strips(set, s->p + to - len, len, cp))
            break;
        jj_charge(jj, 16 + (set ? set->n : 0));
        to -= len;
    }
    return from == 0 && to == s->n ? self : slice(jj, s, from, to);
}

static struct jj_value str_strip(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return strip(jj, self, a->v[0], true, true);
}

static struct jj_value str_lstrip(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return strip(jj, self, a->v[0], true, false);
}

static struct jj_value str_rstrip(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return strip(jj, self, a->v[0], false, true);
}

/* ---- split ---- */

static size_t next_space(const struct jj_str *s, size_t at, bool space)
{
    uint32_t cp;

    while (at < s->n) {
        size_t len = jj_char(s->p + at, s->n - at, &cp);
        if (jj_is_space(cp) == space)
            break;
        at += len;
    }
    return at;
}

static size_t last_space(const struct jj_str *s, size_t at, bool space)
{
    uint32_t cp;

    while (at > 0) {
        size_t len = jj_char_before(s->p, at, &cp);
        if (jj_is_space(cp) == space)
            break;
        at -= len;
    }
    return at;
}

static struct jj_list *split_spaces(struct jj *jj, const struct jj_str *s, int64_t max)
{
    struct jj_list *l = jj_list_new(jj, 0);
    size_t at = next_space(s, 0, false);

    while (at < s->n) {
        size_t end = max-- == 0 ? s->n : next_space(s, at, true);
        jj_step(jj);
        jj_list_add(jj, l, slice(jj, s, at, end));
        at = next_space(s, end, false);
    }
    return l;
}

static struct jj_list *rsplit_spaces(struct jj *jj, const struct jj_str *s, int64_t max)
{
    struct jj_list *l = jj_list_new(jj, 0);
    size_t end = last_space(s, s->n, false);

    while (end > 0) {
        size_t from = max-- == 0 ? 0 : last_space(s, end, true);
        jj_step(jj);
        jj_list_add(jj, l, slice(jj, s, from, end));
        end = last_space(s, from, false);
    }
    return l;
}

static struct jj_list *split_by(struct jj *jj, const struct jj_str *s,
                                const struct jj_str *sep, int64_t max)
{
    struct jj_list *l = jj_list_new(jj, 0);
    size_t from = 0, at;

    while (max-- != 0 && (at = jj_str_find(s, sep, from)) != JJ_NPOS) {
        jj_step(jj);
        jj_list_add(jj, l, slice(jj, s, from, at));
        from = at + sep->n;
    }
    jj_list_add(jj, l, slice(jj, s, from, s->n));
    return l;
}

static struct jj_list *rsplit_by(struct jj *jj, const struct jj_str *s,
                                 const struct jj_str *sep, int64_t max)
{
    struct jj_list *l = jj_list_new(jj, 0);
    size_t to = s->n, at;

    jj_charge(jj, sep->n > 16 ? s->n * sep->n : s->n * 16);
    while (max-- != 0 && (at = jj_str_rfind(s, sep, to)) != JJ_NPOS) {
        jj_step(jj);
        jj_list_add(jj, l, slice(jj, s, at + sep->n, to));
        to = at;
    }
    jj_list_add(jj, l, slice(jj, s, 0, to));
    return l;
}

static void reverse(struct jj_list *l)
{
    for (size_t i = 0; i < l->n / 2; i++) {
        struct jj_value v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
}

static struct jj_value split(struct jj *jj, const struct jj_str *s, struct jj_args *a,
                             bool right)
{
    const struct jj_str *sep = jj_given(a->v[0]) ? jj_arg_str(jj, a->v[0], "sep") : NULL;
    int64_t max = jj_arg_int(jj, a->v[1], -1);
    struct jj_list *l;

    if (sep && sep->n == 0)
        jj_fail(jj, "empty separator");
    jj_charge(jj, s->n);
    if (sep)
        l = right ? rsplit_by(jj, s, sep, max) : split_by(jj, s, sep, max);
    else
        l = right ? rsplit_spaces(jj, s, max) : split_spaces(jj, s, max);
    if (right)
        reverse(l);
    return jj_list(l, JJ_LIST, jj_str_origin(s));
}

static struct jj_value str_split(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return split(jj, self.u.s, a, false);
}

static struct jj_value str_rsplit(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return split(jj, self.u.s, a, true);
}

static struct jj_value str_splitlines(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    const struct jj_str *s = self.u.s;
    bool keep = jj_arg_bool(a->v[0], false);
    struct jj_list *l = jj_list_new(jj, 0);
    uint32_t cp = 0;

    jj_charge_chars(jj, s->n);
    for (size_t from = 0, at = 0; from < s->n; from = at) {
        size_t end = s->n;
        for (at = from; at < s->n;) {
            size_t len = jj_char(s->p + at, s->n - at, &cp);
            if (jj_is_linebreak(cp)) {
                end = at;
                at += len;
                at += cp == '\r' && at < s->n && s->p[at] == '\n';
                break;
            }
            at += len;
        }
        jj_list_add(jj, l, slice(jj, s, from, keep ? at : end));
    }
    return jj_list(l, JJ_LIST, jj_str_origin(s));
}

static struct jj_value three(struct jj *jj, const struct jj_str *s, const size_t at[4])
{
    struct jj_list *l = jj_list_new(jj, 3);

    for (int i = 0; i < 3; i++)
        jj_list_add(jj, l, slice(jj, s, at[i], at[i + 1]));
    return jj_list(l, JJ_TUPLE, jj_str_origin(s));
}

static struct jj_value partition(struct jj *jj, const struct jj_str *s, struct jj_args *a,
                                 bool right)
{
    const struct jj_str *sep = jj_arg_str(jj, a->v[0], "sep");
    size_t at;

    if (sep->n == 0)
        jj_fail(jj, "empty separator");
    jj_charge(jj, right && sep->n > 16 ? s->n * sep->n : s->n * 16);
    at = right ? jj_str_rfind(s, sep, s->n) : jj_str_find(s, sep, 0);
    if (at == JJ_NPOS)
        return three(jj, s,
                     right ? (const size_t[]){ 0, 0, 0, s->n }
                           : (const size_t[]){ 0, s->n, s->n, s->n });
    return three(jj, s, (const size_t[]){ 0, at, at + sep->n, s->n });
}

static struct jj_value str_partition(struct jj *jj, struct jj_value self,
                                     struct jj_args *a)
{
    return partition(jj, self.u.s, a, false);
}

static struct jj_value str_rpartition(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    return partition(jj, self.u.s, a, true);
}

/* ---- find ---- */

/* The part of s that start and end (in characters) leave; false when start is behind it.
 */
static bool window(struct jj *jj, const struct jj_str *s, struct jj_value start,
                   struct jj_value end, size_t out[2])
{
    const struct jj_value all = jj_none();
    const struct jj_value at[3] = { jj_given(start) ? start : all,
                                    jj_given(end) ? end : all, all };

    jj_charge(jj, s->n * 2);
    if (!jj_given(start) && !jj_given(end)) {
        out[0] = 0;
        out[1] = s->n;
        return true;
    }
    if (jj_given(start) && jj_arg_int(jj, start, 0) > (int64_t)jj_chars(s))
        return false;
    struct jj_str *part = jj_slice(jj, jj_string(jj_str_slice(jj, s, 0, s->n)), at).u.s;
    out[0] = (size_t)(part->p - s->p);
    out[1] = out[0] + part->n;
    return true;
}

static int64_t find(struct jj *jj, const struct jj_str *s, struct jj_args *a, bool right)
{
    const struct jj_str *what = jj_arg_str(jj, a->v[0], "argument");
    size_t w[2], at;

    if (!window(jj, s, a->v[1], a->v[2], w))
        return -1;
    struct jj_str *part = jj_str_slice(jj, s, w[0], w[1]);
    if (right)
        jj_charge(jj, what->n > 16 ? part->n * what->n : part->n * 16);
    at = right ? jj_str_rfind(part, what, part->n) : jj_str_find(part, what, 0);
    if (at == JJ_NPOS)
        return -1;
    return (int64_t)jj_chars(jj_str_slice(jj, s, 0, w[0] + at));
}

static struct jj_value str_find(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return jj_int(find(jj, self.u.s, a, false), jj_str_origin(self.u.s));
}

static struct jj_value str_rfind(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return jj_int(find(jj, self.u.s, a, true), jj_str_origin(self.u.s));
}

static struct jj_value found(struct jj *jj, struct jj_value self, int64_t at)
{
    if (at < 0)
        jj_fail(jj, "substring not found");
    return jj_int(at, jj_str_origin(self.u.s));
}

static struct jj_value str_index(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return found(jj, self, find(jj, self.u.s, a, false));
}

static struct jj_value str_rindex(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    return found(jj, self, find(jj, self.u.s, a, true));
}

static struct jj_value str_count(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_str *s = self.u.s, *what = jj_arg_str(jj, a->v[0], "argument");
    int64_t n = 0;
    size_t w[2], at;

    if (!window(jj, s, a->v[1], a->v[2], w))
        return jj_int(0, jj_str_origin(s));
    struct jj_str *part = jj_str_slice(jj, s, w[0], w[1]);
    if (what->n == 0)
        return jj_int((int64_t)jj_chars(part) + 1, jj_str_origin(s));
    for (size_t from = 0; (at = jj_str_find(part, what, from)) != JJ_NPOS; n++)
        from = at + what->n;
    return jj_int(n, jj_str_origin(s));
}

static bool has_affix(const struct jj_str *s, const struct jj_str *affix, bool end)
{
    if (affix->n > s->n)
        return false;
    return affix->n == 0 ||
           memcmp(s->p + (end ? s->n - affix->n : 0), affix->p, affix->n) == 0;
}

static struct jj_value affix(struct jj *jj, const struct jj_str *s, struct jj_args *a,
                             bool end)
{
    const char *what = end ? "endswith first arg" : "startswith first arg";
    size_t w[2];

    if (a->v[0].type != JJ_TUPLE)
        jj_arg_str(jj, a->v[0], what);
    if (!window(jj, s, a->v[1], a->v[2], w))
        return jj_bool(false);
    struct jj_str *part = jj_str_slice(jj, s, w[0], w[1]);
    if (a->v[0].type != JJ_TUPLE)
        return jj_bool(has_affix(part, jj_arg_str(jj, a->v[0], what), end));
    for (size_t i = 0; i < a->v[0].u.l->n; i++)
        if (has_affix(part, jj_arg_str(jj, a->v[0].u.l->v[i], what), end))
            return jj_bool(true);
    return jj_bool(false);
}

static struct jj_value str_startswith(struct jj *jj, struct jj_value self,
                                      struct jj_args *a)
{
    return affix(jj, self.u.s, a, false);
}

static struct jj_value str_endswith(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    return affix(jj, self.u.s, a, true);
}

static struct jj_value str_removeprefix(struct jj *jj, struct jj_value self,
                                        struct jj_args *a)
{
    const struct jj_str *s = self.u.s, *prefix = jj_arg_str(jj, a->v[0], "prefix");

    return has_affix(s, prefix, false) ? slice(jj, s, prefix->n, s->n) : self;
}

static struct jj_value str_removesuffix(struct jj *jj, struct jj_value self,
                                        struct jj_args *a)
{
    const struct jj_str *s = self.u.s, *suffix = jj_arg_str(jj, a->v[0], "suffix");

    return has_affix(s, suffix, true) ? slice(jj, s, 0, s->n - suffix->n) : self;
}

/* ---- replace, join ---- */

static void out_replacement(struct jj_out *o, const struct jj_str *s, size_t from,
                            size_t to, const struct jj_str *new)
{
    size_t i = from < s->n ? from : s->n ? s->n - 1 : 0;
    bool foreign = jj_str_origin_at(s, i) == JINJA_CONVERSATION;

    for (; i < to && !foreign; i++)
        foreign = jj_str_origin_at(s, i) == JINJA_CONVERSATION;
    if (foreign)
        jj_out_add(o, new->p, new->n, JINJA_CONVERSATION);
    else
        jj_out_str(o, new);
}

/* An empty old stands before every character and at the end. */
static void replace_empty(struct jj_out *o, const struct jj_str *s,
                          const struct jj_str *new, int64_t max)
{
    for (size_t at = 0, end; at <= s->n; at = end) {
        jj_step(o->jj);
        if (max-- != 0)
            out_replacement(o, s, at, at, new);
        else
            max = 0;
        end = at < s->n ? jj_char_at(s, at, 1) : at + 1;
        if (at < s->n)
            jj_out_part(o, s, at, end);
    }
}

struct jj_str *jj_str_replace(struct jj *jj, const struct jj_str *s,
                              const struct jj_str *old, const struct jj_str *new,
                              int64_t max)
{
    struct jj_out o;
    size_t from = 0, at;

    jj_out_init(&o, jj);
    jj_charge(jj, s->n);
    if (old->n == 0) {
        replace_empty(&o, s, new, max);
        return jj_out_finish(&o);
    }
    while (max-- != 0 && (at = jj_str_find(s, old, from)) != JJ_NPOS) {
        jj_step(jj);
        jj_out_part(&o, s, from, at);
        out_replacement(&o, s, at, at + old->n, new);
        from = at + old->n;
    }
    jj_out_part(&o, s, from, s->n);
    return jj_out_finish(&o);
}

static struct jj_value str_replace(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    struct jj_str *s = self.u.s, *new = jj_arg_str(jj, a->v[1], "replace() argument 2");

    if (s->safe)
        new = jj_str_escape(jj, new);
    return same_kind(jj, s,
                     jj_str_replace(jj, s,
                                    jj_arg_str(jj, a->v[0], "replace() argument 1"), new,
                                    jj_arg_int(jj, a->v[2], -1)));
}

static struct jj_value str_join(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    const struct jj_list *l = jj_items(jj, a->v[0]);
    struct jj_out o;

    jj_out_init(&o, jj);
    for (size_t i = 0; i < l->n; i++) {
        jj_step(jj);
        if (l->v[i].type != JJ_STRING)
            jj_fail(jj, "sequence item %zu: expected str instance, %s found", i,
                    jj_type_name(l->v[i]));
        if (i)
            jj_out_str(&o, self.u.s);
        jj_out_str(&o, self.u.s->safe ? jj_str_escape(jj, l->v[i].u.s) : l->v[i].u.s);
    }
    return same_kind(jj, self.u.s, jj_out_finish(&o));
}

const struct jj_builtin jj_str_methods[] = {
    { "strip", str_strip, "chars?" },
    { "lstrip", str_lstrip, "chars?" },
    { "rstrip", str_rstrip, "chars?" },
    { "split", str_split, "sep? maxsplit?" },
    { "rsplit", str_rsplit, "sep? maxsplit?" },
    { "splitlines", str_splitlines, "keepends?" },
    { "partition", str_partition, "sep" },
    { "rpartition", str_rpartition, "sep" },
    { "startswith", str_startswith, "prefix start? end?" },
    { "endswith", str_endswith, "suffix start? end?" },
    { "removeprefix", str_removeprefix, "prefix" },
    { "removesuffix", str_removesuffix, "suffix" },
    { "find", str_find, "sub start? end?" },
    { "rfind", str_rfind, "sub start? end?" },
    { "index", str_index, "sub start? end?" },
    { "rindex", str_rindex, "sub start? end?" },
    { "count", str_count, "sub start? end?" },
    { "replace", str_replace, "old new count?" },
    { "join", str_join, "iterable" },
    { "format", jj_str_format, "*" },
    { "format_map", jj_str_format_map, "mapping" },
    { NULL, NULL, NULL },
};
