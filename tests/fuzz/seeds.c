/* Write small sound GGUF files for the fuzzers to start from: seeds DIRECTORY. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/unit/hf-make.h"
#include "tests/unit/llama-write.h"

static void write_seed(const char *dir, const char *name, struct gguf_write *w)
{
    struct buf file = {0}, path = {0};

    gw_finish(w, &file);
    buf_addf(&path, "%s/%s", dir, name);
    FILE *f = fopen(path.p, "w");
    if (!f || fwrite(file.p, 1, file.n, f) != file.n || fclose(f)) {
        perror(path.p);
        exit(1);
    }
    buf_release(&file);
    buf_release(&path);
    gw_release(w);
}

/* A vocabulary with a text behind it, as fuzz-tokenizer reads it. */
static void write_vocab(const char *dir, const char *name, const char *model, const char *pre)
{
    static const char *const tokens[] = { "<unk>", "<s>", "a", "b", "ab", "\xE2\x96\x81", "\xC4\xA0",
                                          "\xE2\x96\x81t", "<0x0A>", "<tool>", "  ", "aba" };
    static const uint8_t types[] = { 2, 3, 1, 1, 1, 1, 1, 1, 6, 4, 4, 1 };
    static const char *const merges[] = { "a b", "ab a" };
    enum { N = sizeof types };
    struct gguf_write w = {0};

    gw_kv_str(&w, "tokenizer.ggml.model", model);
    gw_kv_str(&w, "tokenizer.ggml.pre", pre);
    gw_kv_array(&w, "tokenizer.ggml.tokens", GGUF_STRING, N);
    for (int i = 0; i < N; i++)
        gw_str(&w.kv, tokens[i], strlen(tokens[i]));
    gw_kv_array(&w, "tokenizer.ggml.token_type", GGUF_I32, N);
    for (int i = 0; i < N; i++)
        gw_u32(&w.kv, types[i]);
    gw_kv_array(&w, "tokenizer.ggml.scores", GGUF_F32, N);
    for (int i = 0; i < N; i++) {
        float score = -(float)i;
        buf_add(&w.kv, &score, sizeof score);
    }
    gw_kv_array(&w, "tokenizer.ggml.merges", GGUF_STRING, 2);
    for (int i = 0; i < 2; i++)
        gw_str(&w.kv, merges[i], strlen(merges[i]));
    gw_kv_u32(&w, "tokenizer.ggml.bos_token_id", 1);
    gw_kv_u32(&w, "tokenizer.ggml.eos_token_id", 11);
    gw_kv(&w, "tokenizer.ggml.add_bos_token", GGUF_BOOL, "\1", 1);
    gw_kv(&w, "tokenizer.ggml.add_space_prefix", GGUF_BOOL, "\1", 1);
    gw_pad(&w.data, 32);
    buf_add(&w.data, "ab  aba<s><tool>\n\xFF" "e\xCC\x81 1\x17\0", 25);
    write_seed(dir, name, &w);
}

/* Models that load and run, so that the fuzzer gets past the loader. */
static void write_models(const char *dir)
{
    struct gguf_write w = {0};

    lw_model(&w, "llama", GGUF_DT_F32);
    write_seed(dir, "llama.gguf", &w);
    lw_model(&w, "smollm3", GGUF_DT_Q8_0);
    write_seed(dir, "smollm3-q8_0.gguf", &w);
    lw_model(&w, "mistral3", GGUF_DT_F32);
    gw_kv_str(&w, "mistral3.rope.scaling.type", "yarn");
    gw_kv_f32(&w, "mistral3.rope.scaling.factor", 4);
    gw_kv_f32(&w, "mistral3.rope.scaling.yarn_beta_fast", 32);
    gw_kv_f32(&w, "mistral3.attention.temperature_scale", 0.1f);
    write_seed(dir, "mistral3-yarn.gguf", &w);
}

static void write_text(const char *dir, const char *name, struct buf *file)
{
    struct buf path = {0};

    buf_add(file, "ab  aba<s><tool>\n\xFF" "e\xCC\x81 1\x17\0", 25);
    buf_addf(&path, "%s/%s", dir, name);
    FILE *f = fopen(path.p, "w");
    if (!f || fwrite(file->p, 1, file->n, f) != file->n || fclose(f)) {
        perror(path.p);
        exit(1);
    }
    buf_release(&path);
}

/* Files without GGUF, as fuzz-hf and fuzz-tiktoken read them. */
static void write_files(const char *dir)
{
    struct hf_make m = {
        .vocab = ",\"ab\":256", .merges = "\"a b\",[\"ab\",\"a\"]",
        .added = "{\"id\":257,\"content\":\"<s>\",\"lstrip\":true,\"special\":true},"
                 "{\"id\":258,\"content\":\"<tool>\",\"normalized\":true,\"rstrip\":true}",
        .normalizer = "{\"type\":\"NFC\"}",
        .pre_tokenizer = "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\","
                         "\"pattern\":{\"Regex\":\"\\\\p{L}+|\\\\s\"},"
                         "\"behavior\":\"MergedWithNext\"},{\"type\":\"Digits\"},"
                         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}",
    };
    struct buf file = {0};

    hf_make(&file, &m);
    write_text(dir, "bytes.json", &file);
    m = (struct hf_make){
        .chars = true, .model = "\"byte_fallback\":true,",
        .vocab = ",\"" SP "a\":283,\"ab\":284",
        .merges = "\"" SP " a\",\"a b\"",
        .added = "{\"id\":285,\"content\":\"<s>\",\"special\":true}",
        .pre_tokenizer = "{\"type\":\"Metaspace\",\"prepend_scheme\":\"first\"}",
    };
    hf_make(&file, &m);
    write_text(dir, "chars.json", &file);
    buf_reset(&file);
    buf_adds(&file, "{\"added_tokens_decoder\":{\"258\":{\"content\":\"<s>\"}},"
                    "\"bos_token\":\"<s>\"}");
    buf_addc(&file, '\0');
    buf_adds(&file, "YWI= 256\nYWJh 257\n");
    write_text(dir, "ranks", &file);
    buf_release(&file);
}

int main(int argc, char **argv)
{
    struct gguf_write w = {0};

    if (argc != 2)
        return 2;
    write_seed(argv[1], "empty.gguf", &w);

    gw_everything(&w);
    write_seed(argv[1], "everything.gguf", &w);

    w = (struct gguf_write){ .version = 2, .align = 64 };
    gw_kv_u32(&w, "general.alignment", 64);
    gw_everything(&w);
    write_seed(argv[1], "version2-align64.gguf", &w);

    gw_kv(&w, "split.no", GGUF_U16, "\0\0", 2);
    gw_kv(&w, "split.count", GGUF_U16, "\2\0", 2);
    gw_kv(&w, "split.tensors.count", GGUF_I32, "\4\0\0\0", 4);
    gw_everything(&w);
    write_seed(argv[1], "split.gguf", &w);

    for (uint32_t t = 0; t < GGUF_DT_LIMIT; t++) {
        const struct gguf_dtype_info *d = gguf_dtype_info(t);
        if (d)
            gw_tensor(&w, d->name, t, 2, (uint64_t[]){ d->block, 2 }, NULL, 2 * d->bytes);
    }
    write_seed(argv[1], "types.gguf", &w);
    write_files(argv[1]);
    write_vocab(argv[1], "spm.gguf", "llama", "default");
    write_vocab(argv[1], "bpe.gguf", "gpt2", "llama-bpe");
    write_vocab(argv[1], "qwen.gguf", "gpt2", "qwen2");
    write_models(argv[1]);
    return 0;
}
