/* `vitrine devices`: the CPU and its features, and the GPUs that the machine has. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/err.h"
#include "base/mem.h"
#include "cmd.h"
#include "cmd_text.h"

enum { DEVICES_MAX = 64 };

static void print_json(const struct be_device *v, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_pack("{s:s}", "kind", v[i].kind);
        cmd_json_bytes(o, "name", "name_bytes", v[i].name, strlen(v[i].name));
        cmd_json_bytes(o, "detail", "detail_bytes", v[i].detail, strlen(v[i].detail));
        json_object_set_new(o, "usable", json_boolean(v[i].usable));
        cmd_json_bytes(o, "why", "why_bytes", v[i].why, strlen(v[i].why));
        json_array_append_new(list, o);
    }
    cmd_json_print(list);
}

static void print_text(const struct be_device *v, size_t n)
{
    struct cmd_columns c = { .width = 2, .align = "ll" };

    for (size_t i = 0; i < n; i++) {
        cmd_cellf(&c, "%s", v[i].kind);
        cmd_cell(&c, v[i].name, strlen(v[i].name));
        cmd_cellf(&c, "%s", "");
        cmd_cell(&c, v[i].detail, strlen(v[i].detail));
        cmd_cellf(&c, "%s", "");
        cmd_cellf(&c, "%s: %s", v[i].usable ? "used" : "not used", v[i].why);
    }
    cmd_columns_print(&c);
}

int cmd_devices(struct cmd_call *c)
{
    if (!cmd_at_most(c, 0))
        return ERR_USAGE;

    struct be_device *v = xcalloc(DEVICES_MAX, sizeof *v);
    size_t n = be_devices(v, DEVICES_MAX);
    if (c->set.json)
        print_json(v, n);
    else
        print_text(v, n);
    free(v);
    return CMD_OK;
}
