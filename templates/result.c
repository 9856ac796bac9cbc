/* What a stream says: runs and calls. */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "templates/internal.h"

static void call_release(struct tmpl_call *c)
{
    free(c->id);
    free(c->name);
    free(c->arguments);
    free(c->raw);
    free(c->error);
    free(c->block);
}

void tmpl_result_run(struct tmpl_result *r, enum tmpl_channel channel, uint64_t from,
                     uint64_t to)
{
    struct tmpl_run *last = r->n_runs ? &r->runs[r->n_runs - 1] : NULL;

    if (last && last->channel == channel && last->to == from) {
        last->to = to;
        return;
    }
    MEM_GROW(r->runs, r->cap_runs, r->n_runs + 1);
    r->runs[r->n_runs++] = (struct tmpl_run){ channel, from, to };
}

void tmpl_result_reset(struct tmpl_result *r)
{
    for (size_t i = 0; i < r->n_calls; i++)
        call_release(&r->calls[i]);
    r->n_calls = 0;
    r->n_runs = 0;
}

void tmpl_result_release(struct tmpl_result *r)
{
    tmpl_result_reset(r);
    free(r->runs);
    free(r->calls);
    *r = (struct tmpl_result){0};
}
