#ifndef UNIT_HF_MAKE_H
#define UNIT_HF_MAKE_H

/* Small tokenizer.json texts for tests, put together from parts. */

#include "tests/unit/vocab-make.h"

#include "tokenizer/hf.h"

struct hf_make {
    const char *model;          /* more members of "model", each with a comma behind it */
    const char *vocab;          /* more entries: ,"ab":300 */
    const char *merges;         /* elements: "a b", ... */
    const char *added;          /* elements of added_tokens */
    const char *normalizer, *pre_tokenizer, *post_processor;    /* or NULL */
    bool chars;                 /* characters and byte tokens, not the byte-level alphabet */
};

/* Tokens 0 to 255 are the bytes; of a vocabulary of characters, <0x00> to <0xFF>, then
 * U+2581 and the letters a to z as 256 to 282. */
static inline void hf_make(struct buf *out, const struct hf_make *m)
{
    buf_reset(out);
    buf_addf(out, "{\"version\":\"1.0\",\"added_tokens\":[%s],", m->added ? m->added : "");
    buf_addf(out, "\"normalizer\":%s,\"pre_tokenizer\":%s,\"post_processor\":%s,",
             m->normalizer ? m->normalizer : "null",
             m->pre_tokenizer ? m->pre_tokenizer : "null",
             m->post_processor ? m->post_processor : "null");
    buf_addf(out, "\"model\":{\"type\":\"BPE\",%s\"vocab\":{", m->model ? m->model : "");
    for (int b = 0; b < 256; b++) {
        if (m->chars)
            buf_addf(out, "%s\"<0x%02X>\":%d", b ? "," : "", b, b);
        else
            buf_addf(out, "%s\"%s%s\":%d", b ? "," : "",
                     b == '"' || b == '\\' ? "\\" : "", letter(b), b);
    }
    for (int c = 'a'; m->chars && c <= 'z'; c++)
        buf_addf(out, ",\"%c\":%d", c, 257 + c - 'a');
    if (m->chars)
        buf_adds(out, ",\"" SP "\":256");
    buf_addf(out, "%s},\"merges\":[%s]}}", m->vocab ? m->vocab : "",
             m->merges ? m->merges : "");
}

/* The ids of a text: "300 97 301". */
static inline void hf_ids(const struct tok *t, const char *text, enum tok_place place,
                          bool special, struct buf *out)
{
    struct tok_ids ids = {0};

    (special ? tok_encode_special : tok_encode)(t, text, strlen(text), place, &ids);
    buf_reset(out);
    for (size_t i = 0; i < ids.n; i++)
        buf_addf(out, "%s%d", i ? " " : "", (int)ids.v[i]);
    tok_ids_release(&ids);
}

#endif
