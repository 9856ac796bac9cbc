/* `vitrine info`: what a model file is. It tells what can be read even of a model that
 * cannot be run, and why it cannot; the exit status then is that of the refusal. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/model.h"
#include "chat/sha256.h"
#include "chat/template.h"
#include "cmd.h"
#include "cmd_gguf.h"
#include "cmd_text.h"

struct info {
    const struct chat_settings *set;
    struct chat_model *m;       /* NULL: cannot be run */
    struct gguf *own;           /* opened here when m is NULL */
    const struct gguf *g;
    const struct tmpl *tmpl;
    const char *template_name;  /* NULL: none fits */
    struct buf why_template;    /* or what is wrong */
    char sha256[65];            /* "": not known */
};

/* False when --template names none. That none is recognised in the file is a fact to tell. */
static bool choose_template(struct info *in, struct err *named)
{
    struct chat_template_from from = {
        .named = in->set->template_name, .gguf = in->g, .vocab = &in->m->vocab,
    };
    struct err e = {0};

    in->tmpl = chat_template_choose(&from, &in->why_template, &e);
    if (!in->tmpl && in->set->template_name) {
        *named = e;
        return false;
    }
    if (in->tmpl) {
        in->template_name = tmpl_name(in->tmpl);
    } else {
        buf_reset(&in->why_template);
        buf_adds(&in->why_template, e.text);
    }
    return true;
}

/* Large files are hashed only when everything was asked for. */
static void hash(struct info *in)
{
    if (gguf_shards(in->g) > 1)
        return;
    if (in->set->verbose)
        chat_sha256_file(gguf_path(in->g), in->sha256, NULL);
    else
        chat_sha256_known(gguf_path(in->g), in->sha256);
}

/* ---- JSON ---- */

static json_t *token_json(const struct tok *t, int32_t id)
{
    size_t n;

    if (id < 0)
        return json_null();
    json_t *o = json_pack("{s:i}", "id", (int)id);
    const char *name = tok_name(t, id, &n);
    cmd_json_bytes(o, "text", "bytes", name, n);
    return o;
}

static void model_json(const struct info *in, json_t *o)
{
    const struct be_info *i = be_info(in->m->be);
    const struct tok *t = in->m->tok;

    json_object_set_new(o, "arch", json_string(i->arch));
    json_object_set_new(o, "quant", json_string(i->quant));
    json_object_set_new(o, "parameters", json_integer((json_int_t)i->parameters));
    json_object_set_new(o, "layers", json_integer(i->n_layers));
    json_object_set_new(o, "embedding", json_integer(i->n_embd));
    json_object_set_new(o, "heads", json_integer(i->n_heads));
    json_object_set_new(o, "kv_heads", json_integer(i->n_kv_heads));
    json_object_set_new(o, "head_dim", json_integer(i->head_dim));
    json_object_set_new(o, "feed_forward", json_integer(i->n_ff));
    json_object_set_new(o, "ctx_train", json_integer(i->ctx_train));
    json_object_set_new(o, "vocabulary",
                        json_pack("{s:s, s:I, s:o, s:o, s:b}", "kind", tok_kind(t),
                                  "tokens", (json_int_t)tok_count(t),
                                  "bos", token_json(t, tok_bos(t)),
                                  "eos", token_json(t, tok_eos(t)),
                                  "adds_bos", tok_adds_bos(t)));
    json_object_set_new(o, "template",
                        json_pack("{s:s?, s:s}", "name", in->template_name,
                                  in->template_name ? "why" : "error",
                                  buf_str(&in->why_template)));
}

static json_t *tensors_json(const struct gguf *g)
{
    json_t *list = json_array();

    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        json_t *o = json_object(), *shape = json_array();
        cmd_json_bytes(o, "name", "name_bytes", t->name, strlen(t->name));
        json_object_set_new(o, "type", json_string(gguf_dtype_info(t->dtype)->name));
        for (int k = 0; k < t->n_dims; k++)
            json_array_append_new(shape, json_integer((json_int_t)t->ne[k]));
        json_object_set_new(o, "shape", shape);
        json_object_set_new(o, "bytes", json_integer((json_int_t)t->size));
        json_array_append_new(list, o);
    }
    return list;
}

static void print_json(const struct info *in, const struct err *e)
{
    json_t *o = json_object();
    const char *path = gguf_path(in->g);

    cmd_json_bytes(o, "path", "path_bytes", path, strlen(path));
    json_object_set_new(o, "bytes", json_integer((json_int_t)gguf_file_bytes(in->g)));
    json_object_set_new(o, "sha256", *in->sha256 ? json_string(in->sha256) : json_null());
    json_object_set_new(o, "files", json_integer(gguf_shards(in->g)));
    json_object_set_new(o, "gguf_version", json_integer(gguf_version(in->g)));
    json_object_set_new(o, "runs", json_boolean(in->m));
    if (in->m) {
        const char *name = chat_model_name(in->m);
        cmd_json_bytes(o, "name", "name_bytes", name, strlen(name));
        model_json(in, o);
    } else {
        json_object_set_new(o, "error", json_string(e->text));
    }
    json_object_set_new(o, "tensors", tensors_json(in->g));
    json_object_set_new(o, "metadata", cmd_gguf_json(in->g, in->set->verbose));
    cmd_json_print(o);
}

/* ---- text ---- */

static void add_token(struct buf *out, const char *what, const struct tok *t, int32_t id)
{
    size_t n;

    if (id < 0) {
        buf_addf(out, ", no %s", what);
        return;
    }
    const char *name = tok_name(t, id, &n);
    buf_addf(out, ", %s %" PRId32 " ", what, id);
    buf_add(out, name, n);
}

static void row(struct cmd_columns *c, const char *what, struct buf *value)
{
    cmd_cellf(c, "%s", what);
    cmd_cell(c, buf_str(value), value->n);
    buf_reset(value);
}

static void model_rows(const struct info *in, struct cmd_columns *c)
{
    const struct be_info *i = be_info(in->m->be);
    const struct tok *t = in->m->tok;
    struct buf b = {0};

    buf_adds(&b, chat_model_name(in->m));
    row(c, "name", &b);
    buf_addf(&b, "%s, %s, ", i->arch, i->quant);
    cmd_add_count(&b, i->parameters);
    buf_adds(&b, " parameters");
    row(c, "architecture", &b);
    buf_addf(&b, "%" PRIu32 " layers, width %" PRIu32 ", feed-forward %" PRIu32
             ", %" PRIu32 " heads of %" PRIu32 " (%" PRIu32 " for keys and values)",
             i->n_layers, i->n_embd, i->n_ff, i->n_heads, i->head_dim, i->n_kv_heads);
    row(c, "shape", &b);
    buf_addf(&b, "%" PRIu32 " positions in training", i->ctx_train);
    row(c, "context", &b);
    cmd_add_count(&b, tok_count(t));
    buf_addf(&b, " tokens, %s", tok_kind(t));
    add_token(&b, "BOS", t, tok_bos(t));
    add_token(&b, "EOS", t, tok_eos(t));
    buf_adds(&b, tok_adds_bos(t) ? "; prompts begin with BOS" : "; prompts have no BOS");
    row(c, "vocabulary", &b);
    buf_addf(&b, "%s: ", in->template_name ? in->template_name : "none");
    buf_add(&b, buf_str(&in->why_template), in->why_template.n);
    row(c, "template", &b);
    buf_release(&b);
}

/* "48: 30 F32 (1.0 MiB), 18 Q8_0 (0.2 MiB)" */
static void add_tensor_types(const struct gguf *g, struct buf *out)
{
    size_t count[GGUF_DT_LIMIT] = {0};
    uint64_t bytes[GGUF_DT_LIMIT] = {0};
    const char *between = ": ";

    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        count[t->dtype]++;
        bytes[t->dtype] += t->size;
    }
    buf_addf(out, "%zu", gguf_n_tensors(g));
    for (uint32_t d = 0; d < GGUF_DT_LIMIT; d++) {
        if (!count[d])
            continue;
        buf_addf(out, "%s%zu %s (", between, count[d], gguf_dtype_info(d)->name);
        cmd_add_size(out, bytes[d]);
        buf_addc(out, ')');
        between = ", ";
    }
}

static void print_text(const struct info *in)
{
    struct cmd_columns c = { .width = 2, .align = "ll" };
    struct buf b = {0};

    buf_addf(&b, "%s (GGUF version %" PRIu32 ", ", gguf_path(in->g), gguf_version(in->g));
    if (gguf_shards(in->g) > 1)
        buf_addf(&b, "%d files, ", gguf_shards(in->g));
    cmd_add_size(&b, gguf_file_bytes(in->g));
    buf_addc(&b, ')');
    row(&c, "file", &b);
    if (*in->sha256) {
        buf_adds(&b, in->sha256);
        row(&c, "sha256", &b);
    }
    if (in->m)
        model_rows(in, &c);
    add_tensor_types(in->g, &b);
    row(&c, "tensors", &b);
    buf_addf(&b, "%zu keys%s", gguf_n_kv(in->g),
             in->set->verbose ? "" : " (-v lists them)");
    row(&c, "metadata", &b);
    cmd_columns_print(&c);
    if (in->set->verbose)
        cmd_gguf_print(in->g);
    buf_release(&b);
}

int cmd_info(struct cmd_call *c)
{
    struct info in = { .set = &c->set };
    struct err e = {0};
    int status = CMD_OK;

    if (!cmd_at_most(c, 1) || !cmd_model_operand(c))
        return ERR_USAGE;
    in.m = chat_model_open(&c->set, CHAT_MODEL_PROBE, NULL, &e);
    if (!in.m && c->set.model)
        in.own = gguf_open(c->set.model, NULL);
    in.g = in.m ? in.m->gguf : in.own;
    bool ok = in.m && choose_template(&in, &e);
    bool tell = in.g && (ok || !in.m);
    if (tell)
        hash(&in);
    if (tell && c->set.json)
        print_json(&in, &e);
    else if (tell)
        print_text(&in);
    if (!ok)
        status = cmd_fail(c, &e);
    buf_release(&in.why_template);
    tmpl_free(in.tmpl);
    gguf_free(in.own);
    chat_model_free(in.m);
    return status;
}
