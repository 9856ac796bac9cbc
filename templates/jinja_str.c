#include "config.h"

#include "templates/jinja_int.h"

/* Strings with origin, and the builder that makes them.
 *
 * Templates like to collect text with ns.out = ns.out + piece. To keep that from being
 * quadratic, a concatenation leaves free space (a room) behind its result, and the next
 * concatenation to exactly that string writes there. Strings never change: what is behind
 * a string's end belongs to nobody else until it is taken once. */

struct jj_room {
    const struct jj
        *owner; /* constants of a template are shared: not to be written behind */
    char *p;
    uint8_t *map; /* (cap) or NULL while all bytes are of one origin */
    size_t used, cap;
};

struct jj_str *jj_str_new(struct jj *jj, const char *p, size_t n, uint8_t origin)
{
    struct jj_str *s = jj_alloc(jj, sizeof *s);

    s->p = p;
    s->n = n;
    s->origin = origin;
    return s;
}

struct jj_str *jj_str_slice(struct jj *jj, const struct jj_str *s, size_t from, size_t to)
{
    struct jj_str *t = jj_alloc(jj, sizeof *t);

    *t = *s;
    t->p = s->p + from;
    t->map = s->map ? s->map + from : NULL;
    t->n = to > from ? to - from : 0;
    return t;
}

struct jj_str *jj_str_mark(struct jj *jj, const struct jj_str *s, bool safe)
{
    struct jj_str *t = jj_str_slice(jj, s, 0, s->n);

    t->safe = safe;
    return t;
}

uint8_t jj_str_origin(const struct jj_str *s)
{
    if (!s->map)
        return s->origin;
    return s->n && memchr(s->map, JINJA_CONVERSATION, s->n) ? JINJA_CONVERSATION
                                                            : JINJA_TEMPLATE;
}

uint8_t jj_str_origin_at(const struct jj_str *s, size_t i)
{
    return s->map && i < s->n ? s->map[i] : s->origin;
}

bool jj_str_eq(const struct jj_str *a, const struct jj_str *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

bool jj_str_is(const struct jj_str *s, const char *text)
{
    return s->n == strlen(text) && memcmp(s->p, text, s->n) == 0;
}

/* By bytes, which for UTF-8 is the order of the code points. */
int jj_str_cmp(const struct jj_str *a, const struct jj_str *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int c = n ? memcmp(a->p, b->p, n) : 0;

    return c ? c : (a->n > b->n) - (a->n < b->n);
}

size_t jj_str_find(const struct jj_str *s, const struct jj_str *what, size_t from)
{
    if (from > s->n)
        return JJ_NPOS;
    if (what->n == 0)
        return from;

    const char *at = memmem(s->p + from, s->n - from, what->p, what->n);
    return at ? (size_t)(at - s->p) : JJ_NPOS;
}

/* The last one that ends at or before to. */
size_t jj_str_rfind(const struct jj_str *s, const struct jj_str *what, size_t to)
{
    if (what->n > to)
        return JJ_NPOS;
    for (size_t i = to - what->n + 1; i-- > 0;)
        if (what->n == 0 || memcmp(s->p + i, what->p, what->n) == 0)
            return i;
    return JJ_NPOS;
}

const char *jj_cstr(struct jj *jj, const struct jj_str *s)
{
    char *p = jj_alloc(jj, s->n + 1);

    if (s->n)
        memcpy(p, s->p, s->n);
    return p;
}

static struct jj_room *room_new(struct jj *jj, const struct jj_str *a, size_t n)
{
    struct jj_room *room = jj_alloc(jj, sizeof *room);

    jj_charge(jj, a->n);
    room->owner = jj;
    room->cap = n + n / 2 + 32;
    room->p = jj_grow(jj, NULL, 0, room->cap);
    room->used = a->n;
    if (a->n)
        memcpy(room->p, a->p, a->n);
    if (a->map) {
        room->map = jj_grow(jj, NULL, 0, room->cap);
        memcpy(room->map, a->map, a->n);
    }
    return room;
}

struct jj_str *jj_str_concat(struct jj *jj, struct jj_str *a, struct jj_str *b)
{
    if (b->n == 0)
        return a;
    if (a->n == 0)
        return b;

    struct jj_room *room = a->room;
    struct jj_str *s = jj_alloc(jj, sizeof *s);
    size_t from;

    jj_charge(jj, b->n);
    if (room && room->owner == jj && a->p + a->n == room->p + room->used &&
        room->cap - room->used >= b->n) {
        from = (size_t)(a->p - room->p);
    } else {
        room = room_new(jj, a, a->n + b->n);
        from = 0;
    }
    if (!room->map && (b->map || a->origin != b->origin)) {
        room->map = jj_grow(jj, NULL, 0, room->cap);
        memset(room->map, a->origin, room->used);
    }
    memcpy(room->p + room->used, b->p, b->n);
    if (room->map && b->map)
        memcpy(room->map + room->used, b->map, b->n);
    else if (room->map)
        memset(room->map + room->used, b->origin, b->n);
    room->used += b->n;

    s->room = room;
    s->p = room->p + from;
    s->map = room->map ? room->map + from : NULL;
    s->n = a->n + b->n;
    s->origin = a->origin;
    return s;
}

struct jj_str *jj_str_escape(struct jj *jj, struct jj_str *s)
{
    struct jj_out o;

    if (s->safe)
        return s;
    jj_charge_chars(jj, s->n);
    jj_out_init(&o, jj);
    for (size_t i = 0; i < s->n; i++) {
        uint8_t origin = jj_str_origin_at(s, i);
        switch (s->p[i]) {
        case '&':
            jj_out_text(&o, "&amp;", origin);
            break;
        case '<':
            jj_out_text(&o, "&lt;", origin);
            break;
        case '>':
            jj_out_text(&o, "&gt;", origin);
            break;
        case '\'':
            jj_out_text(&o, "&#39;", origin);
            break;
        case '"':
            jj_out_text(&o, "&#34;", origin);
            break;
        default:
            jj_out_add(&o, s->p + i, 1, origin);
        }
    }
    struct jj_str *t = jj_out_finish(&o);
    t->safe = true;
    return t;
}

/* ---- the builder ---- */

void jj_out_init(struct jj_out *o, struct jj *jj)
{
    memset(o, 0, sizeof *o);
    o->jj = jj;
    o->limit = SIZE_MAX;
}

static void out_reserve(struct jj_out *o, size_t n)
{
    if (n > o->limit - o->n)
        jj_fail(o->jj, "the text is longer than %zu bytes", o->limit);
    if (n <= o->cap - o->n)
        return;

    size_t cap = o->cap * 2 > o->n + n ? o->cap * 2 : o->n + n;
    if (cap < 64)
        cap = 64;
    o->p = jj_grow(o->jj, o->p, o->cap, cap);
    if (o->map)
        o->map = jj_grow(o->jj, o->map, o->cap, cap);
    o->cap = cap;
}

/* The map begins when the second origin comes. */
static void out_mix(struct jj_out *o)
{
    if (o->map)
        return;
    o->map = jj_grow(o->jj, NULL, 0, o->cap);
    memset(o->map, o->origin, o->n);
}

void jj_out_add(struct jj_out *o, const char *p, size_t n, uint8_t origin)
{
    if (n == 0)
        return;
    out_reserve(o, n);
    jj_charge(o->jj, n);
    if (o->n == 0)
        o->origin = origin;
    else if (origin != o->origin)
        out_mix(o);
    memcpy(o->p + o->n, p, n);
    if (o->map)
        memset(o->map + o->n, origin, n);
    o->n += n;
}

void jj_out_text(struct jj_out *o, const char *text, uint8_t origin)
{
    jj_out_add(o, text, strlen(text), origin);
}

void jj_out_part(struct jj_out *o, const struct jj_str *s, size_t from, size_t to)
{
    size_t n = to - from;

    if (to <= from)
        return;
    if (!s->map) {
        jj_out_add(o, s->p + from, n, s->origin);
        return;
    }
    out_reserve(o, n);
    jj_charge(o->jj, n);
    out_mix(o);
    memcpy(o->p + o->n, s->p + from, n);
    memcpy(o->map + o->n, s->map + from, n);
    o->n += n;
}

void jj_out_str(struct jj_out *o, const struct jj_str *s)
{
    jj_out_part(o, s, 0, s->n);
}

void jj_out_pad(struct jj_out *o, const struct jj_str *s, size_t times)
{
    if (s->n && times > SIZE_MAX / 2 / s->n)
        jj_fail(o->jj, "the template needs more than %zu MiB of memory",
                o->jj->memory >> 20);
    out_reserve(o, s->n * times);
    for (size_t i = 0; i < times; i++) {
        jj_step(o->jj);
        jj_out_str(o, s);
    }
}

struct jj_str *jj_out_finish(struct jj_out *o)
{
    struct jj_str *s = jj_str_new(o->jj, o->p ? o->p : "", o->n, o->origin);

    s->map = o->map;
    return s;
}
