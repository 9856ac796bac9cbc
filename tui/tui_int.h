#ifndef TUI_INT_H
#define TUI_INT_H

/* The state of the full screen, shared by its loop (tui.c), what keys do (actions.c) and
 * the composing of a frame (frame.c). */

#include <stdbool.h>

#include "base/buf.h"
#include "chat/chat.h"
#include "tui/edit.h"
#include "tui/keys.h"
#include "tui/layout.h"
#include "tui/styles.h"
#include "tui/tables.h"
#include "tui/transcript.h"
#include "tui/view.h"

/* What a handler asks the loop to do. Handlers change state and never draw. */
enum tui_todo {
    TUI_TODO_DRAW = 1,          /* something to be seen changed */
    TUI_TODO_MEASURE = 2,       /* the size may be another one */
    TUI_TODO_REPAINT = 4,       /* what is on the terminal cannot be trusted */
};

struct tui {
    struct chat *chat;
    enum tui_charset charset;
    struct tui_transcript transcript;
    struct tui_view view;
    struct chat_events events;

    struct tui_keys keys;
    long long key_us;           /* when the last byte came */
    int escape_ms;              /* how long a lone ESC waits */

    int rows, cols;
    struct tui_panes panes;
    struct tui_edit_view edit;
    struct tui_line *lines;     /* (cap_lines) of the frame */
    size_t cap_lines;
    long long frame_us;         /* when the last frame was drawn */

    struct buf hint;            /* shown in place of the status until the next key */
    struct buf mark, status;    /* texts of the frame */
    bool waiting;               /* the chat has a job and CHAT_EV_READY did not come */
    bool stopping;              /* ... and the user asked it to stop */
    long long leave_us;         /* Ctrl-C on an empty line; again soon leaves */

    unsigned todo;              /* tui_todo */
    bool leave;
    int status_code;
};

/* Lines for the user, at the end of the transcript. */
void tui_say(struct tui *t, enum tui_block_kind kind, const char *text, size_t n);
/* A short word in the status line, until the next key. */
void tui_hint(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool tui_is_busy(struct tui *t);

/* actions.c */
void tui_key_pressed(struct tui *t, const struct tui_key *k);
void tui_interrupt(struct tui *t);
void tui_suspend(struct tui *t);
void tui_take_again(struct tui *t);      /* the terminal, when others had stopped us */

/* frame.c */
void tui_draw_frame(struct tui *t);

#endif
