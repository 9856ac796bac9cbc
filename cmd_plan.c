/* `vitrine plan`: what a model needs in memory, before anything is loaded. The numbers
 * are those that the allocator uses (backend/backend.h). */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_text.h"

/* Weights are mapped: they need not be in memory all at once. The rest must be. */
static bool fits(const struct be_plan *p)
{
    return p->kv + p->scratch <= p->room;
}

static void print_json(const struct chat_model *m, const struct be_plan *p,
                       uint64_t total)
{
    const struct be_info *info = be_info(m->be);
    const char *name = chat_model_name(m);
    json_t *o = json_object();

    if (m->path)
        cmd_json_bytes(o, "path", "path_bytes", m->path, strlen(m->path));
    cmd_json_bytes(o, "name", "name_bytes", name, strlen(name));
    json_object_set_new(o, "device", json_string(info->device));
    json_object_set_new(o, "why_device", json_string(info->why_device));
    json_object_set_new(o, "weights", json_integer((json_int_t)p->weights));
    json_object_set_new(o, "kv", json_integer((json_int_t)p->kv));
    json_object_set_new(o, "kv_per_position",
                        json_integer((json_int_t)p->kv_per_position));
    json_object_set_new(o, "kv_type", json_string(p->kv_type));
    json_object_set_new(o, "scratch", json_integer((json_int_t)p->scratch));
    json_object_set_new(o, "total", json_integer((json_int_t)total));
    json_object_set_new(o, "free_memory", json_integer((json_int_t)p->free_memory));
    json_object_set_new(o, "room", json_integer((json_int_t)p->room));
    json_object_set_new(o, "fits", json_boolean(fits(p)));
    json_object_set_new(o, "ctx", json_integer(p->ctx));
    json_object_set_new(o, "why_ctx", json_string(info->why_ctx));
    json_object_set_new(o, "ctx_max", json_integer(p->ctx_max));
    json_object_set_new(o, "ctx_train", json_integer(info->ctx_train));
    cmd_json_print(o);
}

static void add_row(struct cmd_columns *c, const char *what, uint64_t bytes,
                    const char *note)
{
    struct buf size = {0};

    cmd_add_size(&size, bytes);
    cmd_cellf(c, "%s", what);
    cmd_cellf(c, "%s", size.p);
    cmd_cellf(c, "%s", note);
    buf_release(&size);
}

static void print_text(const struct chat_model *m, const struct be_plan *p,
                       uint64_t total)
{
    const struct be_info *info = be_info(m->be);
    struct cmd_columns head = { .width = 2, .align = "ll" };
    struct cmd_columns sizes = { .width = 3, .align = "lrl" };
    struct buf kv = {0};

    cmd_cellf(&head, "model");
    cmd_cellf(&head, "%s, %s %s", chat_model_name(m), info->arch, info->quant);
    cmd_cellf(&head, "device");
    cmd_cellf(&head, "%s: %s", info->device, info->why_device);
    cmd_cellf(&head, "context");
    cmd_cellf(&head, "%" PRIu32 " positions: %s", p->ctx, info->why_ctx);
    cmd_cellf(&head, "at most");
    cmd_cellf(&head, "%" PRIu32 " positions fit; the model was trained with %" PRIu32,
              p->ctx_max, info->ctx_train);
    cmd_columns_print(&head);
    putchar('\n');

    add_row(&sizes, "weights", p->weights, "mapped from the file");
    buf_addf(&kv, "%" PRIu32 " positions of ", p->ctx);
    cmd_add_size(&kv, p->kv_per_position);
    buf_addf(&kv, ", %s", p->kv_type);
    add_row(&sizes, "cache", p->kv, kv.p);
    add_row(&sizes, "scratch", p->scratch, "activations, scores and logits");
    add_row(&sizes, "total", total, "");
    add_row(&sizes, "room", p->room,
            fits(p) ? "for cache and scratch: they fit"
                    : "for cache and scratch: they do not fit");
    add_row(&sizes, "free", p->free_memory, "memory of this machine now");
    cmd_columns_print(&sizes);
    buf_release(&kv);
}

int cmd_plan(struct cmd_call *c)
{
    struct err e = {0};
    struct be_plan plan;

    if (!cmd_at_most(c, 1) || !cmd_model_operand(c))
        return ERR_USAGE;
    struct chat_model *m = chat_model_open(&c->set, CHAT_MODEL_PROBE, cmd_cancel(), &e);
    if (!m)
        return cmd_fail(c, &e);
    be_plan(m->be, &plan);
    uint64_t total = plan.weights + plan.kv + plan.scratch;
    if (c->set.json)
        print_json(m, &plan, total);
    else
        print_text(m, &plan, total);
    chat_model_free(m);
    return CMD_OK;
}
