/* Reading sessions back: one file into events, the directory into a list. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/session.h"

enum { CHAT_LINE_MAX = 256 << 20 };     /* a longer line is no event of ours */

/* Calls f for every line of the file; whole is false for a last line without its newline.
 * f returns false to stop. */
typedef bool chat_line_fn(void *arg, const char *line, size_t n, size_t number, bool whole);

static bool chat_for_lines(const char *path, chat_line_fn *f, void *arg, struct err *e)
{
    struct stat st;
    FILE *in = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;

    if (!in)
        return err_set(e, "cannot read the session %s: %s", path, strerror(errno));
    if (fstat(fileno(in), &st) == 0 && S_ISDIR(st.st_mode)) {
        fclose(in);
        return err_set(e, "cannot read the session %s: it is a directory", path);
    }
    while ((n = getline(&line, &cap, in)) > 0) {
        bool whole = line[n - 1] == '\n';
        if (n > CHAT_LINE_MAX || !f(arg, line, (size_t)n - whole, ++number, whole))
            break;
    }
    bool ok = !ferror(in) ||
              err_set(e, "cannot read the session %s: %s", path, strerror(errno));
    free(line);
    fclose(in);
    return ok;
}

struct chat_reading {
    struct chat_events *out;
    struct buf *notes;
    size_t unknown;
    bool first_bad;         /* the first line is no event: this is no session */
    struct err err;
};

static void chat_read_note(struct chat_reading *r, const char *text, size_t number)
{
    if (r->notes)
        buf_addf(r->notes, "line %zu: %s\n", number, text);
}

static bool chat_read_line(void *arg, const char *line, size_t n, size_t number, bool whole)
{
    struct chat_reading *r = arg;
    struct chat_event ev;
    struct err e = {0};
    json_error_t je;
    json_t *j = json_loadb(line, n, JSON_ALLOW_NUL, &je);

    if (n == 0 || (!j && !whole)) {
        if (n)
            chat_read_note(r, "the last line is torn and was dropped", number);
        json_decref(j);
        return true;
    }
    if (!j) {
        r->first_bad |= number == 1;
        struct buf text = {0};
        buf_addf(&text, "not JSON (%s); skipped", je.text);
        chat_read_note(r, text.p, number);
        buf_release(&text);
    } else if (chat_event_from_json(j, &ev, &e)) {
        chat_events_add(r->out, &ev);
    } else if (e.kind == ERR_NONE) {
        r->unknown++;
    } else {
        r->first_bad |= number == 1;
        chat_read_note(r, e.text, number);
    }
    json_decref(j);
    return !r->first_bad;
}

bool chat_session_read(const char *path, struct chat_events *out, struct buf *notes,
                       struct err *e)
{
    struct chat_reading r = { .out = out, .notes = notes };

    if (!chat_for_lines(path, chat_read_line, &r, e))
        return false;
    if (r.first_bad || out->n == 0 || out->v[0].type != CHAT_EV_SESSION)
        return err_set(e, "%s is not a vitrine session: its first line is no session event",
                       path);
    if (r.unknown && notes)
        buf_addf(notes, "%zu events of kinds that this version does not know were skipped\n",
                 r.unknown);
    return true;
}

/* ---- finding and listing ---- */

static int chat_session_filter(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 6 && d->d_name[0] != '.' && !strcmp(d->d_name + n - 6, ".jsonl");
}

static int chat_session_newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

/* The names in the sessions directory, newest first; 0 when there is none. */
static int chat_session_scan(struct buf *dir, struct dirent ***names, struct err *e)
{
    *names = NULL;
    if (!path_xdg(dir, PATH_DATA, "sessions", e))
        return -1;
    int n = scandir(dir->p, names, chat_session_filter, chat_session_newest_first);
    if (n < 0 && errno != ENOENT) {
        err_set(e, "cannot list %s: %s", dir->p, strerror(errno));
        return -1;
    }
    return n < 0 ? 0 : n;
}

static void chat_session_scan_free(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

bool chat_session_find(const char *name, struct buf *path, struct err *e)
{
    struct buf dir = {0};
    struct dirent **names;
    struct stat st;
    int found = -1, hits = 0;

    if (strchr(name, '/') || (stat(name, &st) == 0 && S_ISREG(st.st_mode))) {
        buf_adds(path, name);
        return stat(name, &st) == 0 ||
               err_set(e, "cannot read the session %s: %s", name, strerror(errno));
    }
    int n = chat_session_scan(&dir, &names, e);
    if (n < 0) {
        buf_release(&dir);
        return false;
    }
    for (int i = 0; i < n; i++) {
        const char *base = names[i]->d_name;
        size_t len = strlen(base) - 6;
        if (!strcmp(name, "last")) {
            found = i;
            hits = 1;
            break;
        }
        if (strncmp(base, name, strlen(name)))
            continue;
        found = i;
        hits++;
        if (len == strlen(name)) {
            hits = 1;
            break;
        }
    }
    bool ok = hits == 1;
    if (ok)
        buf_addf(path, "%s/%s", dir.p, names[found]->d_name);
    else if (hits > 1)
        err_set(e, "%d sessions begin with %s; give more of the id (see 'vitrine sessions "
                   "list')", hits, name);
    else
        err_set(e, "no session %s in %s (see 'vitrine sessions list')", name, dir.p);
    chat_session_scan_free(names, n);
    buf_release(&dir);
    return ok;
}

static bool chat_starts(const char *line, size_t n, const char *with)
{
    return n > strlen(with) && !strncmp(line, with, strlen(with));
}

/* Only the lines that a list needs are parsed: tokens make up nearly all of a file. */
static bool chat_list_line(void *arg, const char *line, size_t n, size_t number, bool whole)
{
    struct chat_session_entry *entry = arg;
    bool session = chat_starts(line, n, "{\"type\":\"session\"");
    bool message = chat_starts(line, n, "{\"type\":\"message\"");
    struct chat_event ev;

    (void)number;
    (void)whole;
    if (!session && !message)
        return true;
    json_t *j = json_loadb(line, n, JSON_ALLOW_NUL, NULL);
    if (j && chat_event_from_json(j, &ev, NULL)) {
        if (session && !entry->created) {
            const char *s = json_string_value(json_object_get(j, "created"));
            entry->created = xstrdup(s ? s : "");
        }
        if (session) {
            const char *s = json_string_value(
                json_object_get(json_object_get(j, "model"), "name"));
            free(entry->model);
            entry->model = xstrdup(s ? s : "");
        }
        entry->messages += message;
        if (message && ev.msg.role == CHAT_ROLE_USER && !entry->title) {
            size_t first = strcspn(ev.msg.text, "\n");
            entry->title = xmemdup0(ev.msg.text, first);
        }
        chat_event_release(&ev);
    }
    json_decref(j);
    return true;
}

bool chat_session_list(struct chat_session_list *out, struct err *e)
{
    struct buf dir = {0};
    struct dirent **names;
    int n = chat_session_scan(&dir, &names, e);

    for (int i = 0; i < n; i++) {
        struct buf path = {0};
        struct stat st;
        struct chat_session_entry entry = {0};

        buf_addf(&path, "%s/%s", dir.p, names[i]->d_name);
        if (stat(path.p, &st) == 0 && S_ISREG(st.st_mode)) {
            entry.bytes = (uint64_t)st.st_size;
            chat_for_lines(path.p, chat_list_line, &entry, NULL);
            entry.id = xmemdup0(names[i]->d_name, strlen(names[i]->d_name) - 6);
            entry.path = xstrdup(path.p);
            if (!entry.created)
                entry.created = xstrdup("");
            if (!entry.model)
                entry.model = xstrdup("");
            if (!entry.title)
                entry.title = xstrdup("");
            MEM_GROW(out->v, out->cap, out->n + 1);
            out->v[out->n++] = entry;
        }
        buf_release(&path);
    }
    if (n >= 0)
        chat_session_scan_free(names, n);
    buf_release(&dir);
    return n >= 0;
}

void chat_session_list_release(struct chat_session_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].id);
        free(l->v[i].path);
        free(l->v[i].model);
        free(l->v[i].title);
        free(l->v[i].created);
    }
    free(l->v);
    *l = (struct chat_session_list){0};
}
