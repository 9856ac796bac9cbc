/* `vitrine bench`: how fast this machine runs a model. What is timed is what a chat does:
 * be_sync() over the prompt, then be_sample() and be_eval() for each token. Prompts are
 * ids spread over the vocabulary, which costs the same as text. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sampler.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "chat/chat.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_text.h"

struct bench {
    const struct chat_settings *set;
    struct chat_model *m;
    struct be_sampler *sampler;
    struct tok_ids ids;
    double start_ms;            /* from the start of the program to the first prompt */
};

/* One prompt length; times are medians over the repeats. */
struct result {
    size_t prompt;
    double first_ms;            /* to the first token */
    double prefill_tps;
    double decode_tps;
    double p50_ms, p95_ms;      /* of a token after the first */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which the share q of the n values lies; sorts them. */
static double quantile(double *v, size_t n, double q)
{
    qsort(v, n, sizeof *v, by_value);
    return v[(size_t)(q * (double)(n - 1) + 0.5)];
}

static double ms_since(long long us)
{
    return (double)(log_now_us() - us) / 1000;
}

static bool check(enum be_status st, struct err *e)
{
    if (st == BE_CANCELLED)
        return err_set(e, "measuring was interrupted");
    return st == BE_OK || err_wrap(e, "measuring");
}

/* The time to start: what `vitrine chat` does before the first prompt. */
static bool measure_start(struct bench *b, struct err *e)
{
    struct chat_settings s;

    chat_settings_copy(&s, b->set);
    s.private_session = true;
    if (!s.template_name)
        s.template_name = xstrdup("plain"); /* a model without one can be measured too */
    struct chat *c = chat_new(&s, e);
    bool ok = c && chat_wait(c, e);
    b->start_ms = ms_since(cmd_started_us());
    chat_free(c);
    chat_settings_release(&s);
    return ok;
}

static void fill_prompt(struct bench *b, size_t n)
{
    size_t vocab = tok_count(b->m->tok);

    b->ids.n = 0;
    for (size_t i = 0; i < n; i++)
        tok_ids_add(&b->ids, (int32_t)((i * 7919 + 13) % vocab));
}

/* One pass; each[] gets the milliseconds of every token after the first. */
static bool measure_once(struct bench *b, size_t n, double *first, double *prefill,
                         double *each, struct err *e)
{
    struct be_sampling how = { .temp = 0, .top_p = 1, .repeat_penalty = 1 };
    struct be_choice choice;
    size_t tokens = (size_t)b->set->decode_tokens;
    uint32_t reused;

    fill_prompt(b, n);
    be_truncate(b->m->be, 0);
    long long t0 = log_now_us();
    if (!check(be_sync(b->m->be, b->ids.v, n, &reused, NULL, NULL, e), e))
        return false;
    *prefill = ms_since(t0);
    for (size_t i = 0; i < tokens; i++) {
        long long t = log_now_us();
        if (i && !check(be_eval(b->m->be, &b->ids.v[b->ids.n - 1], 1,
                                (uint32_t)b->ids.n - 1, BE_LOGITS_LAST, e),
                        e))
            return false;
        be_sample(b->sampler, &how, be_logits(b->m->be, 0), b->ids.v, b->ids.n,
                  (uint32_t)b->ids.n, 0, 5, &choice);
        tok_ids_add(&b->ids, choice.id);
        if (i)
            each[i - 1] = ms_since(t);
        else
            *first = ms_since(t0);
    }
    return true;
}

static bool measure(struct bench *b, struct result *r, struct err *e)
{
    size_t runs = (size_t)b->set->repeat, after = (size_t)b->set->decode_tokens - 1;
    double *first = xcalloc(runs, sizeof *first),
           *prefill = xcalloc(runs, sizeof *prefill);
    double *each = xcalloc(runs * after + 1, sizeof *each), sum = 0;
    bool ok = true;

    for (size_t k = 0; ok && k < runs; k++)
        ok = measure_once(b, r->prompt, &first[k], &prefill[k], each + k * after, e);
    if (ok) {
        double ms = quantile(prefill, runs, 0.5);
        r->first_ms = quantile(first, runs, 0.5);
        r->prefill_tps = ms > 0 ? (double)r->prompt * 1000 / ms : 0;
        for (size_t i = 0; i < runs * after; i++)
            sum += each[i];
        r->decode_tps = sum > 0 ? (double)(runs * after) * 1000 / sum : 0;
        r->p50_ms = after ? quantile(each, runs * after, 0.5) : 0;
        r->p95_ms = after ? quantile(each, runs * after, 0.95) : 0;
    }
    free(first);
    free(prefill);
    free(each);
    return ok;
}

/* ---- output ---- */

static void print_json(const struct bench *b, const struct result *v, size_t n)
{
    const struct be_info *info = be_info(b->m->be);
    const char *name = chat_model_name(b->m);
    json_t *o = json_object(), *list = json_array();
    struct be_device cpu = {0};

    be_devices(&cpu, 1);
    cmd_json_bytes(o, "model", "model_bytes", name, strlen(name));
    json_object_set_new(o, "quant", json_string(info->quant));
    json_object_set_new(o, "parameters", json_integer((json_int_t)info->parameters));
    json_object_set_new(o, "machine", json_string(cpu.name));
    json_object_set_new(o, "device", json_string(info->device));
    json_object_set_new(o, "start_ms", cmd_json_real(b->start_ms));
    json_object_set_new(o, "repeat", json_integer(b->set->repeat));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "prompt_tokens",
                      (json_int_t)v[i].prompt, "decode_tokens",
                      (json_int_t)b->set->decode_tokens, "first_token_ms",
                      cmd_json_real(v[i].first_ms), "prefill_tps",
                      cmd_json_real(v[i].prefill_tps), "decode_tps",
                      cmd_json_real(v[i].decode_tps), "p50_ms",
                      cmd_json_real(v[i].p50_ms), "p95_ms", cmd_json_real(v[i].p95_ms)));
    json_object_set_new(o, "results", list);
    cmd_json_print(o);
}

static void print_text(const struct bench *b, const struct result *v, size_t n)
{
    const struct be_info *info = be_info(b->m->be);
    struct cmd_columns head = { .width = 2, .align = "ll" };
    struct cmd_columns c = { .width = 7, .align = "rrrrrrr" };
    static const char *const heads[] = { "prompt", "decode", "first ms", "prefill tok/s",
                                         "decode tok/s", "p50 ms", "p95 ms" };
    struct be_device cpu = {0};

    be_devices(&cpu, 1);
    cmd_cellf(&head, "model");
    cmd_cellf(&head, "%s, %s %s", chat_model_name(b->m), info->arch, info->quant);
    cmd_cellf(&head, "machine");
    cmd_cellf(&head, "%s", cpu.name);
    cmd_cellf(&head, "device");
    cmd_cellf(&head, "%s", info->device);
    cmd_cellf(&head, "start");
    cmd_cellf(&head, "%.1f ms to the first prompt", b->start_ms);
    cmd_columns_print(&head);
    putchar('\n');

    for (size_t k = 0; k < 7; k++)
        cmd_cellf(&c, "%s", heads[k]);
    for (size_t i = 0; i < n; i++) {
        cmd_cellf(&c, "%zu", v[i].prompt);
        cmd_cellf(&c, "%" PRId64, b->set->decode_tokens);
        cmd_cellf(&c, "%.1f", v[i].first_ms);
        cmd_cellf(&c, "%.1f", v[i].prefill_tps);
        cmd_cellf(&c, "%.1f", v[i].decode_tps);
        cmd_cellf(&c, "%.3f", v[i].p50_ms);
        cmd_cellf(&c, "%.3f", v[i].p95_ms);
    }
    cmd_columns_print(&c);
}

/* ---- the command ---- */

/* "128,512" to results with their prompt lengths. */
static bool parse_lengths(const char *text, struct result **v, size_t *n, struct err *e)
{
    size_t cap = 0;

    for (const char *p = text;; p++) {
        size_t len = strspn(p, "0123456789");
        long length = len && len < 8 ? strtol(p, NULL, 10) : 0;
        if (length < 1 || (p[len] && p[len] != ','))
            return err_set_kind(e, ERR_USAGE,
                                "--prompt-tokens needs numbers from 1 to 9999999 "
                                "between commas, not '%s'",
                                text);
        MEM_GROW(*v, cap, *n + 1);
        (*v)[(*n)++] = (struct result){ .prompt = (size_t)length };
        p += len;
        if (!*p)
            return true;
    }
}

static bool check_fits(const struct bench *b, const struct result *v, size_t n,
                       struct err *e)
{
    uint32_t ctx = be_info(b->m->be)->ctx;

    for (size_t i = 0; i < n; i++) {
        size_t need = v[i].prompt + (size_t)b->set->decode_tokens;
        if (need > ctx)
            return err_set_kind(e, ERR_CONTEXT,
                                "%zu prompt and %" PRId64 " decoded tokens need "
                                "%zu positions but the context holds %" PRIu32
                                "; choose a "
                                "larger --ctx or fewer tokens",
                                v[i].prompt, b->set->decode_tokens, need, ctx);
    }
    return true;
}

int cmd_bench(struct cmd_call *c)
{
    struct bench b = { .set = &c->set };
    struct result *v = NULL;
    size_t n = 0;
    struct err e = {0};
    int status = CMD_OK;

    if (!cmd_at_most(c, 1) || !cmd_model_operand(c))
        return ERR_USAGE;
    if (c->set.tokenizer)
        return cmd_bench_tokenizer(c);
    bool ok = parse_lengths(c->set.prompt_tokens, &v, &n, &e) && measure_start(&b, &e);
    if (ok) {
        b.m = chat_model_open(&c->set, CHAT_MODEL_RUN, cmd_cancel(), &e);
        ok = b.m && check_fits(&b, v, n, &e);
    }
    if (ok)
        b.sampler = be_sampler_new(tok_count(b.m->tok));
    for (size_t i = 0; ok && i < n; i++)
        ok = measure(&b, &v[i], &e);
    if (!ok)
        status = cmd_fail(c, &e);
    else if (c->set.json)
        print_json(&b, v, n);
    else
        print_text(&b, v, n);
    be_sampler_free(b.sampler);
    tok_ids_release(&b.ids);
    chat_model_free(b.m);
    free(v);
    return status;
}
