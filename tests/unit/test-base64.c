#include "config.h"

#include "tests/unit/unit.h"

#include "base/base64.h"
#include "base/buf.h"

/* The examples of RFC 4648 section 10. */
static void vectors_of_the_rfc(void **state)
{
    static const char *const v[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
        { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" } };
    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        struct buf text = {0}, back = {0};
        base64_encode(&text, v[i][0], strlen(v[i][0]));
        assert_string_equal(buf_str(&text), v[i][1]);
        assert_true(base64_decode(&back, buf_str(&text), text.n));
        assert_string_equal(buf_str(&back), v[i][0]);
        buf_release(&text);
        buf_release(&back);
    }
}

static void every_byte_comes_back(void **state)
{
    unsigned char all[256];
    struct buf text = {0}, back = {0};
    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    base64_encode(&text, all, sizeof all);
    assert_true(base64_decode(&back, text.p, text.n));
    assert_int_equal(back.n, sizeof all);
    assert_memory_equal(back.p, all, sizeof all);
    buf_release(&text);
    buf_release(&back);
}

static void bad_text_is_refused(void **state)
{
    static const char *const bad[] = { "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====",
        "Zm 9v", "Zm9v\n", "Zm-v", "Z===", "=Zm9", "Zm9vY===" };
    struct buf out = {0};
    (void)state;
    buf_adds(&out, "kept");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (base64_decode(&out, bad[i], strlen(bad[i])))
            fail_msg("took '%s'", bad[i]);
        assert_string_equal(out.p, "kept");
    }
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc),
        cmocka_unit_test(every_byte_comes_back),
        cmocka_unit_test(bad_text_is_refused),
    };
    return UNIT_RUN(tests);
}
