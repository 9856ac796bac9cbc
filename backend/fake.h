#ifndef BE_FAKE_H
#define BE_FAKE_H

/* The script of the fake device, parsed. The format is told in fake_script.c. */

#include "backend/backend.h"

enum fake_kind { FAKE_TOKEN, FAKE_SLEEP, FAKE_ERROR };

struct fake_top {
    int32_t id;
    double lp;
};

struct fake_item {
    enum fake_kind kind;
    int32_t id;                 /* FAKE_TOKEN */
    double lp;
    uint64_t repeat;            /* times, at least 1 */
    struct fake_top *top;       /* (n_top), other tokens with a scripted probability */
    size_t n_top;
    uint64_t sleep_us;          /* FAKE_SLEEP */
    char *text;                 /* FAKE_ERROR */
};

struct fake_answer {
    struct fake_item *items;
    size_t n, cap;
    bool open;                  /* after the last item it begins again: no end token */
};

struct fake_script {
    char *name, *template_name;
    uint32_t ctx;
    uint64_t delay_us, prefill_us;
    struct fake_answer *answers;
    size_t n_answers, answers_cap;
    struct be_vocab vocab;

    char **text;                /* (n_vocab) what vocab points to */
    size_t *len;
    bool *special;
    size_t n_vocab, text_cap, len_cap, special_cap;
    int32_t *slots;             /* open hash from text to id, -1 is free */
    size_t n_slots;
    size_t n_special;           /* ids 256 .. 256 + n_special - 1 */
};

/* On failure false, e is ERR_MODEL and names file and line; release s anyway. */
bool fake_script_read(struct fake_script *s, const char *path, struct err *e);
void fake_script_release(struct fake_script *s);

#endif
