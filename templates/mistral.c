/* Mistral with a tekken vocabulary: [INST]...[/INST]...EOS, no white space around
 * markers.
 *
 * The form grew by markers, and the vocabulary tells which one a model knows:
 *
 *   (none)            v3, Nemo: the system message stands in the last question; calls are
 *                     a JSON list, a result is JSON
 *   [SYSTEM_PROMPT]   v7: the system message and results have markers of their own
 *   [ARGS] [CALL_ID]  v11: so have name, id and arguments of a call
 *   [ARGS] [THINK]    v13: calls have no id; thoughts stand in [THINK]...[/THINK]
 *
 * Tools are declared before the last question. Models were trained with ids of nine
 * letters or digits, others are cut or filled up to that. */
#include "config.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "templates/internal.h"
#include "templates/pyjson.h"

enum { MISTRAL_ID = 9 };

struct mistral {
    struct tmpl_job *j;
    int version;
    const char *bos, *eos;
    size_t last_user;
};

static int mistral_version(const struct tmpl_job *j)
{
    if (!tmpl_has_special(j, "[SYSTEM_PROMPT]"))
        return 3;
    if (!tmpl_has_special(j, "[ARGS]"))
        return 7;
    return tmpl_has_special(j, "[CALL_ID]") ? 11 : 13;
}

/* The last nine of what counts, as ids differ at their ends; zeros in front of fewer. */
static void mistral_id(const char *id, size_t n, struct buf *out)
{
    struct buf all = {0};

    for (size_t i = 0; i < n; i++)
        if (isalnum((unsigned char)id[i]))
            buf_addc(&all, id[i]);
    for (size_t i = all.n; i < MISTRAL_ID; i++)
        buf_addc(out, '0');
    n = all.n < MISTRAL_ID ? all.n : MISTRAL_ID;
    buf_add(out, buf_str(&all) + all.n - n, n);
    buf_release(&all);
}

static void mistral_put_id(struct mistral *m, const json_t *o, const char *key)
{
    const json_t *id = json_object_get(o, key);
    const char *s = json_string_value(id);
    struct buf b = {0};

    mistral_id(s ? s : "", json_string_length(id), &b);
    tmpl_put(m->j, b.p, b.n);
    buf_release(&b);
}

/* ---- questions ---- */

static void mistral_tools(struct mistral *m, size_t i)
{
    struct tmpl_job *j = m->j;

    if (!j->tools || i != m->last_user)
        return;
    tmpl_put_special(j, "[AVAILABLE_TOOLS]");
    tmpl_put_json(j, j->tools, 0);
    tmpl_put_special(j, "[/AVAILABLE_TOOLS]");
}

static void mistral_question(struct mistral *m, size_t i)
{
    struct tmpl_job *j = m->j;

    mistral_tools(m, i);
    tmpl_put_special(j, "[INST]");
    if (m->version == 3 && i + 1 == j->n && j->messages[0].role == TMPL_SYSTEM) {
        tmpl_put_content(j, 0, TMPL_KEEP_SPACE);
        tmpl_puts(j, "\n\n");
    }
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (!tmpl_is_open(j, i))
        tmpl_put_special(j, "[/INST]");
}

static bool mistral_system(struct mistral *m, size_t i, struct err *e)
{
    struct tmpl_job *j = m->j;

    if (m->version == 3)
        return i == 0 || err_set_kind(e, ERR_USAGE,
                                      "message %zu: this model's template has "
                                      "one system message, the first",
                                      i + 1);
    tmpl_put_special(j, "[SYSTEM_PROMPT]");
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    if (!tmpl_is_open(j, i))
        tmpl_put_special(j, "[/SYSTEM_PROMPT]");
    return true;
}

/* ---- calls and results ---- */

static bool mistral_call_markers(struct mistral *m, const json_t *call, struct err *e)
{
    tmpl_put_special(m->j, "[TOOL_CALLS]");
    if (!tmpl_put_call_name(m->j, call, e))
        return false;
    if (m->version == 11) {
        tmpl_put_special(m->j, "[CALL_ID]");
        mistral_put_id(m, call, "id");
    }
    tmpl_put_special(m->j, "[ARGS]");
    tmpl_put_arguments(m->j, call);
    return true;
}

static bool mistral_call_list(struct mistral *m, const json_t *calls, struct err *e)
{
    struct tmpl_job *j = m->j;

    tmpl_put_special(j, "[TOOL_CALLS]");
    for (size_t c = 0; c < json_array_size(calls); c++) {
        const json_t *call = json_array_get(calls, c);
        tmpl_puts(j, c ? ", {\"name\": \"" : "[{\"name\": \"");
        if (!tmpl_put_call_name(j, call, e))
            return false;
        tmpl_puts(j, "\", \"arguments\": ");
        tmpl_put_arguments(j, call);
        tmpl_puts(j, ", \"id\": \"");
        mistral_put_id(m, call, "id");
        tmpl_puts(j, "\"}");
    }
    tmpl_puts(j, "]");
    return true;
}

static bool mistral_calls(struct mistral *m, size_t i, struct err *e)
{
    const json_t *calls = m->j->messages[i].calls;

    if (!calls)
        return true;
    if (m->version < 11)
        return mistral_call_list(m, calls, e);
    for (size_t c = 0; c < json_array_size(calls); c++)
        if (!mistral_call_markers(m, json_array_get(calls, c), e))
            return false;
    return true;
}

static void mistral_result(struct mistral *m, size_t i)
{
    struct tmpl_job *j = m->j;
    const json_t *message = json_array_get(j->request->messages, i);

    tmpl_put_special(j, "[TOOL_RESULTS]");
    if (m->version == 3) {
        tmpl_puts(j, "{\"content\": ");
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
        tmpl_puts(j, ", \"call_id\": \"");
        mistral_put_id(m, message, "tool_call_id");
        tmpl_puts(j, "\"}");
    } else {
        if (m->version != 13)
            mistral_put_id(m, message, "tool_call_id");
        if (m->version != 13)
            tmpl_put_special(j, "[TOOL_CONTENT]");
        tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    }
    if (!tmpl_is_open(j, i))
        tmpl_put_special(j, "[/TOOL_RESULTS]");
}

/* ---- answers ---- */

static bool mistral_written(struct mistral *m, size_t i, struct err *e)
{
    struct tmpl_job *j = m->j;
    const struct tmpl_message *msg = &j->messages[i];

    if (msg->reasoning_len && tmpl_has_special(j, "[THINK]")) {
        tmpl_put_special(j, "[THINK]");
        tmpl_put(j, msg->reasoning, msg->reasoning_len);
        if (tmpl_is_open(j, i) && !msg->content.n && !msg->calls) {
            j->out->start = TMPL_THINK;
            return true;
        }
        tmpl_put_special(j, "[/THINK]");
    }
    tmpl_put_content(j, i, TMPL_KEEP_SPACE);
    return mistral_calls(m, i, e);
}

static bool mistral_answer(struct mistral *m, size_t i, struct err *e)
{
    if (m->j->messages[i].said)
        tmpl_put_said(m->j, i);
    else if (!mistral_written(m, i, e))
        return false;
    if (!tmpl_is_open(m->j, i))
        tmpl_put_special(m->j, m->eos);
    return true;
}

static bool mistral_render(struct tmpl_job *j, struct err *e)
{
    struct mistral m = {
        .j = j,
        .version = mistral_version(j),
        .bos = j->request->bos ? j->request->bos : "<s>",
        .eos = j->request->eos ? j->request->eos : "</s>",
        .last_user = tmpl_last_user(j),
    };

    tmpl_put_special(j, m.bos);
    for (size_t i = 0; i < j->n; i++) {
        bool ok = true;
        switch (j->messages[i].role) {
        case TMPL_SYSTEM:
            ok = mistral_system(&m, i, e);
            break;
        case TMPL_USER:
            mistral_question(&m, i);
            break;
        case TMPL_ASSISTANT:
            ok = mistral_answer(&m, i, e);
            break;
        case TMPL_TOOL:
            mistral_result(&m, i);
            break;
        }
        if (!ok)
            return false;
    }
    return true;
}

const struct tmpl tmpl_mistral = {
    .name = "mistral",
    .help = "[INST] ... [/INST]: Mistral models with a tekken vocabulary",
    .needs = TMPL_NAMES("[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]",
                        "[TOOL_RESULTS]"),
    .tells = TMPL_NAMES("[INST]", "<SPECIAL_999>"),
    .render = mistral_render,
    .keeps_said = true,
    .syntax = &syn_mistral,
};
