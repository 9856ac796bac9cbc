#include "config.h"

#include "tests/unit/unit.h"

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"

/* Container-level verdicts of ../shared/bad-files. The other hostile files are sound as
 * containers; whoever reads a model or a vocabulary out of them refuses those. */
static const char *const bad_containers[] = {
    "empty.gguf", "bad-magic.gguf", "version-0.gguf", "version-1.gguf", "n-tensors-max.gguf",
    "n-tensors-2e56.gguf", "n-tensors-big.gguf", "n-kv-one-more.gguf", "key-len-max.gguf",
    "type-unknown.gguf", "string-len-2e63.gguf", "array-n-overflow.gguf", "array-nested.gguf",
    "align-0.gguf", "align-13.gguf", "align-2e31.gguf", "tensor-name-len.gguf",
    "tensor-duplicate.gguf", "ndims-0.gguf", "ndims-max.gguf", "dims-wrap-to-0.gguf",
    "type-9999.gguf", "type-removed.gguf", "block-odd.gguf", "offset-unaligned.gguf",
    "offset-past-end.gguf", "cut-1-byte.gguf", "cut-half.gguf", "cut-in-metadata.gguf",
    "split-missing.gguf", "ok.safetensors",
};

static bool is_bad_container(const char *file)
{
    for (size_t i = 0; i < sizeof bad_containers / sizeof *bad_containers; i++)
        if (!strcmp(file, bad_containers[i]))
            return true;
    return !strncmp(file, "st-", 3) || !strncmp(file, "dir-", 4);
}

static void hostile_files_get_their_verdict(void **state)
{
    char path[8192];
    json_error_t je;
    size_t i;
    json_t *list, *entry;
    (void)state;
    UNIT_NEEDS_SHARED();

    snprintf(path, sizeof path, "%s/bad-files/manifest.json", unit_shared());
    list = json_load_file(path, 0, &je);
    assert_non_null(list);
    json_array_foreach(list, i, entry) {
        const char *file = json_string_value(json_object_get(entry, "file"));
        struct err e = {0};
        snprintf(path, sizeof path, "%s/bad-files/%s", unit_shared(), file);
        struct gguf *g = gguf_open(path, &e);
        if (is_bad_container(file)) {
            if (g)
                fail_msg("%s was opened", file);
            assert_int_equal(e.kind, ERR_MODEL);
            assert_non_null(strstr(e.text, file));
        } else if (!g) {
            fail_msg("%s", e.text);
        }
        if (getenv("VERBOSE"))
            print_message("# %s: %s\n", file, g ? "opened" : e.text);
        gguf_free(g);
    }
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_files_get_their_verdict),
    };
    return UNIT_RUN(tests);
}
