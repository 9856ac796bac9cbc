/* `vitrine doctor MODEL`: the lines of all subjects, and the verdict. */
#include "config.h"

#include "cmd_doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_text.h"

static const char *const states[] = {
    [DOCTOR_OK] = "ok",
    [DOCTOR_WARNING] = "warning",
    [DOCTOR_BAD] = "bad",
};

struct buf *doctor_add(struct doctor *d, enum doctor_state state, const char *what)
{
    MEM_GROW(d->v, d->cap, d->n + 1);
    d->v[d->n] = (struct doctor_line){ .state = state, .what = what };
    return &d->v[d->n++].text;
}

void doctor_addf(struct doctor *d, enum doctor_state state, const char *what,
                 const char *fmt, ...)
{
    struct buf b = {0}, *out = doctor_add(d, state, what);
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&b, fmt, ap);
    va_end(ap);
    cmd_add_shown(out, buf_str(&b), b.n);
    buf_release(&b);
}

static enum doctor_state doctor_worst(const struct doctor *d)
{
    enum doctor_state worst = DOCTOR_OK;

    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].state > worst)
            worst = d->v[i].state;
    return worst;
}

static void print_json(const struct doctor *d)
{
    json_t *list = json_array();

    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "what", d->v[i].what,
                                              "state", states[d->v[i].state], "text",
                                              buf_str(&d->v[i].text)));
    cmd_json_print(json_pack("{s:s, s:o}", "state", states[doctor_worst(d)], "checks",
                             list));
}

static void print_text(const struct doctor *d)
{
    struct cmd_columns c = { .width = 3, .align = "lll" };

    for (size_t i = 0; i < d->n; i++) {
        cmd_cellf(&c, "%s", states[d->v[i].state]);
        cmd_cellf(&c, "%s", d->v[i].what);
        cmd_cell(&c, buf_str(&d->v[i].text), d->v[i].text.n);
    }
    cmd_columns_print(&c);
}

int cmd_doctor(struct cmd_call *c)
{
    struct doctor d = { .pre = c->set.pre };
    struct err e = {0};

    if (!cmd_at_most(c, 1) || !cmd_model_operand(c))
        return ERR_USAGE;
    struct chat_model *m = chat_model_open(&c->set, CHAT_MODEL_VOCAB, NULL, &e);
    if (!m)
        return cmd_fail(c, &e);
    d.m = m;
    doctor_tokenizer(&d);
    if (chat_model_choose_template(m, &c->set, &e))
        doctor_template(&d);
    else
        doctor_addf(&d, DOCTOR_WARNING, "template", "%s", e.text);
    if (c->set.json)
        print_json(&d);
    else
        print_text(&d);
    enum doctor_state worst = doctor_worst(&d);
    for (size_t i = 0; i < d.n; i++)
        buf_release(&d.v[i].text);
    free(d.v);
    chat_model_free(m);
    return worst == DOCTOR_BAD ? ERR_FAILED : CMD_OK;
}
