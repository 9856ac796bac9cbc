#ifndef TUI_KEYS_H
#define TUI_KEYS_H

/* Keys: the byte stream of a terminal to keys and pastes. Pure: bytes come in by feed,
 * time comes in as "nothing arrived for the ESC delay". keys.c tells the sequences. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A key's code is the character it stands for, or one of these. Ctrl with a letter is the
 * upper-case letter with TUI_MOD_CTRL. */
enum tui_keycode {
    TUI_KEY_UNKNOWN = 0x110000,     /* a sequence that means nothing to us */
    TUI_KEY_PASTE,                  /* text between the paste brackets */
    TUI_KEY_ENTER, TUI_KEY_TAB, TUI_KEY_ESC, TUI_KEY_BACKSPACE,
    TUI_KEY_UP, TUI_KEY_DOWN, TUI_KEY_RIGHT, TUI_KEY_LEFT,
    TUI_KEY_HOME, TUI_KEY_END, TUI_KEY_INSERT, TUI_KEY_DELETE,
    TUI_KEY_PGUP, TUI_KEY_PGDN,
    TUI_KEY_F1,                     /* F2 is TUI_KEY_F1 + 1, and so on to F12 */
    TUI_KEY_F12 = TUI_KEY_F1 + 11,
};

enum tui_mod { TUI_MOD_SHIFT = 1, TUI_MOD_ALT = 2, TUI_MOD_CTRL = 4 };

struct tui_key {
    uint32_t code;
    unsigned mods;
    const char *bytes;      /* (n) what the line editor should read for it; the text of a
                               paste, newlines as \n. Valid until the next call */
    size_t n;
};

/* Zeroed is ready. */
struct tui_keys {
    struct buf in;
    size_t at;              /* read up to here */
    struct buf text;        /* bytes of the key handed out */
    bool pasting;
    size_t scanned;         /* of a paste: no end marker begins before this */
    size_t end;             /* of a paste: where its last end marker stands, or 0 */
};

void tui_keys_feed(struct tui_keys *k, const void *p, size_t n);

/* Take the next key. quiet: the ESC delay has passed since the last byte, so what
 * waits for more bytes is complete as it is. False when there is none (yet). */
enum tui_keys_time { TUI_KEYS_BUSY, TUI_KEYS_QUIET };
bool tui_keys_next(struct tui_keys *k, enum tui_keys_time t, struct tui_key *out);

/* Does a beginning wait for its rest? Then call again after the ESC delay. */
bool tui_keys_waits(const struct tui_keys *k);

void tui_keys_release(struct tui_keys *k);

/* "Ctrl-Up", "Alt-Enter", "PgUp", "Ctrl-J", "F1", "/": the names used in tables and help.
 * False for a name that is none. */
bool tui_key_parse(const char *name, struct tui_key *out);
/* The name of a key, for the trace. */
void tui_key_name(const struct tui_key *k, struct buf *out);

#endif
