#include "config.h"

#include "templates/jinja_ast.h"

/* {% for %}, and the variable loop in it. With a test (for x in y if test) items are let
 * through one by one as they are asked for, so that a test sees what the body has
 * changed; loop.last looks one ahead, loop.length asks for all. */

struct jj_loop {
    const struct jj_node *node;
    struct jj_list *items;        /* without a test: what is gone through, live */
    const struct jj_range *range; /* ... or this */
    struct jj_list *source;       /* with a test: where items come from */
    size_t next;                  /* in source */
    size_t at;                    /* loop.index0 */
    unsigned depth0;
    struct jj_scope *outer;
    struct jj_value changed; /* the last arguments of loop.changed(), a tuple */
    bool over;               /* outer may be in use for something else */
};

static bool passes(struct jj *jj, struct jj_loop *loop, struct jj_value item)
{
    struct jj_scope *inner = jj->scope;

    jj->scope = loop->outer;
    struct jj_scope *s = jj_push(jj);
    jj_assign(jj, loop->node->a, item);
    bool yes = jj_truth(jj_eval(jj, loop->node->c));
    jj_pop(jj, s);
    jj->scope = inner;
    return yes;
}

/* Item i, if there is one. */
static bool loop_get(struct jj *jj, struct jj_loop *loop, size_t i, struct jj_value *out)
{
    if (loop->range) {
        if (i >= loop->range->n)
            return false;
        *out = jj_range_at(loop->range, i);
        return true;
    }
    while (loop->source && !loop->over && loop->items->n <= i &&
           loop->next < loop->source->n) {
        struct jj_value item = loop->source->v[loop->next++];
        if (passes(jj, loop, item))
            jj_list_add(jj, loop->items, item);
    }
    if (i >= loop->items->n)
        return false;
    *out = loop->items->v[i];
    return true;
}

size_t jj_loop_length(struct jj *jj, struct jj_loop *loop)
{
    struct jj_value v;

    loop_get(jj, loop, SIZE_MAX, &v);
    return loop->range ? loop->range->n : loop->items->n;
}

static void loop_init(struct jj *jj, struct jj_loop *loop, const struct jj_node *node,
                      struct jj_value over)
{
    loop->node = node;
    loop->outer = jj->scope;
    if (over.type == JJ_RANGE && !node->c) {
        loop->range = over.u.range;
        return;
    }
    loop->items = jj_items(jj, over);
    if (node->c) {
        loop->source = loop->items;
        loop->items = jj_list_new(jj, 0);
    }
}

/* As in Jinja2, else also follows a loop whose every pass ended with break or continue.
 */
static enum jj_flow loop_run(struct jj *jj, const struct jj_node *node,
                             struct jj_value over, unsigned depth0)
{
    struct jj_loop *loop = jj_alloc(jj, sizeof *loop);
    struct jj_value self = { .type = JJ_LOOP, .u.loop = loop }, item;
    enum jj_flow flow = JJ_GO_ON;
    bool complete = false;

    loop_init(jj, loop, node, over);
    loop->depth0 = depth0;
    for (size_t i = 0; flow != JJ_BREAK && loop_get(jj, loop, i, &item); i++) {
        jj_step(jj);
        loop->at = i;
        struct jj_scope *s = jj_push(jj);
        jj_set_var(jj, jj->tmpl->sym_loop, self);
        jj_assign(jj, node->a, item);
        flow = jj_exec(jj, &node->body);
        jj_pop(jj, s);
        complete = complete || flow == JJ_GO_ON;
    }
    loop->over = true;
    if (complete || !node->orelse.n)
        return JJ_GO_ON;

    struct jj_scope *s = jj_push(jj);
    flow = jj_exec(jj, &node->orelse);
    jj_pop(jj, s);
    return flow;
}

enum jj_flow jj_exec_for(struct jj *jj, const struct jj_node *node)
{
    return loop_run(jj, node, jj_eval(jj, node->b), 0);
}

/* loop(children) in a recursive loop. */
struct jj_value jj_loop_call(struct jj *jj, struct jj_loop *loop, struct jj_args *a)
{
    struct jj_out *before = jj->out, out;
    struct jj_scope *scope = jj->scope;

    if (!loop->node->flag)
        jj_fail(jj, "the loop must have the 'recursive' marker to be called recursively");
    if (a->n != 1 || a->n_kw || loop->over)
        jj_fail(jj, "loop() takes one argument, and is to be called inside its loop");
    jj_out_init(&out, jj);
    jj->out = &out;
    jj->scope = loop->outer;
    jj_enter(jj);
    loop_run(jj, loop->node, a->v[0], loop->depth0 + 1);
    jj->depth--;
    jj->scope = scope;
    jj->out = before;
    return jj_string(jj_out_finish(&out));
}

/* ---- attributes ---- */

static struct jj_value number(size_t n)
{
    return jj_int((int64_t)n, JINJA_TEMPLATE);
}

static struct jj_value neighbour(struct jj *jj, struct jj_loop *loop, bool next)
{
    struct jj_value v;

    if (!next && loop->at == 0)
        return jj_undef(jj, "there is no previous item");
    if (!loop_get(jj, loop, next ? loop->at + 1 : loop->at - 1, &v))
        return jj_undef(jj, "there is no next item");
    return v;
}

struct jj_value jj_loop_attr(struct jj *jj, struct jj_loop *loop,
                             const struct jj_str *name)
{
    struct jj_value v;

    if (jj_str_is(name, "index"))
        return number(loop->at + 1);
    if (jj_str_is(name, "index0"))
        return number(loop->at);
    if (jj_str_is(name, "first"))
        return jj_bool(loop->at == 0);
    if (jj_str_is(name, "last"))
        return jj_bool(!loop_get(jj, loop, loop->at + 1, &v));
    if (jj_str_is(name, "length"))
        return number(jj_loop_length(jj, loop));
    if (jj_str_is(name, "revindex"))
        return number(jj_loop_length(jj, loop) - loop->at);
    if (jj_str_is(name, "revindex0"))
        return number(jj_loop_length(jj, loop) - loop->at - 1);
    if (jj_str_is(name, "depth"))
        return number(loop->depth0 + 1);
    if (jj_str_is(name, "depth0"))
        return number(loop->depth0);
    if (jj_str_is(name, "previtem") || jj_str_is(name, "nextitem"))
        return neighbour(jj, loop, jj_str_is(name, "nextitem"));
    return jj_missing();
}

static struct jj_value loop_cycle(struct jj *jj, struct jj_value self, struct jj_args *a)
{
    if (a->n == 0)
        jj_fail(jj, "no items for cycling given");
    return a->v[self.u.loop->at % a->n];
}

static struct jj_value loop_changed(struct jj *jj, struct jj_value self,
                                    struct jj_args *a)
{
    struct jj_loop *loop = self.u.loop;
    struct jj_list *l = jj_list_new(jj, a->n);

    for (size_t i = 0; i < a->n; i++)
        jj_list_add(jj, l, a->v[i]);

    struct jj_value now = jj_list(l, JJ_TUPLE, JINJA_TEMPLATE);
    if (loop->changed.type != JJ_MISSING && jj_equal(jj, loop->changed, now))
        return jj_bool(false);
    loop->changed = now;
    return jj_bool(true);
}

const struct jj_builtin jj_loop_methods[] = {
    { "cycle", loop_cycle, "*" },
    { "changed", loop_changed, "*" },
    { NULL, NULL, NULL },
};
