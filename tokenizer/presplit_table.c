/* The pre-tokenizers: which expressions cut a text before it is merged, and which value
 * of tokenizer.ggml.pre means which. This is the one table of them; presplit.c runs it.
 *
 * Expressions are written as the models' own files have them, and in the dialect of those
 * files (presplit_spell.c tells what that means): \s is Unicode's White_Space, and
 * [A&&[^B]] an intersection. Where a family has several expressions, each cuts the pieces
 * that the one before it left; what stands between two matches is a piece too.
 *
 * Where llama.cpp's expression is a simplification (marks that are no letters,
 * contractions by ASCII only), the model's own stands here. Of these, llama.cpp's alone
 * was there to read: default, falcon, deepseek-llm, deepseek-coder, youtu, jais-2, bloom,
 * viking, chameleon, superbpe, afmoe, laguna, spark2_5, ufakzeka, gemma4, whitespace. */
#include "config.h"

#include "tokenizer/internal.h"

#include <string.h>

/* 's 't 're ... in any case */
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
/* letters that may begin and that may end a word of CamelCase; marks and letters without
 * case are both */
#define UPPER "\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
#define LOWER "\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
/* a word by case, after one character that is no letter or digit; "but" keeps characters
 * out of it, "shorts" may follow it */
#define CASED(but, shorts) \
    "[^\\r\\n\\p{L}\\p{N}]?[" UPPER but "]*[" LOWER but "]+" shorts \
    "|[^\\r\\n\\p{L}\\p{N}]?[" UPPER but "]+[" LOWER but "]*" shorts
/* white space: up to the last line break, all but the last character, all */
#define SPACES "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

#define GPT_2 \
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define QWEN2 \
    SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES
/* an ASCII sign with a Latin word, letters with marks, signs and symbols */
#define DEEPSEEK \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" \
    "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"

/* anything but white space and full stops and commas of many scripts */
#define BLOOM \
    " ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+"

static const struct presplit_family families[] = {
    { "gpt-2", { GPT_2 } },
    { "llama-bpe",
      { SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}{1,3}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES } },
    { "qwen2", { QWEN2 } },
    { "qwen35",
      { SHORT "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+"
        "|\\p{N}"
        "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACES } },
    { "gpt-4o",
      { CASED("", SHORT "?") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES } },
    { "tekken", { CASED("", "") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES } },
    { "kimi-k2",
      { "[\\p{Han}]+"
        "|" CASED("&&[^\\p{Han}]", SHORT "?")
        "|\\p{N}{1,3}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES } },
    { "tiny_aya",
      { "\\d{1,3}(?=(?:\\d{3})*\\b)",
        CASED("", SHORT "?") "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES } },
    { "deepseek-v3",
      { "\\p{N}{1,3}",
        "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
        DEEPSEEK "[\\r\\n]*" SPACES } },
    { "smollm", { "\\p{N}", GPT_2 } },
    { "minicpm5",
      { "\\p{N}{1,3}",
        SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}+"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES } },
    { "bailingmoe",
      { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+"
        "|\\p{N}"
        "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
        "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" } },
    { "seed-coder",
      { SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}{1}"
        "| ?[^\\s\\p{L}\\p{N}\\r\\n]+" SPACES } },
    { "exaone-moe",
      { SHORT "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+"
        "|\\p{N}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?"
        "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" } },

    { "default",
      { "[\\p{P}\\$\\+<=>\\^~\\|]+", GPT_2, "\\p{N}+", "[0-9][0-9][0-9]" } },
    { "falcon", { "[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT_2, "[0-9][0-9][0-9]" } },
    { "deepseek-llm",
      { "[\\r\\n]",
        /* Latin, Greek, Cyrillic, Armenian, ... letters that have case, by code point */
        "\\s?[A-Za-z\\xB5\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\x{1BA}\\x{1BC}-\\x{1BF}"
        "\\x{1C4}-\\x{293}\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}"
        "\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{38E}-\\x{3A1}"
        "\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}"
        "\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}"
        "\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}"
        "\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}"
        "\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"
        "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}"
        "\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}"
        "\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}"
        "\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}"
        "\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}"
        "\\x{2183}\\x{2184}\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}"
        "\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}"
        "\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}"
        "\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}"
        "\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}"
        "\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}"
        "\\x{1E900}-\\x{1E943}]+",
        "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}"
        "\\x{3000}-\\x{3002}]+",
        "(?<!\\s)\\s+$",
        "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+",
        "\\p{N}+" } },
    { "deepseek-coder",
      { "[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+",
        "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+", "\\p{N}" } },
    { "youtu",
      { "[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+"
        "|[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}\\x{2019}\\x{2014}\\x{FF1A}"
        "\\x{FF1B}\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+"
        "|[\\x{3105}-\\x{312F}]+"
        "|[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
        CASED("", SHORT "?") "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACES } },
    { "jais-2",
      { SHORT "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
        "|\\p{N}{1,3}"
        "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
        "|\\s*[\\r\\n]+"
        "|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)"
        "|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}" } },
    { "bloom", { BLOOM } },
    { "viking", { BLOOM, "\\p{N}" } },
    { "chameleon",
      { "<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )",
        "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", GPT_2 } },
    { "superbpe", { "\\p{N}+", "(?=(\\d{3})+(?!\\d))" } },
    { "afmoe",
      { "\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))",
        /* Han, Kana, Thai, Lao, Khmer, Myanmar, Hangul */
        "[\\x{4E00}-\\x{9FFF}\\x{3400}-\\x{4DBF}\\x{F900}-\\x{FAFF}\\x{3040}-\\x{309F}"
        "\\x{30A0}-\\x{30FF}\\x{FF65}-\\x{FF9F}\\x{2F00}-\\x{2FDF}\\x{E40}-\\x{E7F}"
        "\\x{E80}-\\x{EFF}\\x{1780}-\\x{17FF}\\x{1000}-\\x{109F}\\x{AA60}-\\x{AA7F}"
        "\\x{A9E0}-\\x{A9FF}\\x{AC00}-\\x{D7AF}\\x{1100}-\\x{11FF}]+",
        DEEPSEEK "[\\r\\n]*" SPACES } },
    { "laguna", { "[^\\n]+|[\\n]+", QWEN2 } },
    { "spark2_5",
      { "\\p{N}{1,3}",
        "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
        DEEPSEEK "|[\\r\\n]|\\s+(?!\\S)|\\s+", "\\p{N}" } },
    { "ufakzeka",
      { "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACES } },
    { "gemma4", { "[^\\n]+|[\\n]+" } },
    { "whitespace", { "\\S+" } },
};

enum {
    NFC = PRESPLIT_NFC, WHOLE = PRESPLIT_WHOLE, BOS = PRESPLIT_BOS,
    CHARS = PRESPLIT_CHARS, RANKS = PRESPLIT_RANKS,
};

/* Values of tokenizer.ggml.pre: all that llama.cpp knows. Several models share a family's
 * expressions and differ in the rest: NFC where the model's tokenizer.json has that
 * normaliser, WHOLE where it says "ignore_merges", BOS where llama.cpp adds one although
 * the file does not say so. */
static const struct presplit_name names[] = {
    { "llama-bpe", "llama-bpe", WHOLE | BOS },
    { "llama3", "llama-bpe", WHOLE | BOS },
    { "llama-v3", "llama-bpe", WHOLE | BOS },
    { "falcon3", "llama-bpe", WHOLE | BOS },
    { "falcon-h1", "llama-bpe", WHOLE | BOS },
    { "pixtral", "llama-bpe", WHOLE | BOS },
    { "midm-2.0", "llama-bpe", WHOLE | BOS },
    { "lfm2", "llama-bpe", WHOLE | BOS },
    { "jina-v5-nano", "llama-bpe", WHOLE | BOS },
    { "smaug-bpe", "llama-bpe", 0 },
    { "dbrx", "llama-bpe", 0 },
    { "glm4", "llama-bpe", 0 },
    { "chatglm-bpe", "llama-bpe", 0 },
    { "jais-2", "jais-2", 0 },
    { "minicpm5", "minicpm5", WHOLE },
    { "qwen2", "qwen2", NFC },
    { "deepseek-r1-qwen", "qwen2", NFC },
    { "kormo", "qwen2", NFC },
    { "f2llmv2", "qwen2", NFC },
    { "stablelm2", "qwen2", NFC },
    { "hunyuan", "qwen2", NFC },
    { "megrez", "qwen2", 0 },
    { "grok-2", "qwen2", 0 },
    { "solar-open", "qwen2", 0 },
    { "qwen35", "qwen35", NFC },
    { "laguna", "laguna", 0 },
    { "ufakzeka", "ufakzeka", 0 },
    { "seed-coder", "seed-coder", 0 },
    { "bailingmoe", "bailingmoe", 0 },
    { "bailingmoe2", "bailingmoe", 0 },
    { "llada-moe", "bailingmoe", 0 },
    { "exaone-moe", "exaone-moe", 0 },
    { "gpt-4o", "gpt-4o", 0 },
    { "llama4", "gpt-4o", 0 },
    { "kanana2", "gpt-4o", 0 },
    { "talkie", "gpt-4o", 0 },
    { "minimax-m2", "gpt-4o", 0 },
    { "granite-embed-multi-97m", "gpt-4o", WHOLE },
    { "tiny_aya", "tiny_aya", 0 },
    { "cohere2moe", "tiny_aya", 0 },
    { "tekken", "tekken", WHOLE | BOS },
    { "kimi-k2", "kimi-k2", WHOLE | RANKS },
    { "youtu", "youtu", WHOLE },
    { "deepseek-v3", "deepseek-v3", 0 },
    { "hunyuan-dense", "deepseek-v3", 0 },
    { "joyai-llm", "deepseek-v3", 0 },
    { "hy_v4", "deepseek-v3", 0 },
    { "spark2_5", "spark2_5", 0 },
    { "deepseek-llm", "deepseek-llm", 0 },
    { "deepseek-coder", "deepseek-coder", 0 },
    { "afmoe", "afmoe", 0 },
    { "superbpe", "superbpe", 0 },
    { "gpt-2", "gpt-2", 0 },
    { "phi-2", "gpt-2", 0 },
    { "olmo", "gpt-2", NFC },
    { "modern-bert", "gpt-2", NFC },
    { "mpt", "gpt-2", 0 },
    { "roberta-bpe", "gpt-2", 0 },
    { "jais", "gpt-2", 0 },
    { "exaone4", "gpt-2", 0 },
    { "trillion", "gpt-2", 0 },
    { "granite-docling", "gpt-2", 0 },
    { "a.x-4.0", "gpt-2", 0 },
    { "gigachat", "gpt-2", 0 },
    { "mellum", "gpt-2", 0 },
    { "jina-es", "gpt-2", 0 },
    { "jina-de", "gpt-2", 0 },
    { "jina-v1-en", "gpt-2", 0 },
    { "jina-v2-es", "gpt-2", 0 },
    { "jina-v2-de", "gpt-2", 0 },
    { "jina-v2-code", "gpt-2", 0 },
    { "smollm", "smollm", 0 },
    { "starcoder", "smollm", 0 },
    { "refact", "smollm", 0 },
    { "command-r", "smollm", 0 },
    { "codeshell", "smollm", 0 },
    { "exaone", "smollm", 0 },
    { "minerva-7b", "smollm", 0 },
    { "mellum2", "smollm", 0 },
    { "falcon", "falcon", 0 },
    { "bloom", "bloom", 0 },
    { "poro-chat", "bloom", 0 },
    { "gpt3-finnish", "bloom", 0 },
    { "viking", "viking", 0 },
    { "chameleon", "chameleon", BOS },
    { "gemma4", "gemma4", CHARS | BOS },
    { "granite-embed-multi-311m", "gemma4", CHARS | BOS },
    { "sarvam-moe", "gemma4", CHARS },
    { "whitespace", "whitespace", CHARS },
    { "default", "default", 0 },
};

const struct presplit_family *presplit_family(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

const struct presplit_name *presplit_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
            return &names[i];
    return NULL;
}

void presplit_list(struct buf *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        buf_addf(out, "%s%s", i ? ", " : "", names[i].name);
}

const struct presplit_name *presplit_name_at(size_t i)
{
    return i < sizeof names / sizeof *names ? &names[i] : NULL;
}
