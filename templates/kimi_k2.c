/* Kimi K2 and Kimi Linear: <|im_user|>NAME<|im_middle|>...<|im_end|>, nothing between
 * turns.
 *
 * Calls stand in a section of their own and are numbered through the conversation;
 * results come from the system's side, in the order of the calls. K2 Thinking, known by
 * <think> in its vocabulary, puts a thought before every answer: its words behind the
 * first answer that was no call, an empty one up to there. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "templates/internal.h"

struct kimi {
    struct tmpl_job *j;
    size_t calls;               /* written so far */
    struct buf ids;             /* of the calls, each with a NUL behind it */
    size_t ids_at;              /* where the id of the next result is */
    size_t first_answer;        /* the first one without calls; SIZE_MAX: none */
};

static void kimi_open(struct kimi *k, size_t i)
{
    static const char *const marks[] = {
        [TMPL_SYSTEM] = "<|im_system|>",        [TMPL_USER] = "<|im_user|>",
        [TMPL_ASSISTANT] = "<|im_assistant|>",  [TMPL_TOOL] = "<|im_system|>",
    };
    static const char *const roles[] = {
        [TMPL_SYSTEM] = "system",               [TMPL_USER] = "user",
        [TMPL_ASSISTANT] = "assistant",         [TMPL_TOOL] = "tool",
    };
    const struct tmpl_message *m = &k->j->messages[i];

    tmpl_put_special(k->j, marks[m->role]);
    if (m->name && *m->name)
        tmpl_put(k->j, m->name, strlen(m->name));
    else
        tmpl_puts(k->j, roles[m->role]);
    tmpl_put_special(k->j, "<|im_middle|>");
}

/* The id of the next call, which its result will name. */
static bool kimi_id(struct kimi *k, size_t i, const json_t *call, struct err *e)
{
    const char *name, *id = json_string_value(json_object_get(call, "id"));
    size_t n;

    if (!tmpl_get_string(tmpl_function(call), "name", &name, &n, e))
        return false;
    if (!n)
        return err_set_kind(e, ERR_USAGE, "message %zu: a call has no name", i + 1);
    if (k->j->messages[i].said && id && !strncmp(id, "functions.", 10))
        buf_adds(&k->ids, id);              /* as the model wrote it */
    else
        buf_addf(&k->ids, "functions.%s:%zu", name, k->calls);
    buf_addc(&k->ids, '\0');
    k->calls++;
    return true;
}

static bool kimi_calls(struct kimi *k, size_t i, struct err *e)
{
    const json_t *calls = k->j->messages[i].calls;
    bool said = k->j->messages[i].said;

    if (calls && !said)
        tmpl_put_special(k->j, "<|tool_calls_section_begin|>");
    for (size_t c = 0; c < json_array_size(calls); c++) {
        size_t at = k->ids.n;

        if (!kimi_id(k, i, json_array_get(calls, c), e))
            return false;
        if (said)
            continue;
        tmpl_put_special(k->j, "<|tool_call_begin|>");
        tmpl_put(k->j, k->ids.p + at, k->ids.n - 1 - at);
        tmpl_put_special(k->j, "<|tool_call_argument_begin|>");
        tmpl_put_arguments(k->j, json_array_get(calls, c));
        tmpl_put_special(k->j, "<|tool_call_end|>");
    }
    if (calls && !said)
        tmpl_put_special(k->j, "<|tool_calls_section_end|>");
    return true;
}

/* False: the model goes on in the thought. */
static bool kimi_thought(struct kimi *k, size_t i)
{
    const struct tmpl_message *m = &k->j->messages[i];
    bool since = k->first_answer == SIZE_MAX || i > k->first_answer;

    if (!tmpl_has_special(k->j, "<think>"))
        return true;
    tmpl_put_special(k->j, "<think>");
    if (since || tmpl_is_open(k->j, i))
        tmpl_put(k->j, m->reasoning, m->reasoning_len);
    if (tmpl_is_open(k->j, i) && m->reasoning_len && !m->content.n && !m->calls) {
        k->j->out->start = TMPL_THINK;
        return false;
    }
    tmpl_put_special(k->j, "</think>");
    return true;
}

static bool kimi_answer(struct kimi *k, size_t i, struct err *e)
{
    if (k->j->messages[i].said) {
        tmpl_put_said(k->j, i);
        return kimi_calls(k, i, e);
    }
    if (!kimi_thought(k, i))
        return true;
    tmpl_put_content(k->j, i, TMPL_KEEP_SPACE);
    return kimi_calls(k, i, e);
}

static void kimi_result(struct kimi *k, size_t i)
{
    const struct tmpl_message *m = &k->j->messages[i];
    struct buf id = {0};

    if (k->ids_at < k->ids.n) {
        buf_adds(&id, k->ids.p + k->ids_at);
        k->ids_at += id.n + 1;
    } else if (m->tool_call_id) {
        buf_adds(&id, m->tool_call_id);
    } else {
        buf_addf(&id, "functions.%s:%zu", m->name ? m->name : "unknown", k->calls);
    }
    tmpl_puts(k->j, "## Return of ");
    tmpl_put(k->j, buf_str(&id), id.n);
    tmpl_puts(k->j, "\n");
    tmpl_put_content(k->j, i, TMPL_KEEP_SPACE);
    buf_release(&id);
}

static bool kimi_message(struct kimi *k, size_t i, struct err *e)
{
    kimi_open(k, i);
    if (k->j->messages[i].role == TMPL_ASSISTANT) {
        if (!kimi_answer(k, i, e))
            return false;
    } else if (k->j->messages[i].role == TMPL_TOOL) {
        kimi_result(k, i);
    } else {
        tmpl_put_content(k->j, i, TMPL_KEEP_SPACE);
    }
    if (!tmpl_is_open(k->j, i))
        tmpl_put_special(k->j, "<|im_end|>");
    return true;
}

static bool kimi_render(struct tmpl_job *j, struct err *e)
{
    struct kimi k = { .j = j, .first_answer = SIZE_MAX };
    bool ok = true;

    for (size_t i = j->n; i-- > 0;)
        if (j->messages[i].role == TMPL_ASSISTANT && !j->messages[i].calls)
            k.first_answer = i;
    if (j->tools) {
        tmpl_put_special(j, "<|im_system|>");
        tmpl_puts(j, "tool_declare");
        tmpl_put_special(j, "<|im_middle|>");
        tmpl_put_json(j, j->tools, 0);
        tmpl_put_special(j, "<|im_end|>");
    }
    for (size_t i = 0; i < j->n && ok; i++)
        ok = kimi_message(&k, i, e);
    buf_release(&k.ids);
    if (!ok || !tmpl_wants_answer(j))
        return ok;
    tmpl_put_special(j, "<|im_assistant|>");
    tmpl_puts(j, "assistant");
    tmpl_put_special(j, "<|im_middle|>");
    return true;
}

const struct tmpl tmpl_kimi_k2 = {
    .name = "kimi-k2",
    .help = "<|im_user|>user<|im_middle|> ... <|im_end|>: Kimi K2, Kimi Linear",
    .needs = TMPL_NAMES("<|im_user|>", "<|im_assistant|>", "<|im_system|>",
                        "<|im_middle|>", "<|im_end|>"),
    .tells = TMPL_NAMES("<|im_middle|>"),
    .render = kimi_render,
    .keeps_said = true,
    .syntax = &syn_kimi_k2,
};
