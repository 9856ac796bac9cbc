/* libFuzzer target: any bytes through the loader of models and, where they make one, through
 * two positions of it, the sampler and a snapshot. Weights are part of the bytes, so a
 * model is never much larger than its file and the work is bounded by it. */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "backend/sampler.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* A refusal must say why, and in text that a terminal can show. */
static void check_refusal(const struct err *e)
{
    if (!e->kind || !e->text[0])
        abort();
    for (const char *s = e->text; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            abort();
}

static void use(struct be *b)
{
    const struct be_sampling how = {.temp = 1, .top_k = 5, .top_p = 0.9f, .min_p = 0.01f,
                                    .repeat_penalty = 1.1f, .repeat_last = 4};
    const struct be_info *i = be_info(b);
    int32_t ids[2] = {0, (int32_t)i->n_vocab - 1};
    struct be_sampler *s = be_sampler_new(i->n_vocab);
    struct buf state = {0};
    struct be_choice c;
    struct be_plan plan;
    struct err e = {0};

    be_plan(b, &plan);
    if (i->ctx < 2 || be_eval(b, ids, 2, 0, BE_LOGITS_ALL, &e) != BE_OK)
        abort();
    be_sample(s, &how, be_logits(b, 1), ids, 2, 2, 0, 10, &c);
    if (c.id < 0 || (uint32_t)c.id >= i->n_vocab)
        abort();
    if (!be_state_save(b, &state, &e) || !be_state_restore(b, state.p, state.n, &e))
        abort();
    buf_release(&state);
    be_sampler_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct err e = {0};
    struct gguf *g = gguf_open_memory(p, n, "fuzz", &e);

    if (!g) {
        check_refusal(&e);
        return 0;
    }
    struct be_params params = {.gguf = g, .device = "cpu", .threads = 1, .ctx = 4, .chunk = 2,
                               .memory = 64 << 20};
    struct be *b = be_open(&params, &e);
    if (b)
        use(b);
    else
        check_refusal(&e);
    be_free(b);
    gguf_free(g);
    return 0;
}
