/* What terminals send:
 *
 *   c                    a character, UTF-8; 01..1A are Ctrl with a letter
 *   ESC c                Alt with that character
 *   ESC [ n ; m L        L in A..D F H P..S: cursor keys, Home, End, F1..F4
 *   ESC [ n ; m ~        n: 1 7 Home, 2 Insert, 3 Delete, 4 8 End, 5 PgUp, 6 PgDn,
 *                        11.. F-keys
 *   ESC [ n ; m u        the character n (CSI u, kitty)
 *   ESC [ 27 ; m ; n ~   the same, xterm's modifyOtherKeys
 *   ESC [ [ L            F1..F5 of the Linux console
 *   ESC O L              cursor keys and F1..F4 in application mode
 *   ESC ESC ...          Alt with any of these
 *   ESC [ 200 ~ ... ESC [ 201 ~     a paste
 *
 * m is 1 + (1 Shift, 2 Alt, 4 Ctrl).
 *
 * A lone ESC is a key only after the ESC delay.
 *
 * A paste may contain its own end marker, and a hostile page counts on it: what
 * follows would be taken for typing. Terminals send a paste in one go, so the end is
 * the last marker before a pause, not the first one. Markers inside are part of the
 * text and are shown. */
#include "config.h"

#include "tui/keys.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define ESC '\x1b'
#define PASTE_END "\x1b[201~"
enum { PASTE_END_LEN = 6, SEQUENCE_MAX = 64, KEEP = 4096 };

void tui_keys_feed(struct tui_keys *k, const void *p, size_t n)
{
    if (k->at == k->in.n)
        k->at = 0, buf_reset(&k->in);
    else if (k->at >= KEEP) {
        buf_cut(&k->in, 0, k->at);
        k->scanned -= k->scanned > k->at ? k->at : k->scanned;
        k->end -= k->end > k->at ? k->at : k->end;
        k->at = 0;
    }
    buf_add(&k->in, p, n);
}

void tui_keys_release(struct tui_keys *k)
{
    buf_release(&k->in);
    buf_release(&k->text);
    *k = (struct tui_keys){0};
}

bool tui_keys_waits(const struct tui_keys *k)
{
    return k->at < k->in.n && (!k->pasting || k->end);
}

/* ---- pastes ---- */

/* Pasted text: CR and CR LF are newlines, NUL cannot live in a line, half characters and
 * all else stay as they are. */
static void paste_text(struct buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\r') {
            if (i + 1 >= n || s[i + 1] != '\n')
                buf_addc(out, '\n');
        } else if (s[i] == '\0') {
            buf_adds(out, "\xEF\xBF\xBD");
        } else {
            buf_addc(out, s[i]);
        }
    }
}

static bool paste_next(struct tui_keys *k, enum tui_keys_time t, struct tui_key *out)
{
    const char *in = k->in.p;
    size_t from = k->scanned > k->at ? k->scanned : k->at;

    while (from + PASTE_END_LEN <= k->in.n) {
        const char *hit = memmem(in + from, k->in.n - from, PASTE_END, PASTE_END_LEN);
        if (!hit)
            break;
        k->end = (size_t)(hit - in) + PASTE_END_LEN;
        from = k->end;
    }
    k->scanned = k->in.n >= PASTE_END_LEN ? k->in.n - PASTE_END_LEN + 1 : 0;
    if (k->scanned < k->end)
        k->scanned = k->end;
    if (!k->end || t != TUI_KEYS_QUIET)
        return false;

    buf_reset(&k->text);
    paste_text(&k->text, in + k->at, k->end - PASTE_END_LEN - k->at);
    *out = (struct tui_key){ TUI_KEY_PASTE, 0, buf_str(&k->text), k->text.n };
    k->at = k->end;
    k->end = k->scanned = 0;
    k->pasting = false;
    return true;
}

/* ---- sequences ---- */

struct parsed {
    size_t used;        /* bytes; 0: incomplete */
    uint32_t code;
    unsigned mods;
    bool rewrite;       /* the editor knows code and mods only in their old form */
};

static uint32_t letter_key(char c)
{
    switch (c) {
    case 'A': return TUI_KEY_UP;
    case 'B': return TUI_KEY_DOWN;
    case 'C': return TUI_KEY_RIGHT;
    case 'D': return TUI_KEY_LEFT;
    case 'F': return TUI_KEY_END;
    case 'H': return TUI_KEY_HOME;
    case 'M': return TUI_KEY_ENTER;
    case 'P': case 'Q': case 'R': case 'S':
        return TUI_KEY_F1 + (uint32_t)(c - 'P');
    default: return TUI_KEY_UNKNOWN;
    }
}

static uint32_t number_key(unsigned n)
{
    static const uint32_t low[] = { TUI_KEY_UNKNOWN, TUI_KEY_HOME, TUI_KEY_INSERT,
                                    TUI_KEY_DELETE, TUI_KEY_END, TUI_KEY_PGUP,
                                    TUI_KEY_PGDN, TUI_KEY_HOME, TUI_KEY_END };
    if (n < sizeof low / sizeof *low)
        return low[n];
    if (n >= 11 && n <= 15)
        return TUI_KEY_F1 + n - 11;
    if (n >= 17 && n <= 21)
        return TUI_KEY_F1 + n - 12;
    if (n == 23 || n == 24)
        return TUI_KEY_F1 + n - 13;
    return TUI_KEY_UNKNOWN;
}

/* A character of CSI u or modifyOtherKeys, as if it had come the old way. */
static void old_form(struct parsed *p, unsigned n, unsigned mods)
{
    p->mods = mods;
    p->rewrite = true;
    switch (n) {
    case '\r': p->code = TUI_KEY_ENTER; return;
    case '\t': p->code = TUI_KEY_TAB; return;
    case 0x1b: p->code = TUI_KEY_ESC; return;
    case 0x7f: case '\b': p->code = TUI_KEY_BACKSPACE; return;
    default: break;
    }
    if (n < 0x20 || n > 0x10FFFF) {
        p->code = TUI_KEY_UNKNOWN;
        return;
    }
    p->code = n;
    if (mods & TUI_MOD_CTRL) {
        if (n >= 'a' && n <= 'z')
            p->code = n - 'a' + 'A';
        p->mods &= ~(unsigned)TUI_MOD_SHIFT;
    }
}

/* ESC [ stands at s. */
static struct parsed parse_csi(const char *s, size_t n)
{
    struct parsed p = { .code = TUI_KEY_UNKNOWN };
    unsigned v[4] = {0};
    size_t at = 2, nv = 0;

    if (n > 2 && s[2] == '[') {
        if (n < 4)
            return p;
        p.used = 4;
        if (s[3] >= 'A' && s[3] <= 'E')
            p.code = TUI_KEY_F1 + (uint32_t)(s[3] - 'A');
        return p;
    }
    for (; at < n && (unsigned char)s[at] >= 0x20 && (unsigned char)s[at] <= 0x3f; at++) {
        if (at >= SEQUENCE_MAX) {
            p.used = at;
            return p;
        }
        if (s[at] >= '0' && s[at] <= '9' && nv < 4)
            v[nv] = v[nv] < 1000000 ? v[nv] * 10 + (unsigned)(s[at] - '0') : v[nv];
        else if (s[at] == ';')
            nv++;
        else if (s[at] == ':')          /* kitty's sub-parameters: the first one counts */
            while (at + 1 < n && s[at + 1] >= '0' && s[at + 1] <= ':')
                at++;
        else
            nv = 4;
    }
    if (at >= n)
        return p;
    p.used = at + 1;
    unsigned mods = v[1] > 1 && v[1] <= 8 ? v[1] - 1 : 0;
    switch (s[at]) {
    case '~':
        if (v[0] == 27 && nv == 2)
            old_form(&p, v[2], mods);
        else
            p.code = v[0] == 200 ? TUI_KEY_PASTE : number_key(v[0]), p.mods = mods;
        break;
    case 'u':
        old_form(&p, v[0], mods);
        break;
    case 'Z':
        p.code = TUI_KEY_TAB, p.mods = TUI_MOD_SHIFT;
        break;
    default:
        if ((unsigned char)s[at] < 0x40 || (unsigned char)s[at] > 0x7e)
            p.used = at;                /* not a final byte: it begins something else */
        else if (nv < 4 && s[at] != 'M')
            p.code = letter_key(s[at]), p.mods = mods;
    }
    return p;
}

static struct parsed parse_char(const char *s, size_t n)
{
    unsigned char c = (unsigned char)*s;
    struct parsed p = { .used = 1 };

    if (c >= 0x80) {
        struct utf8_cell cell;
        size_t len = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

        if (utf8_next(s, n < len ? n : len, &cell) == 0)
            return (struct parsed){0};
        p.used = cell.valid ? len : 1;
        p.code = cell.cp;
        p.rewrite = !cell.valid;
    } else if (c == '\r') {
        p.code = TUI_KEY_ENTER;
    } else if (c == '\t') {
        p.code = TUI_KEY_TAB;
    } else if (c == 0x7f) {
        p.code = TUI_KEY_BACKSPACE;
    } else if (c < 0x20) {
        p.code = c + 0x40u;
        p.mods = TUI_MOD_CTRL;
    } else {
        p.code = c;
    }
    return p;
}

static struct parsed parse(const char *s, size_t n)
{
    if (*s != ESC)
        return parse_char(s, n);
    if (n == 1)
        return (struct parsed){0};
    if (s[1] == '[')
        return parse_csi(s, n);
    if (s[1] == 'O') {
        if (n < 3)
            return (struct parsed){0};
        return (struct parsed){ .used = 3, .code = letter_key(s[2]) };
    }
    if (s[1] == ESC && n > 2 && s[2] != '[' && s[2] != 'O')
        return (struct parsed){ .used = 1, .code = TUI_KEY_ESC };
    struct parsed p = n == 2 && s[1] == ESC ? (struct parsed){0} : parse(s + 1, n - 1);
    if (p.used) {
        p.used++;
        p.mods |= TUI_MOD_ALT;
    }
    return p;
}

/* The delay has passed and the sequence is not finished: ESC is the key, or Alt with the
 * character behind it; the rest of a broken sequence is dropped. */
static struct parsed parse_cut(const char *s, size_t n)
{
    if (*s != ESC)
        return (struct parsed){ .used = 1, .code = 0xFFFD, .rewrite = true };
    if (n == 1)
        return (struct parsed){ .used = 1, .code = TUI_KEY_ESC };
    if (n == 2 && s[1] == ESC)
        return (struct parsed){ .used = 2, .code = TUI_KEY_ESC, .mods = TUI_MOD_ALT };
    if (n == 2)
        return (struct parsed){ .used = 2, .code = (uint32_t)s[1], .mods = TUI_MOD_ALT };
    return (struct parsed){ .used = n, .code = TUI_KEY_UNKNOWN };
}

/* The bytes a line editor knows for a key that came in a new form. */
static void rewrite(struct tui_keys *k, const struct parsed *p)
{
    buf_reset(&k->text);
    if (p->mods & TUI_MOD_ALT)
        buf_addc(&k->text, ESC);
    switch (p->code) {
    case TUI_KEY_ENTER: buf_addc(&k->text, '\r'); return;
    case TUI_KEY_TAB: buf_addc(&k->text, '\t'); return;
    case TUI_KEY_ESC: buf_addc(&k->text, ESC); return;
    case TUI_KEY_BACKSPACE: buf_addc(&k->text, '\x7f'); return;
    default: break;
    }
    if (p->code > 0x10FFFF)
        buf_reset(&k->text);
    else if (!(p->mods & TUI_MOD_CTRL))
        utf8_put(&k->text, p->code);
    else if (p->code >= 0x40 && p->code < 0x60)
        buf_addc(&k->text, (char)(p->code ^ 0x40));
    else
        buf_reset(&k->text);
}

bool tui_keys_next(struct tui_keys *k, enum tui_keys_time t, struct tui_key *out)
{
    while (k->at < k->in.n) {
        if (k->pasting)
            return paste_next(k, t, out);
        const char *s = k->in.p + k->at;
        size_t n = k->in.n - k->at;
        struct parsed p = parse(s, n);
        if (!p.used && t == TUI_KEYS_QUIET)
            p = parse_cut(s, n);
        if (!p.used)
            return false;
        k->at += p.used;
        if (p.code == TUI_KEY_PASTE) {
            k->pasting = true;
            k->scanned = k->end = 0;
            continue;
        }
        if (p.rewrite) {
            rewrite(k, &p);
            *out = (struct tui_key){ p.code, p.mods, buf_str(&k->text), k->text.n };
        } else {
            *out = (struct tui_key){ p.code, p.mods, s, p.used };
        }
        return true;
    }
    return false;
}

/* ---- names ---- */

static const struct {
    const char *name;
    uint32_t code;
} key_names[] = {
    { "Enter", TUI_KEY_ENTER }, { "Tab", TUI_KEY_TAB }, { "Esc", TUI_KEY_ESC },
    { "Backspace", TUI_KEY_BACKSPACE }, { "Up", TUI_KEY_UP }, { "Down", TUI_KEY_DOWN },
    { "Right", TUI_KEY_RIGHT }, { "Left", TUI_KEY_LEFT }, { "Home", TUI_KEY_HOME },
    { "End", TUI_KEY_END }, { "Insert", TUI_KEY_INSERT }, { "Delete", TUI_KEY_DELETE },
    { "PgUp", TUI_KEY_PGUP }, { "PgDn", TUI_KEY_PGDN }, { "Space", ' ' },
    { "F1", TUI_KEY_F1 }, { "F2", TUI_KEY_F1 + 1 }, { "F3", TUI_KEY_F1 + 2 },
    { "F4", TUI_KEY_F1 + 3 }, { "F5", TUI_KEY_F1 + 4 }, { "F6", TUI_KEY_F1 + 5 },
    { "F7", TUI_KEY_F1 + 6 }, { "F8", TUI_KEY_F1 + 7 }, { "F9", TUI_KEY_F1 + 8 },
    { "F10", TUI_KEY_F1 + 9 }, { "F11", TUI_KEY_F1 + 10 }, { "F12", TUI_KEY_F12 },
    { "paste", TUI_KEY_PASTE }, { "unknown", TUI_KEY_UNKNOWN },
};

static const struct {
    const char *name;
    unsigned mod;
} mod_names[] = {
    { "Ctrl-", TUI_MOD_CTRL }, { "Alt-", TUI_MOD_ALT }, { "Shift-", TUI_MOD_SHIFT },
};

bool tui_key_parse(const char *name, struct tui_key *out)
{
    struct utf8_cell c;

    *out = (struct tui_key){0};
    for (size_t i = 0; i < sizeof mod_names / sizeof *mod_names; i++) {
        size_t len = strlen(mod_names[i].name);
        if (!strncmp(name, mod_names[i].name, len)) {
            out->mods |= mod_names[i].mod;
            name += len;
        }
    }
    for (size_t i = 0; i < sizeof key_names / sizeof *key_names; i++)
        if (!strcmp(name, key_names[i].name)) {
            out->code = key_names[i].code;
            return true;
        }
    size_t n = strlen(name);
    if (n == 0 || utf8_next(name, n, &c) != n || !c.valid)
        return false;
    out->code = c.cp;
    return true;
}

void tui_key_name(const struct tui_key *k, struct buf *out)
{
    for (size_t i = 0; i < sizeof mod_names / sizeof *mod_names; i++)
        if (k->mods & mod_names[i].mod)
            buf_adds(out, mod_names[i].name);
    for (size_t i = 0; i < sizeof key_names / sizeof *key_names; i++)
        if (k->code == key_names[i].code) {
            buf_adds(out, key_names[i].name);
            return;
        }
    utf8_put(out, k->code);
}
