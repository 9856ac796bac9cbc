/* `vitrine sessions`: what was said. A session is readable without its model. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/utf8.h"
#include "chat/conversation.h"
#include "chat/session.h"
#include "cmd.h"
#include "cmd_text.h"

/* ---- list ---- */

static void list_json(const struct chat_session_list *l)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n; i++) {
        const struct chat_session_entry *s = &l->v[i];
        json_t *o = json_object();
        cmd_json_bytes(o, "id", "id_bytes", s->id, strlen(s->id));
        cmd_json_bytes(o, "path", "path_bytes", s->path, strlen(s->path));
        cmd_json_bytes(o, "model", "model_bytes", s->model, strlen(s->model));
        cmd_json_bytes(o, "title", "title_bytes", s->title, strlen(s->title));
        cmd_json_bytes(o, "created", "created_bytes", s->created, strlen(s->created));
        json_object_set_new(o, "messages", json_integer((json_int_t)s->messages));
        json_object_set_new(o, "bytes", json_integer((json_int_t)s->bytes));
        json_array_append_new(list, o);
    }
    cmd_json_print(list);
}

static void list_text(const struct chat_session_list *l)
{
    struct cmd_columns c = { .width = 5, .align = "lrrll" };
    static const char *const heads[] = { "session", "messages", "size", "model",
                                         "begins with" };

    if (!l->n)
        return;
    for (size_t k = 0; k < 5; k++)
        cmd_cellf(&c, "%s", heads[k]);
    for (size_t i = 0; i < l->n; i++) {
        const struct chat_session_entry *s = &l->v[i];
        struct buf size = {0};
        cmd_add_size(&size, s->bytes);
        cmd_cell(&c, s->id, strlen(s->id));
        cmd_cellf(&c, "%zu", s->messages);
        cmd_cellf(&c, "%s", size.p);
        cmd_cell_cut(&c, s->model, strlen(s->model), 24);
        cmd_cell_cut(&c, s->title, strlen(s->title), 40);
        buf_release(&size);
    }
    cmd_columns_print(&c);
}

static int list(struct cmd_call *c)
{
    struct chat_session_list l = {0};
    struct err e = {0};
    int status = CMD_OK;

    if (!cmd_at_most(c, 1))
        return ERR_USAGE;
    if (!chat_session_list(&l, &e))
        status = cmd_fail(c, &e);
    else if (c->set.json)
        list_json(&l);
    else
        list_text(&l);
    chat_session_list_release(&l);
    return status;
}

/* ---- show ---- */

/* A session as text: roles as words, thinking marked by a bar (and dim where colour is
 * allowed), an answer that did not end by itself with the reason. */
struct show {
    bool color;
};

static void show_text(const struct buf *text, const char *before)
{
    struct buf shown = {0};

    utf8_visible(&shown, buf_str(text), text->n, UTF8_LINES);
    for (const char *p = buf_str(&shown); *p;) {
        size_t n = strcspn(p, "\n");
        printf("%s%.*s\n", before, (int)n, p);
        p += n + (p[n] == '\n');
    }
    buf_release(&shown);
}

static bool ended_by_itself(enum chat_stop why)
{
    return why == CHAT_STOP_EOS || why == CHAT_STOP_END_OF_TURN ||
           why == CHAT_STOP_STRING;
}

static void show_message(const struct show *s, const struct chat_conv_message *m,
                         bool first)
{
    const char *name = chat_role_name(m->role);

    printf("%s%s%s%s:\n", first ? "" : "\n", s->color ? "\033[1m" : "", name,
           s->color ? "\033[0m" : "");
    if (m->think.n) {
        fputs(s->color ? "\033[2m" : "", stdout);
        show_text(&m->think, "| ");
        fputs(s->color ? "\033[0m" : "", stdout);
    }
    show_text(&m->text, "");
    if (m->role == CHAT_ROLE_ASSISTANT && !m->stopped)
        printf("[cut: the program ended here]\n");
    else if (m->role == CHAT_ROLE_ASSISTANT && !ended_by_itself(m->why))
        printf("[cut: %s]\n", chat_stop_name(m->why));
}

static void show_as_text(const struct show *s, const struct chat_events *events)
{
    struct chat_conv conv;
    int *path;

    chat_conv_init(&conv);
    for (size_t i = 0; i < events->n; i++)
        chat_conv_apply(&conv, &events->v[i]);
    size_t n = chat_conv_path(&conv, conv.head, &path);
    for (size_t i = 0; i < n; i++)
        show_message(s, chat_conv_find(&conv, path[i]), i == 0);
    if (n < conv.n)
        printf("\n[%zu messages on other branches are not shown; --json has them]\n",
               conv.n - n);
    free(path);
    chat_conv_release(&conv);
}

/* The events as they stand in the file, exactly. */
static void show_as_json(const struct chat_events *events)
{
    struct buf line = {0};

    for (size_t i = 0; i < events->n && !ferror(stdout); i++) {
        buf_reset(&line);
        chat_event_dump(&events->v[i], &line);
        fwrite(buf_str(&line), 1, line.n, stdout);
    }
    buf_release(&line);
}

static int show(struct cmd_call *c)
{
    struct show s = { .color = cmd_color(&c->set) };
    struct chat_events events = {0};
    struct buf path = {0}, notes = {0};
    struct err e = {0};
    int status = CMD_OK;

    if (c->n_args < 2)
        return cmd_usage(
            c, "show which session? ('vitrine sessions list'; last is the newest)");
    if (!cmd_at_most(c, 2))
        return ERR_USAGE;
    if (!chat_session_find(c->args[1], &path, &e) ||
        !chat_session_read(path.p, &events, &notes, &e))
        status = cmd_fail(c, &e);
    else if (c->set.json)
        show_as_json(&events);
    else
        show_as_text(&s, &events);
    cmd_notes(&notes);
    chat_events_release(&events);
    buf_release(&path);
    buf_release(&notes);
    return status;
}

int cmd_sessions(struct cmd_call *c)
{
    if (!c->n_args || !strcmp(c->args[0], "list"))
        return list(c);
    if (!strcmp(c->args[0], "show"))
        return show(c);
    return cmd_usage(c, "unknown: sessions %s; there are list and show", c->args[0]);
}
