/* The fake device: plays a script token by token, so that everything above the backend can
 * be tested from key to pixel in a second. The script's format is told in fake_script.c.
 *
 * It has no cache, only a place in the script. When logits are asked for
 *   - by one id at the position that follows the last logits, the script goes one token on,
 *     whatever the id is: a sampler may have chosen another than the script's;
 *   - in any other way, that was a prompt, and the next answer begins.
 * A call that is cancelled or fails leaves the place as it was, but an error in the script
 * ends its answer. Rows other than the last of BE_LOGITS_ALL are flat. */
#include "config.h"

#include "backend/fake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/ops.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

/* A place in the script; item == n is the end token. */
struct fake_place {
    uint32_t answer, next_answer, item, in_turn;
    uint32_t expect;            /* the position whose single id goes one on */
    uint64_t round;             /* which repetition of the item */
};

struct fake {
    struct fake_script script;
    struct fake_place place;
};

static bool fake_open_device(struct be *b, const struct be_params *p, enum be_how how,
                             struct err *e)
{
    const char *path = strchr(p->device, ':') + 1;
    struct fake *f = b->dev = xcalloc(1, sizeof *f);
    struct fake_script *s = &f->script;

    (void)how;
    if (!fake_script_read(s, path, e))
        return false;
    if (p->ctx > 1U << 24)
        return err_set(e, "--ctx %u is more than the fake device's %u", p->ctx, 1U << 24);
    b->info.arch = "fake";
    b->info.name = s->name;
    b->info.quant = "none";
    b->info.device = "fake";
    b->info.why_device = be_keepf(b, "asked for by --device fake:%s", path);
    b->info.n_vocab = (uint32_t)s->n_vocab;
    b->info.ctx_train = s->ctx;
    b->info.ctx = p->ctx ? p->ctx : s->ctx;
    b->info.why_ctx = p->ctx ? "asked for" : "what the script says";
    b->kv_type = "none";
    b->fingerprint = be_hash(BE_HASH_START, "fake", 4);
    for (size_t i = 0; i < s->n_vocab; i++)
        b->fingerprint = be_hash(b->fingerprint, s->text[i], s->len[i]);
    return true;
}

static void fake_free_device(struct be *b)
{
    struct fake *f = b->dev;

    if (!f)
        return;
    fake_script_release(&f->script);
    free(f);
}

/* Wait in small steps; false when cancelled meanwhile. */
static bool fake_wait(const struct be *b, uint64_t us)
{
    uint64_t end = (uint64_t)log_now_us() + us;

    while (us) {
        if (be_cancelled(b))
            return false;
        uint64_t now = (uint64_t)log_now_us();
        if (now >= end)
            break;
        us = end - now < 10000 ? end - now : 10000;
        nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
    }
    return true;
}

static const struct fake_answer *fake_now(const struct fake *f, const struct fake_place *at)
{
    return &f->script.answers[at->answer];
}

static void fake_next_item(const struct fake *f, struct fake_place *at)
{
    const struct fake_answer *a = fake_now(f, at);

    at->round = 0;
    if (at->item < a->n)
        at->item++;
    if (at->item == a->n && a->open)
        at->item = 0;
}

/* Stand on a token: play the waits and errors that come before it. */
static enum be_status fake_settle(struct be *b, struct fake *f, struct fake_place *at,
                                  struct err *e)
{
    const struct fake_answer *a = fake_now(f, at);

    while (at->item < a->n && a->items[at->item].kind != FAKE_TOKEN) {
        const struct fake_item *item = &a->items[at->item];
        if (item->kind == FAKE_ERROR) {
            f->place = *at;
            f->place.in_turn = 0;
            err_set(e, "%s", item->text);
            return BE_FAILED;
        }
        if (!fake_wait(b, item->sleep_us))
            return BE_CANCELLED;
        fake_next_item(f, at);
    }
    return BE_OK;
}

/* One row whose softmax is the script's: the logits are the log-probabilities. */
static void fake_row(const struct fake *f, const struct fake_place *at, float *row)
{
    const struct fake_answer *a = fake_now(f, at);
    const struct fake_item end = {.id = f->script.vocab.eos, .lp = log1p(-1e-12)};
    const struct fake_item *item = at->item < a->n ? &a->items[at->item] : &end;
    size_t n = f->script.n_vocab;
    double rest = 1 - exp(item->lp);

    for (size_t i = 0; i < item->n_top; i++)
        rest -= exp(item->top[i].lp);
    rest = log(rest > 1e-12 ? rest : 1e-12) - log((double)(n - 1 - item->n_top));
    for (size_t i = 0; i < n; i++)
        row[i] = (float)rest;
    row[item->id] = (float)item->lp;
    for (size_t i = 0; i < item->n_top; i++)
        row[item->top[i].id] = (float)item->top[i].lp;
}

static enum be_status fake_eval(struct be *b, const struct be_step *s, struct err *e)
{
    struct fake *f = b->dev;
    struct fake_place at = f->place;
    size_t n_vocab = f->script.n_vocab;
    bool goes_on = at.in_turn && s->rows && s->n == 1 && s->pos == at.expect;

    if (!fake_wait(b, goes_on ? f->script.delay_us : f->script.prefill_us * s->n))
        return BE_CANCELLED;
    if (goes_on) {
        const struct fake_answer *a = fake_now(f, &at);
        if (at.item < a->n && at.round + 1 < a->items[at.item].repeat)
            at.round++;
        else
            fake_next_item(f, &at);
    } else {
        at.in_turn = s->rows > 0;
        if (at.in_turn) {
            at.answer = at.next_answer;
            at.next_answer = (at.answer + 1) % (uint32_t)f->script.n_answers;
            at.item = 0;
            at.round = 0;
        }
    }
    if (s->rows) {
        enum be_status st = fake_settle(b, f, &at, e);
        if (st != BE_OK)
            return st;
        memset(s->logits, 0, (s->rows - 1) * n_vocab * sizeof *s->logits);
        fake_row(f, &at, s->logits + (s->rows - 1) * n_vocab);
    }
    at.expect = s->pos + (uint32_t)s->n;
    f->place = at;
    return BE_OK;
}

static void fake_truncate(struct be *b, uint32_t pos)
{
    (void)b;
    (void)pos;
}

static void fake_plan(const struct be *b, struct be_plan *out)
{
    out->ctx_max = 1U << 24;
    out->scratch = b->info.n_vocab * sizeof(float);
}

static void fake_save(const struct be *b, struct buf *out)
{
    const struct fake *f = b->dev;
    buf_add(out, &f->place, sizeof f->place);
}

static bool fake_restore(struct be *b, const uint8_t *p, size_t n, uint32_t pos, struct err *e)
{
    struct fake *f = b->dev;
    struct fake_place at;

    (void)pos;
    if (n != sizeof at)
        return err_set(e, "the fake device's part has %zu bytes, not %zu", n, sizeof at);
    memcpy(&at, p, sizeof at);
    if (at.answer >= f->script.n_answers || at.next_answer >= f->script.n_answers ||
        at.item > fake_now(f, &at)->n || (at.item == fake_now(f, &at)->n &&
                                          fake_now(f, &at)->open))
        return err_set(e, "the place is not in the script");
    f->place = at;
    return true;
}

static const struct be_vocab *fake_vocab(const struct be *b)
{
    return &((const struct fake *)b->dev)->script.vocab;
}

const struct be_ops be_fake_ops = {
    .name = "fake",
    .open = fake_open_device,
    .free = fake_free_device,
    .eval = fake_eval,
    .truncate = fake_truncate,
    .plan = fake_plan,
    .save = fake_save,
    .restore = fake_restore,
    .vocab = fake_vocab,
};
