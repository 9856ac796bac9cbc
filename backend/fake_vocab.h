#ifndef BE_FAKE_VOCAB_H
#define BE_FAKE_VOCAB_H

/* Filling the vocabulary of a fake script: bytes first, then specials, then texts. */

#include "backend/fake.h"

void fake_vocab_bytes(struct fake_script *s);
void fake_vocab_add_special(struct fake_script *s, const char *name, size_t n);
int32_t fake_vocab_special(const struct fake_script *s, const char *name, size_t n);   /* -1 */
int32_t fake_vocab_text(struct fake_script *s, const char *p, size_t n);    /* added if new */
void fake_vocab_finish(struct fake_script *s);
void fake_vocab_release(struct fake_script *s);

#endif
