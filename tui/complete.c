/* Completion of slash commands: the command's name, then what its row in the table
 * says. */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/options.h"
#include "tui/commands.h"

/* The text being completed and where candidates go. */
struct job {
    struct tui_completion *out;
    const char *word;           /* (len) what is typed of it */
    size_t len;
};

static void offer(struct job *j, const char *text, size_t n)
{
    struct tui_completion *c = j->out;

    if (n < j->len || memcmp(text, j->word, j->len))
        return;
    MEM_GROW(c->v, c->cap, c->n + 1);
    c->v[c->n++] = xmemdup0(text, n);
}

static void offer_commands(struct job *j)
{
    for (size_t i = 0; i < tui_command_count(); i++)
        if (tui_command_at(i)->help)
            offer(j, tui_command_at(i)->name, strlen(tui_command_at(i)->name));
}

static void offer_options(struct job *j, bool live)
{
    for (size_t i = 0; i < chat_options_count(); i++)
        if (chat_options[i].commands & CHAT_CMD_CHAT && (chat_options[i].live || !live))
            offer(j, chat_options[i].name, strlen(chat_options[i].name));
}

static void offer_values(struct job *j, const char *option, size_t len)
{
    const struct chat_option *o = chat_option_find(option, len);
    const char *p = !o                            ? NULL
                    : o->type == CHAT_OPT_CHOICE  ? o->choices
                    : o->type == CHAT_OPT_FLAG    ? "on|off"
                                                  : NULL;
    while (p && *p) {
        size_t n = strcspn(p, "|");
        offer(j, p, n);
        p += n + (p[n] == '|');
    }
}

/* Files that go on from what is typed. Hidden ones only for a dot; directories get a
 * slash. */
static void offer_files(struct job *j)
{
    const char *slash = j->len ? memrchr(j->word, '/', j->len) : NULL;
    size_t dir_len = slash ? (size_t)(slash - j->word) + 1 : 0;
    const char *base = j->word + dir_len;
    size_t base_len = j->len - dir_len;
    struct buf dir = {0}, name = {0};
    const char *home = getenv("HOME");

    if (dir_len >= 2 && j->word[0] == '~' && j->word[1] == '/' && home) {
        buf_adds(&dir, home);
        buf_add(&dir, j->word + 1, dir_len - 1);
    } else if (dir_len) {
        buf_add(&dir, j->word, dir_len);
    } else {
        buf_adds(&dir, "./");
    }
    DIR *d = opendir(dir.p);
    for (struct dirent *de; d && (de = readdir(d));) {
        struct stat st;
        size_t n = strlen(de->d_name);
        if (n < base_len || memcmp(de->d_name, base, base_len) ||
            (de->d_name[0] == '.' && !base_len) || !strcmp(de->d_name, ".") ||
            !strcmp(de->d_name, ".."))
            continue;
        buf_reset(&name);
        buf_add(&name, dir.p, dir.n);
        buf_adds(&name, de->d_name);
        bool folder = stat(name.p, &st) == 0 && S_ISDIR(st.st_mode);
        buf_reset(&name);
        buf_add(&name, j->word, dir_len);
        buf_adds(&name, de->d_name);
        if (folder)
            buf_addc(&name, '/');
        offer(j, name.p, name.n);
    }
    if (d)
        closedir(d);
    buf_release(&dir);
    buf_release(&name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* rest (len) is what stands between the command's name and the cursor. */
static void complete_args(struct job *j, enum tui_complete_kind kind, const char *line,
                          size_t from, size_t point)
{
    size_t word = point;

    while (word > from && line[word - 1] != ' ')
        word--;
    if (kind == TUI_COMPLETE_FILE)
        word = from;                    /* a name may hold blanks */
    j->word = line + word;
    j->len = point - word;
    j->out->from = word;
    j->out->after = kind == TUI_COMPLETE_FILE ? "" : " ";
    if (kind == TUI_COMPLETE_FILE) {
        offer_files(j);
    } else if (kind == TUI_COMPLETE_TOPIC && word == from) {
        offer_commands(j);
        offer_options(j, false);
    } else if (kind == TUI_COMPLETE_OPTION && word == from) {
        offer_options(j, true);
    } else if (kind == TUI_COMPLETE_OPTION) {
        size_t len = 0;
        while (from + len < word && line[from + len] != ' ')
            len++;
        if (from + len + strspn(line + from + len, " ") == word)
            offer_values(j, line + from, len);
        j->out->after = "";
    }
}

void tui_complete(const char *line, size_t point, struct tui_completion *out)
{
    struct job j = { .out = out };
    size_t name = 1;

    *out = (struct tui_completion){ .from = point, .after = "" };
    if (!point || !tui_line_is_command(line, point) || memchr(line, '\n', point))
        return;
    while (name < point && line[name] != ' ')
        name++;
    if (name == point) {
        j.word = line + 1;
        j.len = point - 1;
        out->from = 1;
        out->after = " ";
        offer_commands(&j);
    } else {
        size_t from = name;
        while (from < point && line[from] == ' ')
            from++;
        for (size_t i = 0; i < tui_command_count(); i++) {
            const struct tui_command *c = tui_command_at(i);
            if (strlen(c->name) == name - 1 && !memcmp(c->name, line + 1, name - 1))
                complete_args(&j, c->complete, line, from, point);
        }
    }
    if (out->n > 1)
        qsort(out->v, out->n, sizeof *out->v, by_text);
}

void tui_completion_release(struct tui_completion *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->v[i]);
    free(c->v);
    *c = (struct tui_completion){0};
}

size_t tui_completion_common(const struct tui_completion *c)
{
    size_t n = c->n ? strlen(c->v[0]) : 0;

    for (size_t i = 1; i < c->n; i++) {
        size_t k = 0;
        while (k < n && c->v[i][k] == c->v[0][k])
            k++;
        n = k;
    }
    return n ? utf8_complete(c->v[0], n) : 0;
}
