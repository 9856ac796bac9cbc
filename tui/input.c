/* Readline edits, and nothing else: it neither reads the terminal nor writes to it nor
 * knows a signal. Keys come from keys.c as whole sequences and are put in a queue that
 * rl_getc_function empties; so readline's key timeouts never matter and its bindings,
 * also those of the user's inputrc, work unchanged. Drawing reads rl_line_buffer,
 * rl_point and rl_display_prompt.
 *
 * Some of readline's commands know characters but not clusters, and one long line but
 * not several. A key bound to one of them is given to a command of ours instead. That
 * happens by feeding readline a key sequence of our own, OURS and a letter, rather
 * than by calling the function: so undo groups, the kill ring and numeric arguments
 * stay right.
 *
 * The history is ours (history.h); readline's list is a copy of it for its searches. */
#include "config.h"

#include "tui/input.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "tui/edit.h"
#include "tui/history.h"
#include "tui/keys.h"

#define OURS "\x1c"

static struct buf queue;            /* bytes for readline */
static size_t queue_at;
static struct buf pending;          /* text for insert and set */
static size_t pending_from;
static struct tui_history history;
static enum tui_charset charset;
static enum tui_action wanted;      /* what a key asks the front end for */
static bool raw_next;               /* the next key is an argument: quoted-insert */
static bool moved;                  /* up or down found a line */
static int goal = -1;               /* the column that up and down aim for */
static FILE *nowhere;

/* ---- our commands ---- */

static int in_text(size_t at)
{
    return (int)at;
}

static size_t point(void)
{
    return (size_t)rl_point;
}

static size_t end(void)
{
    return (size_t)rl_end;
}

static int do_right(int count, int key)
{
    (void)key;
    for (; count > 0; count--)
        rl_point = in_text(tui_edit_right(rl_line_buffer, end(), point()));
    for (; count < 0; count++)
        rl_point = in_text(tui_edit_left(rl_line_buffer, point()));
    return 0;
}

static int do_left(int count, int key)
{
    return do_right(-count, key);
}

static int do_delete(int count, int key)
{
    int from = rl_point;

    do_right(count, key);
    if (rl_point > from)
        rl_delete_text(from, rl_point), rl_point = from;
    else
        rl_delete_text(rl_point, from);
    return 0;
}

static int do_rubout(int count, int key)
{
    return do_delete(-count, key);
}

static int do_line_start(int count, int key)
{
    (void)count, (void)key;
    rl_point = in_text(tui_edit_line_start(rl_line_buffer, point()));
    return 0;
}

static int do_line_end(int count, int key)
{
    (void)count, (void)key;
    rl_point = in_text(tui_edit_line_end(rl_line_buffer, end(), point()));
    return 0;
}

/* At the end of a line its newline is cut, so that repeating goes on. */
static int do_kill_line(int count, int key)
{
    size_t to = tui_edit_line_end(rl_line_buffer, end(), point());

    (void)count, (void)key;
    if (to == point() && to < end())
        to++;
    return rl_kill_text(rl_point, in_text(to));
}

static int do_discard(int count, int key)
{
    int at = rl_point;
    size_t from = tui_edit_line_start(rl_line_buffer, point());

    (void)count, (void)key;
    if (from == point() && from > 0)
        from--;
    rl_point = in_text(from);
    return rl_kill_text(at, in_text(from));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static int do_word_rubout(int count, int key)
{
    int at = rl_point;
    size_t p = point();

    (void)key;
    for (; count > 0; count--) {
        while (p > 0 && is_blank(rl_line_buffer[p - 1]))
            p--;
        while (p > 0 && !is_blank(rl_line_buffer[p - 1]))
            p--;
    }
    rl_point = in_text(p);
    return rl_kill_text(at, in_text(p));
}

static int do_line_up(int count, int key)
{
    (void)count, (void)key;
    if (goal < 0)
        goal = tui_edit_column(rl_line_buffer, point(), charset);
    size_t to = tui_edit_up(rl_line_buffer, point(), goal, charset);
    moved = tui_edit_line_start(rl_line_buffer, point()) > 0;
    rl_point = in_text(to);
    return 0;
}

static int do_line_down(int count, int key)
{
    (void)count, (void)key;
    if (goal < 0)
        goal = tui_edit_column(rl_line_buffer, point(), charset);
    size_t to = tui_edit_down(rl_line_buffer, end(), point(), goal, charset);
    moved = tui_edit_line_end(rl_line_buffer, end(), point()) < end();
    rl_point = in_text(to);
    return 0;
}

static int do_insert(int count, int key)
{
    (void)count, (void)key;
    rl_begin_undo_group();
    if (pending_from < point())
        rl_delete_text((int)pending_from, rl_point), rl_point = (int)pending_from;
    rl_insert_text(buf_str(&pending));
    rl_end_undo_group();
    return 0;
}

static int do_set(int count, int key)
{
    (void)count, (void)key;
    rl_replace_line(buf_str(&pending), 1);
    rl_point = rl_end;
    return 0;
}

static int do_external(int count, int key)
{
    (void)count, (void)key;
    wanted = TUI_ACT_EXTERNAL;
    return 0;
}

/* Readline's command, and the letter of ours that takes its place. */
static const struct {
    char letter;
    rl_command_func_t *ours;
    rl_command_func_t *theirs[3];
} replacements[] = {
    { 'f', do_right, { rl_forward_char, rl_forward } },
    { 'b', do_left, { rl_backward_char, rl_backward } },
    { 'd', do_delete, { rl_delete, rl_delete_or_show_completions } },
    { 'h', do_rubout, { rl_rubout } },
    { 'a', do_line_start, { rl_beg_of_line } },
    { 'e', do_line_end, { rl_end_of_line } },
    { 'k', do_kill_line, { rl_kill_line } },
    { 'u', do_discard, { rl_unix_line_discard, rl_backward_kill_line } },
    { 'w', do_word_rubout, { rl_unix_word_rubout } },
    { 'p', do_line_up, { NULL } },
    { 'n', do_line_down, { NULL } },
    { 'i', do_insert, { NULL } },
    { 's', do_set, { NULL } },
};
enum { REPLACEMENTS = sizeof replacements / sizeof *replacements };

/* Readline's commands that are the front end's to do. */
static const struct {
    rl_command_func_t *theirs;
    enum tui_action action;
} actions[] = {
    { rl_newline, TUI_ACT_SEND },
    { rl_complete, TUI_ACT_COMPLETE },
    { rl_possible_completions, TUI_ACT_COMPLETE },
    { rl_insert_completions, TUI_ACT_COMPLETE },
    { rl_menu_complete, TUI_ACT_COMPLETE },
    { rl_get_previous_history, TUI_ACT_UP },
    { rl_get_next_history, TUI_ACT_DOWN },
    { rl_beginning_of_history, TUI_ACT_HISTORY_FIRST },
    { rl_end_of_history, TUI_ACT_HISTORY_LAST },
    { rl_clear_screen, TUI_ACT_REDRAW },
    { rl_clear_display, TUI_ACT_REDRAW },
};

/* ---- readline's world ---- */

static int next_byte(FILE *stream)
{
    (void)stream;
    return queue_at < queue.n ? (unsigned char)queue.p[queue_at++] : EOF;
}

static int has_bytes(void)
{
    return queue_at < queue.n;
}

static void no_redisplay(void)
{
}

static void no_prep(int meta)
{
    (void)meta;
}

/* A line comes here only when the user bound a key to some command that accepts it. */
static void on_line(char *line)
{
    if (!line)
        return;
    rl_replace_line(line, 1);
    rl_point = rl_end;
    free(line);
    wanted = TUI_ACT_SEND;
}

static bool in_sequence(void)
{
    return raw_next || rl_readline_state & (RL_STATE_ISEARCH | RL_STATE_NSEARCH |
                                            RL_STATE_MULTIKEY | RL_STATE_METANEXT |
                                            RL_STATE_VIMOTION | RL_STATE_CHARSEARCH);
}

bool tui_input_takes_any(void)
{
    return in_sequence() && !tui_input_is_searching();
}

bool tui_input_is_searching(void)
{
    return rl_readline_state & (RL_STATE_ISEARCH | RL_STATE_NSEARCH);
}

/* After a search readline shows an entry of the history: then we stand there as well. */
static void after_search(void)
{
    int at = where_history();

    if (at >= 0 && (size_t)at < history.n && !strcmp(history.v[at], rl_line_buffer))
        history.at = (size_t)at;
}

static void feed(const char *p, size_t n)
{
    bool searching = tui_input_is_searching();

    buf_add(&queue, p, n);
    while (has_bytes())
        rl_callback_read_char();
    buf_reset(&queue);
    queue_at = 0;
    if (searching && !tui_input_is_searching())
        after_search();
}

static void feed_ours(char letter)
{
    char keys[2] = { OURS[0], letter };

    if (letter != 'p' && letter != 'n')
        goal = -1;
    feed(keys, sizeof keys);
}

static void bind_ours(void)
{
    Keymap maps[] = { rl_get_keymap_by_name("emacs"), rl_get_keymap_by_name("vi-insert"),
                      rl_get_keymap_by_name("vi-move") };

    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
        for (size_t i = 0; i < REPLACEMENTS; i++) {
            char keys[3] = { OURS[0], replacements[i].letter, '\0' };
            rl_bind_keyseq_in_map(keys, replacements[i].ours, maps[m]);
        }
}

static void copy_history(void)
{
    clear_history();
    for (size_t i = 0; i < history.n; i++)
        add_history(history.v[i]);
    using_history();
}

bool tui_input_start(const char *file, enum tui_charset cs, struct err *e)
{
    charset = cs;
    nowhere = fopen("/dev/null", "r+");
    rl_readline_name = "vitrine";
    rl_terminal_name = "dumb";          /* its name for arrow keys; it draws nothing */
    rl_instream = rl_outstream = nowhere;
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_getc_function = next_byte;
    rl_input_available_hook = has_bytes;
    rl_redisplay_function = no_redisplay;
    rl_prep_term_function = no_prep;
    rl_deprep_term_function = NULL;
    rl_add_defun("vitrine-editor", do_external, -1);
    rl_initialize();
    rl_variable_bind("bell-style", "none");
    rl_variable_bind("convert-meta", "off");
    rl_variable_bind("input-meta", "on");
    rl_variable_bind("output-meta", "on");
    bind_ours();
    rl_bind_keyseq_if_unbound("\\C-x\\C-e", do_external);
    bool ok = !file || tui_history_load(&history, file, e);
    rl_callback_handler_install("", on_line);
    copy_history();
    return ok;
}

void tui_input_stop(void)
{
    rl_callback_handler_remove();
    rl_replace_line("", 1);
    clear_history();
    tui_history_release(&history);
    buf_release(&queue);
    buf_release(&pending);
    if (nowhere)
        fclose(nowhere);
    nowhere = NULL;
    rl_instream = rl_outstream = NULL;
}

/* ---- keys ---- */

/* Keys that terminals send and no keymap may know. */
static bool feed_fallback(const struct tui_key *k)
{
    bool word = k->mods & (TUI_MOD_CTRL | TUI_MOD_ALT);

    switch (k->code) {
    case TUI_KEY_LEFT:
        word ? feed("\x1b" "b", 2) : feed_ours('b');
        return true;
    case TUI_KEY_RIGHT:
        word ? feed("\x1b" "f", 2) : feed_ours('f');
        return true;
    case TUI_KEY_DELETE:
        word ? feed("\x1b" "d", 2) : feed_ours('d');
        return true;
    case TUI_KEY_HOME:
        feed_ours('a');
        return true;
    case TUI_KEY_END:
        feed_ours('e');
        return true;
    default:
        return false;
    }
}

/* A key that readline has bound to f. */
static enum tui_action run_bound(const struct tui_key *k, rl_command_func_t *f)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].theirs == f)
            return actions[i].action;
    for (size_t i = 0; i < REPLACEMENTS; i++)
        for (size_t t = 0; t < 3; t++)
            if (f && replacements[i].theirs[t] == f) {
                feed_ours(replacements[i].letter);
                return TUI_ACT_EDITOR;
            }
    raw_next =
        f == rl_quoted_insert || f == rl_char_search || f == rl_backward_char_search;
    if (f == rl_reverse_search_history || f == rl_forward_search_history)
        history_set_pos((int)history.at);
    feed(k->bytes, k->n);
    return wanted;
}

static bool is_typed_text(const struct tui_key *k)
{
    return k->code >= 0x80 && k->code < TUI_KEY_UNKNOWN && !k->mods &&
           rl_get_keymap() != rl_get_keymap_by_name("vi-move");
}

enum tui_action tui_input_key(const struct tui_key *k)
{
    int type = ISFUNC;

    wanted = TUI_ACT_EDITOR;
    if (!k->n)
        return wanted;
    goal = -1;
    if (in_sequence()) {
        raw_next = false;
        feed(k->bytes, k->n);
        return wanted;
    }
    if (is_typed_text(k)) {
        tui_input_insert(k->bytes, k->n);
        return wanted;
    }
    rl_command_func_t *f = rl_function_of_keyseq_len(k->bytes, k->n, NULL, &type);
    if (!f && type == ISFUNC) {
        if (tui_input_wants_escape() && k->n > 1 && k->code < TUI_KEY_UNKNOWN) {
            feed("\x1b", 1);            /* Esc and then a command, typed quickly */
            feed(k->bytes + 1, k->n - 1);
        } else if (!feed_fallback(k) && log_on()) {
            log_line("key", "bound to nothing");
        }
        return wanted;
    }
    return run_bound(k, type == ISFUNC ? f : NULL);
}

void tui_input_insert(const char *text, size_t n)
{
    if (tui_input_is_searching())
        tui_input_end_search(TUI_INPUT_TAKE);
    buf_reset(&pending);
    buf_add(&pending, text, n);
    pending_from = point();
    feed_ours('i');
}

void tui_input_replace(size_t from, const char *text, size_t n)
{
    buf_reset(&pending);
    buf_add(&pending, text, n);
    pending_from = from;
    feed_ours('i');
}

void tui_input_set(const char *text, size_t n)
{
    buf_reset(&pending);
    buf_add(&pending, text, n);
    feed_ours('s');
}

const char *tui_input_text(size_t *n, size_t *at)
{
    *n = end();
    *at = point();
    return rl_line_buffer ? rl_line_buffer : "";
}

const char *tui_input_prompt(void)
{
    return rl_display_prompt && *rl_display_prompt ? rl_display_prompt : NULL;
}

bool tui_input_wants_escape(void)
{
    return rl_editing_mode == 0;        /* vi */
}

void tui_input_end_search(enum tui_input_search_end how)
{
    feed(how == TUI_INPUT_TAKE ? "\x1b" : "\x07", 1);
}

void tui_input_abort(void)
{
    if (!in_sequence() && !(rl_readline_state & RL_STATE_NUMERICARG))
        return;
    raw_next = false;
    feed("\x07", 1);
}

/* ---- lines and history ---- */

static void show_entry(const char *text)
{
    if (text)
        tui_input_set(text, strlen(text));
}

void tui_input_up(void)
{
    feed_ours('p');
    if (!moved)
        show_entry(tui_history_prev(&history, rl_line_buffer));
}

void tui_input_down(void)
{
    feed_ours('n');
    if (!moved)
        show_entry(tui_history_next(&history, rl_line_buffer));
}

void tui_input_history_first(void)
{
    show_entry(tui_history_move(&history, rl_line_buffer, 0));
}

void tui_input_history_last(void)
{
    show_entry(tui_history_move(&history, rl_line_buffer, history.n));
}

/* Readline starts anew: no undo, no saved line, no place in its history. */
static void start_over(void)
{
    rl_callback_handler_remove();
    rl_replace_line("", 1);
    rl_callback_handler_install("", on_line);
    goal = -1;
    raw_next = false;
}

bool tui_input_done(struct err *e)
{
    struct buf text = {0};

    buf_adds(&text, rl_line_buffer);
    start_over();
    bool ok = tui_history_add(&history, buf_str(&text), e);
    copy_history();
    buf_release(&text);
    return ok;
}

void tui_input_clear(void)
{
    start_over();
    tui_history_rest(&history);
}
