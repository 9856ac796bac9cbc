#include "config.h"

#include "chat/record.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/utf8.h"
#include "chat/model.h"
#include "chat/options.h"

/* A name or path is foreign: broken bytes must not cost the whole record. */
static json_t *chat_foreign_text(const char *text)
{
    struct buf shown = {0};

    if (!text || !*text)
        return json_null();
    utf8_visible(&shown, text, strlen(text), UTF8_ONE_LINE);
    json_t *j = json_stringn(shown.p, shown.n);
    buf_release(&shown);
    return j;
}

json_t *chat_record_new(const struct chat_model *m, const struct chat_settings *s,
                        const char *id)
{
    const struct be_info *info = be_info(m->be);
    char created[40];
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_t *model = json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}",
                              "name", chat_foreign_text(chat_model_name(m)),
                              "path", chat_foreign_text(m->path),
                              "sha256", chat_foreign_text(m->sha256),
                              "arch", chat_foreign_text(info->arch),
                              "quant", chat_foreign_text(info->quant),
                              "bytes", (json_int_t)info->file_bytes);
    json_t *sampler = json_pack("{s:f, s:I, s:f, s:f, s:f, s:I}", "temp", s->temp,
                                "top_k", (json_int_t)s->top_k, "top_p", s->top_p, "min_p",
                                s->min_p, "repeat_penalty", s->repeat_penalty,
                                "repeat_last", (json_int_t)s->repeat_last);
    return json_pack("{s:i, s:s?, s:s, s:s, s:o, s:s?, s:o, s:I, s:I, s:o}", "version", 1,
                     "id", id, "created", created, "program",
                     PACKAGE_NAME " " PACKAGE_VERSION, "model", model, "template",
                     m->tmpl ? tmpl_name(m->tmpl) : NULL, "sampler", sampler, "seed",
                     (json_int_t)s->seed, "ctx", (json_int_t)info->ctx, "backend",
                     chat_foreign_text(info->device));
}

void chat_choose_seed(struct chat_settings *s)
{
    uint32_t r;

    if (s->seed >= 0)
        return;
    if (getrandom(&r, sizeof r, 0) != sizeof r)
        r = (uint32_t)log_now_us();
    s->seed = r;
}
