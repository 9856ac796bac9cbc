#ifndef XTML_CASES_H
#define XTML_CASES_H

/* ../shared/kimi/xtml_cases.json, for the tests of XTML. */

#include <jansson.h>

#include "tests/unit/unit.h"

#include "base/buf.h"
#include "templates/pyjson.h"

static inline json_t *xtml_cases(void)
{
    struct pyjson_bad bad = {0};
    struct buf path = {0}, text = {0};
    char part[65536];
    size_t n;

    buf_addf(&path, "%s/kimi/xtml_cases.json", unit_shared());
    FILE *f = fopen(buf_str(&path), "rb");
    if (!f)
        fail_msg("cannot open %s", buf_str(&path));
    while ((n = fread(part, 1, sizeof part, f)))
        buf_add(&text, part, n);
    fclose(f);
    json_t *v = pyjson_load(buf_str(&text), text.n, PYJSON_STRICT, &bad);
    if (!v)
        fail_msg("%s: %s at byte %zu", buf_str(&path), bad.what, bad.at);
    buf_release(&path);
    buf_release(&text);
    return v;
}

static inline const char *xtml_case_str(const json_t *v, const char *key)
{
    const char *s = json_string_value(json_object_get(v, key));

    return s ? s : "";
}

#endif
