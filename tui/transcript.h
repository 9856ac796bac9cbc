#ifndef TUI_TRANSCRIPT_H
#define TUI_TRANSCRIPT_H

/* The transcript: what the events said, as blocks to be read from top to bottom. Pure.
 *
 * A block holds the exact bytes of one stretch of one message, and marks that tell for
 * every byte which token it came from. Blocks are only ever appended, and only the
 * live one grows, until CHAT_EV_RESET empties the transcript; so (block, byte offset)
 * names a place for good. How wide a screen is, is not known here: view.h lays the
 * blocks out and keeps its rows in them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "chat/event.h"
#include "tui/wrap.h"

enum tui_block_kind {
    TUI_BLOCK_NAME,         /* who speaks; no text */
    TUI_BLOCK_TEXT,         /* what was said */
    TUI_BLOCK_THINK,
    TUI_BLOCK_TOOL,         /* raw text of a tool call, until the call itself arrives */
    TUI_BLOCK_CALL,         /* a tool call: name and arguments */
    TUI_BLOCK_RESULT,       /* what the tool answered */
    TUI_BLOCK_NOTE,
    TUI_BLOCK_ERROR,
};

struct tui_mark {
    size_t at;              /* from this byte of the block on ... */
    uint32_t token;         /* ... the text comes from this token of the message */
};

struct tui_block {
    enum tui_block_kind kind;
    enum chat_role role;    /* NAME: whose */
    int message;            /* id; 0 for notes */
    bool live;              /* may still grow */
    bool hidden;            /* takes no rows: nothing to read in it */
    bool folded;            /* THINK: only its label is shown */
    char *title;            /* NAME: who; CALL, RESULT: the tool; or NULL */
    struct buf text;
    struct tui_mark *marks; /* (n_marks) ascending */
    size_t n_marks, cap_marks;
    uint32_t tokens;        /* THINK: how many, and when the first and the last came */
    long long first_us, last_us;

    struct tui_rows rows;   /* layout cache, owned by view.c ... */
    int rows_cols;          /* ... for this width; 0: never laid out */
    bool rows_final;        /* ... of the finished text */
};

struct tui_transcript {
    struct tui_block *v;
    size_t n, cap;
    size_t live;            /* index of the growing block, if that is live */
    bool fold;              /* new thinking starts folded */
    char *model;            /* name of the one that speaks, foreign bytes; NULL: unknown */
};

void tui_transcript_release(struct tui_transcript *t);

/* Take in one event; returns whether anything to be seen changed. */
bool tui_transcript_apply(struct tui_transcript *t, const struct chat_event *ev);

/* A sentence, or several lines, from the front end itself. */
void tui_transcript_note(struct tui_transcript *t, enum tui_block_kind kind,
                         const char *text, size_t len);

/* Fold or open all thinking, also what is still to come. */
void tui_transcript_fold(struct tui_transcript *t, bool fold);

/* The token that byte offset at of block b came from; false when none did. */
bool tui_block_token(const struct tui_block *b, size_t at, uint32_t *token);

/* Append the label over a block: the name, "thinking · 143 tokens · 2.1 s", "tool call ·
 * NAME"; nothing for kinds without one. Foreign bytes are not yet made visible. */
void tui_block_label(const struct tui_block *b, enum tui_charset cs, struct buf *out);
bool tui_block_has_label(const struct tui_block *b);

/* What to tell a reader about the end of an answer; NULL when it simply ended. */
const char *tui_stop_text(enum chat_stop why);

#endif
