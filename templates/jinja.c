#include "config.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "templates/jinja_ast.h"

/* The door: compile and render. Here, and only here, a failure inside ends (jj_fail()).
 *
 * source -> jinja_lex.c -> tokens -> jinja_parse.c, jinja_expr.c -> tree
 * context -> jinja_context.c -> values; tree + values -> jinja_exec.c, jinja_eval.c ->
 * text
 *
 * What setjmp() returns to must not live in registers: state that changes in between is
 * in memory that outlives the call, never in a local variable. */

enum {
    COMPILE_MEMORY = 256 << 20,
    COMPILE_STEPS = 50 * 1000 * 1000,
    COMPILE_DEPTH = 200,
    SOURCE_MAX = 8 << 20,
    RENDER_MEMORY = 512 << 20,
    RENDER_STEPS = 30 * 1000 * 1000,
    RENDER_DEPTH = 800,
    RENDER_OUTPUT = 64 << 20,
};

void jinja_output_release(struct jinja_output *out)
{
    buf_release(&out->text);
    free(out->runs);
    *out = (struct jinja_output){0};
}

static void compile(struct jinja *j, const char *source, size_t len)
{
    struct jj_parser p = { .jj = &j->jj, .tmpl = j };

    j->by_name = jj_dict_new(&j->jj, 0);
    j->sym_loop = jj_symbol(&p, "loop", 4);
    j->sym_caller = jj_symbol(&p, "caller", 6);
    j->sym_kwargs = jj_symbol(&p, "kwargs", 6);
    j->sym_varargs = jj_symbol(&p, "varargs", 7);
    jj_lex(&j->jj, source, len, &p.tokens);
    jj_parse(&p);
}

struct jinja *jinja_compile(const char *source, size_t len, struct err *e)
{
    struct jinja *j = xcalloc(1, sizeof *j);

    j->jj.memory = COMPILE_MEMORY;
    j->jj.steps = COMPILE_STEPS;
    j->jj.max_depth = COMPILE_DEPTH;
    j->jj.line = 1;
    j->jj.e = e;
    if (len > SOURCE_MAX) {
        err_set(e, "chat template: %zu bytes are more than a template may have", len);
        free(j);
        return NULL;
    }
    if (setjmp(j->jj.exit)) {
        jinja_free(j);
        return NULL;
    }
    compile(j, source, len);
    return j;
}

void jinja_free(struct jinja *j)
{
    if (!j)
        return;
    jj_release(&j->jj);
    free(j);
}

bool jinja_mentions(const struct jinja *j, const char *name)
{
    for (size_t i = 0; i < j->n_symbols; i++)
        if (strcmp(j->symbols[i]->p, name) == 0)
            return true;
    return false;
}

/* ---- rendering ---- */

static void add_run(struct jinja_output *out, size_t from, size_t to, uint8_t origin)
{
    MEM_GROW(out->runs, out->cap_runs, out->n_runs + 1);
    out->runs[out->n_runs++] = (struct jinja_run){ from, to, origin };
}

static void give_output(const struct jj_out *o, struct jinja_output *out)
{
    buf_add(&out->text, o->p ? o->p : "", o->n);
    for (size_t from = 0, to; from < o->n; from = to) {
        uint8_t origin = o->map ? o->map[from] : o->origin;
        for (to = o->map ? from + 1 : o->n; to < o->n && o->map[to] == origin; to++)
            ;
        add_run(out, from, to, origin);
    }
}

static void set_limits(struct jj *jj, const struct jinja_limits *l, struct tm *now)
{
    static const struct jinja_limits none;

    if (!l)
        l = &none;
    jj->steps = l->steps ? l->steps : RENDER_STEPS;
    jj->memory = l->memory ? l->memory : RENDER_MEMORY;
    jj->output = l->output ? l->output : RENDER_OUTPUT;
    jj->max_depth = l->depth ? l->depth : RENDER_DEPTH;
    if (l->now) {
        *now = *l->now;
    } else {
        time_t t = time(NULL);
        localtime_r(&t, now);
    }
    jj->now = now;
}

/* All that changes between setjmp() and the jump. */
struct rendering {
    struct jj jj;
    struct jj_out out;
    struct tm now;
};

static bool render(struct rendering *r, const json_t *context)
{
    struct jj *jj = &r->jj;

    if (setjmp(jj->exit))
        return false;
    jj_out_init(&r->out, jj);
    r->out.limit = jj->output;
    jj->out = &r->out;
    jj_context_load(jj, context);
    jj_exec(jj, &jj->tmpl->body);
    return true;
}

bool jinja_render(const struct jinja *j, const json_t *context,
                  const struct jinja_limits *limits, struct jinja_output *out,
                  struct err *e)
{
    struct rendering *r = xcalloc(1, sizeof *r);

    buf_reset(&out->text);
    out->n_runs = 0;
    r->jj.tmpl = j;
    r->jj.e = e;
    r->jj.line = 1;
    set_limits(&r->jj, limits, &r->now);

    bool ok = render(r, context);
    if (ok)
        give_output(&r->out, out);
    jj_release(&r->jj);
    free(r);
    return ok;
}
