/* Blocks from events. A message opens with a NAME block; its tokens then fill a block
 * for each run of one channel. Notes may be appended while an answer is being written:
 * the answer goes on in its own block above them, because a sentence must not be torn
 * apart by a help text. */
#include "config.h"

#include "tui/transcript.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A word, because colour may be missing. */
static const char error_word[] = "error: ";

static void block_release(struct tui_block *b)
{
    free(b->title);
    free(b->marks);
    buf_release(&b->text);
    tui_rows_release(&b->rows);
}

static void reset(struct tui_transcript *t)
{
    for (size_t i = 0; i < t->n; i++)
        block_release(&t->v[i]);
    t->n = t->live = 0;
}

void tui_transcript_release(struct tui_transcript *t)
{
    reset(t);
    free(t->v);
    free(t->model);
    *t = (struct tui_transcript){0};
}

static bool is_live(const struct tui_transcript *t)
{
    return t->live < t->n && t->v[t->live].live;
}

static bool is_blank(const struct buf *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (!strchr(" \t\r\n", b->p[i]) || !b->p[i])
            return false;
    return true;
}

/* The growing block is complete. Models that do not think say so with an empty
 * thought. */
static void finish(struct tui_transcript *t)
{
    if (!is_live(t))
        return;
    struct tui_block *b = &t->v[t->live];
    b->live = false;
    b->hidden = is_blank(&b->text);
}

static struct tui_block *push(struct tui_transcript *t, enum tui_block_kind kind,
                              int message)
{
    MEM_GROW(t->v, t->cap, t->n + 1);
    t->v[t->n] = (struct tui_block){ .kind = kind, .message = message };
    return &t->v[t->n++];
}

static struct tui_block *push_text(struct tui_transcript *t, enum tui_block_kind kind,
                                   int message, const char *text, size_t len)
{
    struct tui_block *b = push(t, kind, message);
    if (kind == TUI_BLOCK_ERROR)
        buf_adds(&b->text, error_word);
    buf_add(&b->text, text, len);
    return b;
}

void tui_transcript_note(struct tui_transcript *t, enum tui_block_kind kind,
                         const char *text, size_t len)
{
    push_text(t, kind, 0, text, len);
}

void tui_transcript_fold(struct tui_transcript *t, bool fold)
{
    t->fold = fold;
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].kind == TUI_BLOCK_THINK)
            t->v[i].folded = fold;
}

/* ---- events ---- */

static void take_session(struct tui_transcript *t, const json_t *session)
{
    const json_t *name = json_object_get(json_object_get(session, "model"), "name");

    if (!json_is_string(name))
        return;
    free(t->model);
    t->model = xmemdup0(json_string_value(name), json_string_length(name));
}

static void take_message(struct tui_transcript *t, const struct chat_event *ev)
{
    finish(t);
    struct tui_block *name = push(t, TUI_BLOCK_NAME, ev->message);
    struct buf title = {0};

    name->role = ev->msg.role;
    switch (ev->msg.role) {
    case CHAT_ROLE_SYSTEM:
        buf_adds(&title, "system");
        break;
    case CHAT_ROLE_USER:
        buf_adds(&title, "you");
        break;
    case CHAT_ROLE_TOOL:
        buf_adds(&title, "tool");
        break;
    case CHAT_ROLE_ASSISTANT:
        buf_adds(&title, t->model && *t->model ? t->model : "assistant");
        if (ev->msg.attempt)
            buf_addf(&title, " (answer %u)", ev->msg.attempt + 1);
        break;
    }
    name->title = buf_take(&title);
    if (!ev->msg.len)
        return;
    bool result = ev->msg.role == CHAT_ROLE_TOOL;
    struct tui_block *b = push_text(t, result ? TUI_BLOCK_RESULT : TUI_BLOCK_TEXT,
                                    ev->message, ev->msg.text, ev->msg.len);
    if (result && ev->msg.name)
        b->title = xstrdup(ev->msg.name);
}

static enum tui_block_kind kind_of(enum chat_channel ch)
{
    return ch == CHAT_CH_THINK ? TUI_BLOCK_THINK : ch == CHAT_CH_TOOL ? TUI_BLOCK_TOOL
                                                                     : TUI_BLOCK_TEXT;
}

static bool is_note(const struct tui_block *b)
{
    return b->kind == TUI_BLOCK_NOTE || b->kind == TUI_BLOCK_ERROR;
}

/* An answer that was cut and goes on: its last block grows again and what was said
 * about the cut no longer holds. */
static bool reopen(struct tui_transcript *t, enum tui_block_kind kind, int message)
{
    size_t i = t->n;

    while (i > 0 && is_note(&t->v[i - 1]))
        i--;
    if (i == 0 || t->v[i - 1].kind != kind || t->v[i - 1].message != message ||
        t->v[i - 1].hidden)
        return false;
    t->live = i - 1;
    t->v[t->live].live = true;
    for (; i < t->n; i++)
        if (t->v[i].message == message)
            t->v[i].hidden = true;
    return true;
}

static void take_span(struct tui_transcript *t, const struct chat_event *ev,
                      const struct chat_span *span)
{
    enum tui_block_kind kind = kind_of(span->ch);

    if (!is_live(t) || t->v[t->live].message != ev->message ||
        t->v[t->live].kind != kind) {
        finish(t);
        if (!reopen(t, kind, ev->message)) {
            struct tui_block *b = push(t, kind, ev->message);
            b->live = true;
            b->folded = t->fold;
            b->first_us = ev->token.us;
            t->live = t->n - 1;
        }
    }
    struct tui_block *b = &t->v[t->live];
    MEM_GROW(b->marks, b->cap_marks, b->n_marks + 1);
    b->marks[b->n_marks++] = (struct tui_mark){ b->text.n, ev->token.i };
    buf_add(&b->text, ev->token.bytes + span->from, span->to - span->from);
    b->tokens++;
    b->last_us = ev->token.us;
}

static bool take_token(struct tui_transcript *t, const struct chat_event *ev)
{
    bool seen = false;

    for (size_t i = 0; i < ev->token.n_spans; i++) {
        const struct chat_span *span = &ev->token.spans[i];
        assert(span->from <= span->to && span->to <= ev->token.len);
        if (span->ch == CHAT_CH_CONTROL || span->from == span->to)
            continue;
        take_span(t, ev, span);
        seen = true;
    }
    return seen;
}

/* The raw text of a call gives way to the card of the call. */
static void hide_raw_call(struct tui_transcript *t, int message, struct tui_block *card)
{
    for (size_t i = t->n - 1; i-- > 0;) {
        struct tui_block *b = &t->v[i];
        if (b->kind == TUI_BLOCK_NAME)
            return;
        if (b->kind != TUI_BLOCK_TOOL || b->message != message || b->hidden)
            continue;
        b->hidden = true;
        if (b->n_marks) {
            card->marks = xmalloc(sizeof *card->marks);
            card->marks[0] = (struct tui_mark){ 0, b->marks[0].token };
            card->n_marks = card->cap_marks = 1;
        }
        return;
    }
}

static void take_call(struct tui_transcript *t, const struct chat_event *ev)
{
    bool call = ev->type == CHAT_EV_TOOL_CALL;

    finish(t);
    struct tui_block *b = push(t, call ? TUI_BLOCK_CALL : TUI_BLOCK_RESULT, ev->message);
    if (ev->call.name)
        b->title = xstrdup(ev->call.name);
    if (ev->call.arguments)
        buf_adds(&b->text, ev->call.arguments);
    else if (ev->call.raw)
        buf_adds(&b->text, ev->call.raw);
    if (ev->call.error) {
        while (b->text.n && b->text.p[b->text.n - 1] == '\n')
            buf_truncate(&b->text, b->text.n - 1);
        if (b->text.n)
            buf_addc(&b->text, '\n');
        buf_addf(&b->text, "error at byte %zu: %s", ev->call.error_at, ev->call.error);
    }
    if (call)
        hide_raw_call(t, ev->message, b);
}

const char *tui_stop_text(enum chat_stop why)
{
    switch (why) {
    case CHAT_STOP_LENGTH:
        return "stopped at the limit of tokens set with /set predict; /continue goes on";
    case CHAT_STOP_CONTEXT:
        return "stopped because the context is full; /new starts afresh";
    case CHAT_STOP_USER:
        return "stopped by you; /continue goes on, /retry answers anew";
    case CHAT_STOP_LOOP:
        return "stopped because the text went round in circles; /retry answers anew";
    case CHAT_STOP_ERROR:
        return "stopped because the device failed";
    case CHAT_STOP_EOS:
    case CHAT_STOP_END_OF_TURN:
    case CHAT_STOP_STRING:
        break;
    }
    return NULL;
}

static bool take_stop(struct tui_transcript *t, const struct chat_event *ev)
{
    const char *text = ev->stop.error ? ev->stop.error : tui_stop_text(ev->stop.why);
    bool bad = ev->stop.why == CHAT_STOP_CONTEXT || ev->stop.why == CHAT_STOP_ERROR;

    finish(t);
    if (text)
        push_text(t, bad ? TUI_BLOCK_ERROR : TUI_BLOCK_NOTE, ev->message, text,
                  strlen(text));
    return true;
}

/* A turn that failed tells the same sentence when it stops and when its job ends. */
static bool take_error(struct tui_transcript *t, const char *text)
{
    const struct tui_block *last = t->n ? &t->v[t->n - 1] : NULL;
    size_t n = strlen(text), skip = strlen(error_word);

    if (last && last->kind == TUI_BLOCK_ERROR && last->text.n == n + skip &&
        !memcmp(last->text.p + skip, text, n))
        return false;
    tui_transcript_note(t, TUI_BLOCK_ERROR, text, n);
    return true;
}

bool tui_transcript_apply(struct tui_transcript *t, const struct chat_event *ev)
{
    switch (ev->type) {
    case CHAT_EV_SESSION:
        take_session(t, ev->session);
        return false;
    case CHAT_EV_MESSAGE:
        take_message(t, ev);
        return true;
    case CHAT_EV_TOKEN:
        return take_token(t, ev);
    case CHAT_EV_TOOL_CALL:
    case CHAT_EV_TOOL_RESULT:
        take_call(t, ev);
        return true;
    case CHAT_EV_STOP:
        return take_stop(t, ev);
    case CHAT_EV_NOTICE:
        tui_transcript_note(t, TUI_BLOCK_NOTE, ev->note.text, strlen(ev->note.text));
        return true;
    case CHAT_EV_ERROR:
        return take_error(t, ev->note.text);
    case CHAT_EV_RESET:
        reset(t);
        return true;
    case CHAT_EV_PROMPT:
    case CHAT_EV_STATUS:
    case CHAT_EV_READY:
        break;
    }
    return false;
}

/* ---- reading ---- */

bool tui_block_token(const struct tui_block *b, size_t at, uint32_t *token)
{
    size_t lo = 0, hi = b->n_marks;

    if (!hi || at < b->marks[0].at || at >= b->text.n)
        return false;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->marks[mid].at <= at)
            lo = mid;
        else
            hi = mid;
    }
    *token = b->marks[lo].token;
    return true;
}

bool tui_block_has_label(const struct tui_block *b)
{
    return b->kind != TUI_BLOCK_TEXT && b->kind != TUI_BLOCK_NOTE &&
           b->kind != TUI_BLOCK_ERROR;
}

void tui_block_label(const struct tui_block *b, enum tui_charset cs, struct buf *out)
{
    const char *dot = cs == TUI_ASCII ? " - " : " \xC2\xB7 ";
    const char *open = cs == TUI_ASCII ? "- " : "\xE2\x96\xBE ";        /* ▾ */
    const char *shut = cs == TUI_ASCII ? "+ " : "\xE2\x96\xB8 ";        /* ▸ */

    switch (b->kind) {
    case TUI_BLOCK_NAME:
        buf_adds(out, b->title);
        return;
    case TUI_BLOCK_THINK:
        buf_addf(out, "%sthinking%s%u token%s", b->folded ? shut : open, dot,
                 (unsigned)b->tokens, b->tokens == 1 ? "" : "s");
        if (b->last_us > b->first_us)
            buf_addf(out, "%s%.1f s", dot, (double)(b->last_us - b->first_us) / 1e6);
        return;
    case TUI_BLOCK_TOOL:
    case TUI_BLOCK_CALL:
        buf_adds(out, "tool call");
        break;
    case TUI_BLOCK_RESULT:
        buf_adds(out, "tool result");
        break;
    case TUI_BLOCK_TEXT:
    case TUI_BLOCK_NOTE:
    case TUI_BLOCK_ERROR:
        return;
    }
    if (b->title)
        buf_addf(out, "%s%s", dot, b->title);
}
