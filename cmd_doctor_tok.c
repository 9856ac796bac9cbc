/* What `vitrine doctor` says of a tokenizer: what it is and where it was found, how a
 * prompt begins and a turn ends, and whether texts come back as they were. */
#include "config.h"

#include "cmd_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "chat/model.h"
#include "cmd_text.h"

/* Texts that tokenizers get wrong. */
static const char *const doctor_texts[] = {
    "The quick brown fox jumps over the lazy dog.",
    "It's Bob's; they're here, DON'T we'll see.",
    " a  b   c\t\td\n\n\ne \r\n f ",
    "for (int i = 0; i < 10; i++) { x[i] += 0x1F; }\n",
    "1 12 123 1234 12345 3.14159 1e-9",
    /* accents, Cyrillic */
    "\xC3\xA9t\xC3\xA9 na\xC3\xAFve Stra\xC3\x9F"
    "e \xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82",
    /* Chinese, Korean */
    "\xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C\xE4\xB8\x96\xE7\x95\x8C"
    "\xE3\x80\x82 \xED\x95\x9C\xEA\xB5\xAD",
    /* marks: Hindi, Thai */
    "\xE0\xA4\xA8\xE0\xA4\xAE\xE0\xA4\xB8\xE0\xA5\x8D\xE0\xA4\xA4\xE0\xA5\x87 "
    "\xE0\xB8\xA0\xE0\xB8\xB2\xE0\xB8\xA9\xE0\xB8\xB2\xE0\xB9\x84"
    "\xE0\xB8\x97\xE0\xB8\xA2",
    /* emoji of several characters */
    "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB "
    "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA \xE2\x9D\xA4\xEF\xB8\x8F",
    /* not composed: an accent, Hangul */
    "cafe\xCC\x81 \xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB",
    "<|im_start|>user <think> </s> [INST] <start_of_turn>",
};

enum { SHOWN = 6 };

static void add_name(struct buf *out, const struct tok *t, int32_t id)
{
    size_t n;
    const char *name = tok_name(t, id, &n);

    cmd_add_cut(out, name, n, 40);
    buf_addf(out, " (%d)", (int)id);
}

/* Text to ids and back. */
static void there_and_back(const struct tok *t, const char *text, size_t len,
                           struct tok_ids *ids, struct buf *back)
{
    ids->n = 0;
    buf_reset(back);
    tok_encode(t, text, len, TOK_AT_START, ids);
    tok_decode(t, ids->v, ids->n, TOK_AT_START, TOK_SPECIALS_HIDE, back);
}

static bool same(const struct buf *a, const char *text, size_t len)
{
    return a->n == len && !memcmp(buf_str(a), text, len);
}

/* Each text must come back, or, where the tokenizer changes text (NFC), what comes back
 * must be what comes back of it. */
static void check_texts(struct doctor *d)
{
    const struct tok *t = d->m->tok;
    size_t n = sizeof doctor_texts / sizeof *doctor_texts, exact = 0, stable = 0;
    struct tok_ids ids = {0};
    struct buf back = {0}, again = {0};

    for (size_t i = 0; i < n; i++) {
        const char *text = doctor_texts[i];
        there_and_back(t, text, strlen(text), &ids, &back);
        there_and_back(t, buf_str(&back), back.n, &ids, &again);
        exact += same(&back, text, strlen(text));
        stable += same(&again, buf_str(&back), back.n);
    }
    if (exact == n)
        doctor_addf(d, DOCTOR_OK, "round trip", "all %zu texts come back byte for byte",
                    n);
    else if (stable == n)
        doctor_addf(d, exact + 2 < n ? DOCTOR_WARNING : DOCTOR_OK, "round trip",
                    "%zu of %zu texts come back byte for byte, the others changed: the "
                    "model's tokenizer normalises text", exact, n);
    else
        doctor_addf(d, DOCTOR_BAD, "round trip",
                    "%zu of %zu texts do not come back; the vocabulary cannot write them",
                    n - stable, n);
    tok_ids_release(&ids);
    buf_release(&back);
    buf_release(&again);
}

/* Can every byte be written? Those that are never in UTF-8 need not. */
static void check_byte_range(struct doctor *d)
{
    const struct tok *t = d->m->tok;
    struct tok_ids ids = {0};
    struct buf back = {0};
    int never = 0, missing = 0;

    for (int b = 0; b < 256; b++) {
        char c = (char)b;
        there_and_back(t, &c, 1, &ids, &back);
        if (same(&back, &c, 1))
            continue;
        bool in_utf8 = b < 0xC0 || (b >= 0xC2 && b <= 0xF4);
        missing += in_utf8;
        never += !in_utf8;
    }
    if (!missing && !never)
        doctor_addf(d, DOCTOR_OK, "bytes", "every byte can be written");
    else
        doctor_addf(d, missing ? DOCTOR_WARNING : DOCTOR_OK, "bytes",
                    "%d bytes have no token%s", missing + never,
                    missing ? "" : ", but they are never in UTF-8");
    tok_ids_release(&ids);
    buf_release(&back);
}

/* Every special token enters by its name, and no control token by text. */
static void check_specials(struct doctor *d)
{
    const struct tok *t = d->m->tok;
    size_t control = 0, user = 0, unnamed = 0, leaks = 0;
    struct tok_ids ids = {0};
    struct buf first = {0};

    for (size_t i = 0; i < tok_count(t); i++) {
        size_t n, bytes;
        const char *name = tok_name(t, (int32_t)i, &n);
        if (!tok_is_special(t, (int32_t)i) || !n)
            continue;
        tok_bytes(t, (int32_t)i, &bytes);
        *(bytes ? &user : &control) += 1;
        ids.n = 0;
        tok_encode_special(t, name, n, TOK_AT_START, &ids);
        bool found = false;
        for (size_t k = 0; k < ids.n; k++)
            found = found || ids.v[k] == (int32_t)i;
        if (!found && !unnamed++)
            add_name(&first, t, (int32_t)i);
        ids.n = 0;
        tok_encode_foreign(t, name, n, TOK_AT_START, &ids);
        for (size_t k = 0; k < ids.n; k++) {
            tok_bytes(t, ids.v[k], &bytes);
            leaks += tok_is_special(t, ids.v[k]) && !bytes;
        }
    }
    if (leaks)
        doctor_addf(d, DOCTOR_BAD, "special tokens",
                    "%zu control tokens can be made from text", leaks);
    else if (unnamed)
        doctor_addf(d, DOCTOR_WARNING, "special tokens",
                    "%zu control, %zu user-defined; %zu cannot be named, as another has "
                    "the same name: %s", control, user, unnamed, buf_str(&first));
    else
        doctor_addf(d, DOCTOR_OK, "special tokens",
                    "%zu control, %zu user-defined; each by its name, no control token "
                    "from text", control, user);
    buf_release(&first);
    tok_ids_release(&ids);
}

static void check_begin(struct doctor *d)
{
    const struct tok *t = d->m->tok;
    struct buf *out = doctor_add(d, DOCTOR_OK, "beginning");

    if (tok_bos(t) < 0) {
        buf_adds(out, "no token opens a text");
        return;
    }
    add_name(out, t, tok_bos(t));
    buf_adds(out, tok_adds_bos(t) ? " opens every prompt, once"
                                  : " is there, but prompts begin without it");
}

static void check_end(struct doctor *d)
{
    const struct tok *t = d->m->tok;
    size_t n = 0;
    struct buf names = {0};

    for (size_t i = 0; i < tok_count(t); i++) {
        if (!tok_is_end(t, (int32_t)i) || n++ >= SHOWN)
            continue;
        buf_adds(&names, n > 1 ? ", " : "");
        add_name(&names, t, (int32_t)i);
    }
    if (n == 0)
        doctor_addf(d, DOCTOR_WARNING, "end of turn",
                    "no token ends a turn; answers go on until --predict or a full "
                    "context");
    else
        buf_addf(doctor_add(d, DOCTOR_OK, "end of turn"), "%s%s", buf_str(&names),
                 n > SHOWN ? ", ..." : "");
    buf_release(&names);
}

void doctor_tokenizer(struct doctor *d)
{
    const struct tok *t = d->m->tok;

    doctor_addf(d, DOCTOR_OK, "tokenizer", "%s, %zu tokens, from %s%s", tok_kind(t),
                tok_count(t), tok_origin(t),
                d->pre ? "; cut as --pre says, not as the file does" : "");
    check_begin(d);
    check_end(d);
    check_specials(d);
    check_texts(d);
    check_byte_range(d);
}
