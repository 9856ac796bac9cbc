#ifndef UNIT_KIMI_H
#define UNIT_KIMI_H

/* Kimi's vocabulary in a folder of its own, as the model ships it, for the tests of the
 * tokenizer and of XTML. The group's tear-down is kimi_close(). */

#include "tests/unit/vocab.h"

#include <unistd.h>

#include "tests/unit/xtml-cases.h"
#include "tokenizer/hf.h"

static inline void write_file(const char *dir, const char *name, const void *p, size_t n)
{
    struct buf path = {0};

    buf_addf(&path, "%s/%s", dir, name);
    FILE *f = fopen(path.p, "w");
    if (!f || fwrite(p, 1, n, f) != n || fclose(f))
        fail_msg("cannot write %s", path.p);
    buf_release(&path);
}

static inline void remove_file(const char *dir, const char *name)
{
    struct buf path = {0};

    buf_addf(&path, "%s/%s", dir, name);
    unlink(path.p);
    buf_release(&path);
}

/* ---- Kimi's, in a folder as the model ships it ---- */

static char kimi_dir[] = "/tmp/vitrine-kimi-XXXXXX";
static struct tok *kimi;
static json_t *kimi_cases;

/* The special tokens as tokenizer_config.json has them. */
static inline void write_config(const json_t *specials)
{
    json_t *decoder = json_object(), *config = json_object(), *id;
    const char *name;
    char key[32];

    json_object_foreach((json_t *)specials, name, id) {
        snprintf(key, sizeof key, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
        json_object_set_new(decoder, key, json_pack("{s:s, s:b}", "content", name, "special",
                                                    !strchr(name, '|')));
    }
    json_object_set_new(config, "added_tokens_decoder", decoder);
    json_object_set_new(config, "bos_token", json_string("[BOS]"));
    json_object_set_new(config, "eos_token", json_string("[EOS]"));
    char *text = json_dumps(config, 0);
    write_file(kimi_dir, "tokenizer_config.json", text, strlen(text));
    free(text);
    json_decref(config);
}

static inline void kimi_open(void)
{
    char path[8192];
    struct buf text = {0};
    struct err e = {0};

    if (kimi)
        return;
    kimi_cases = xtml_cases();
    snprintf(path, sizeof path, "%s/tokenizers/hf/kimi_k2.tiktoken.xz", unit_shared());
    assert_non_null(mkdtemp(kimi_dir));
    if (!vocab_unxz(path, &text)) {
        print_message("skipped: xz cannot unpack it\n");
        skip();
    }
    write_file(kimi_dir, "tiktoken.model", text.p, text.n);
    write_config(json_object_get(kimi_cases, "special_tokens"));
    kimi = tok_from_files(kimi_dir, NULL, &e);
    if (!kimi)
        fail_msg("%s", e.text);
    buf_release(&text);
}

static inline int kimi_close(void **state)
{
    (void)state;
    tok_free(kimi);
    json_decref(kimi_cases);
    remove_file(kimi_dir, "tiktoken.model");
    remove_file(kimi_dir, "tokenizer_config.json");
    rmdir(kimi_dir);
    return 0;
}

#endif
