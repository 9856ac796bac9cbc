/* The template interpreter: against Jinja2 on every row of ../shared/templates and on
 * tests/vectors/jinja-language.json, and by itself on what Jinja2 has not: origin and
 * bounds. */
#include "config.h"

#include "tests/unit/unit.h"

#include <dirent.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/gguf.h"
#include "templates/jinja.h"
#include "templates/pyjson.h"

static const struct tm now = {
    .tm_year = 126,
    .tm_mon = 0,
    .tm_mday = 15,
    .tm_hour = 12,
    .tm_min = 34,
    .tm_sec = 56,
    .tm_wday = 4,
    .tm_yday = 14,
};

/* ---- reading ---- */

static bool read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    char block[65536];
    size_t n;

    buf_reset(out);
    if (!f)
        return false;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    fclose(f);
    return true;
}

static json_t *read_json(const char *path)
{
    struct buf b = {0};
    struct pyjson_bad bad = {0};

    if (!read_file(path, &b))
        fail_msg("cannot read %s", path);
    json_t *v = pyjson_load(buf_str(&b), b.n, PYJSON_NAN, &bad);
    if (!v)
        fail_msg("%s: %s at byte %zu", path, bad.what, bad.at);
    buf_release(&b);
    return v;
}

/* Render source with context; the text or, with *failed, the message. The caller frees.
 */
static char *run(const char *source, size_t len, const json_t *context, bool *failed)
{
    struct jinja_limits limits = { .now = &now };
    struct jinja_output out = {0};
    struct err e = {0};
    struct jinja *j = jinja_compile(source, len, &e);
    char *text;

    *failed = !j || !jinja_render(j, context, &limits, &out, &e);
    if (*failed) {
        assert_int_equal(e.kind, ERR_FAILED);
        assert_non_null(strstr(e.text, "chat template, line "));
        text = strdup(e.text);
    } else {
        text = strndup(buf_str(&out.text), out.text.n);
    }
    jinja_output_release(&out);
    jinja_free(j);
    return text;
}

/* ---- the rows of ../shared/templates ---- */

/* Rows that differ from Jinja2, each with its reason. There are none. */
static const struct {
    const char *template, *test_case, *why;
} misses[] = {
    { NULL, NULL, NULL },
};

struct tally {
    int rows, equal;      /* all */
    int sure, sure_equal; /* those where both other engines agree with Jinja2 */
};

static const char *excuse(const char *template, const char *test_case)
{
    for (size_t i = 0; misses[i].template; i++)
        if (!strcmp(misses[i].template, template) &&
            !strcmp(misses[i].test_case, test_case))
            return misses[i].why;
    return NULL;
}

static json_t *context_of(const json_t *cases, const char *name)
{
    const json_t *c;
    size_t i;

    json_array_foreach (json_object_get(cases, "cases"), i, c) {
        if (strcmp(json_string_value(json_object_get(c, "case")), name) != 0)
            continue;
        json_t *context = json_deep_copy(json_object_get(c, "options"));
        json_object_set(context, "messages", json_object_get(c, "messages"));
        json_object_set(context, "tools", json_object_get(c, "tools"));
        json_object_set_new(context, "documents", json_null());
        json_object_set(context, "bos_token", json_object_get(cases, "bos_token"));
        json_object_set(context, "eos_token", json_object_get(cases, "eos_token"));
        return context;
    }
    fail_msg("no case %s", name);
    return NULL;
}

static bool row_equal(const struct buf *source, const json_t *cases, const json_t *row,
                      char **got)
{
    const char *expected = json_string_value(json_object_get(row, "expected"));
    json_t *context = context_of(cases, json_string_value(json_object_get(row, "case")));
    bool failed;

    *got = run(source->p, source->n, context, &failed);
    json_decref(context);
    return expected ? !failed && strcmp(*got, expected) == 0 : failed;
}

static void check_rows(const char *name, const struct buf *source, const json_t *cases,
                       const json_t *rows, struct tally *t)
{
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row) {
        const char *test_case = json_string_value(json_object_get(row, "case"));
        bool sure = json_is_true(json_object_get(row, "hf_jinja_js")) &&
                    json_is_true(json_object_get(row, "llama_cpp"));
        char *got;
        bool equal = row_equal(source, cases, row, &got);

        t->rows++;
        t->equal += equal;
        t->sure += sure;
        t->sure_equal += sure && equal;
        if (!equal && (sure || !excuse(name, test_case)))
            print_message("%s, %s: %.300s\n", name, test_case, got);
        if (equal && excuse(name, test_case))
            fail_msg("%s, %s is no longer a miss", name, test_case);
        free(got);
    }
}

static void check_template(const char *folder, const char *name, const json_t *cases,
                           struct tally *t)
{
    bool gguf = strcmp(folder, "jinja-gguf") == 0;
    struct buf path = {0}, source = {0};

    buf_addf(&path, "%s/templates/%s/%s.jinja", unit_shared(), folder, name);
    assert_true(read_file(path.p, &source));
    buf_reset(&path);
    buf_addf(&path, "%s/templates/%s/%s.json", unit_shared(),
             gguf ? "expected-gguf" : "expected", name);
    json_t *rows = read_json(path.p);
    check_rows(name, &source, cases, rows, t);
    json_decref(rows);
    buf_release(&path);
    buf_release(&source);
}

static void check_folder(const char *folder, const json_t *cases, struct tally *t)
{
    static const char suffix[] = ".jinja";
    struct buf path = {0};
    struct dirent *d;

    buf_addf(&path, "%s/templates/%s", unit_shared(), folder);
    DIR *dir = opendir(path.p);
    assert_non_null(dir);
    while ((d = readdir(dir))) {
        size_t n = strlen(d->d_name);
        if (n < sizeof suffix || strcmp(d->d_name + n - 6, suffix) != 0)
            continue;
        d->d_name[n - 6] = '\0';
        check_template(folder, d->d_name, cases, t);
    }
    closedir(dir);
    buf_release(&path);
}

static void test_rows(void **state)
{
    struct buf path = {0};
    struct tally t = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    buf_addf(&path, "%s/templates/cases.json", unit_shared());
    json_t *cases = read_json(path.p);
    check_folder("jinja", cases, &t);
    check_folder("jinja-gguf", cases, &t);
    json_decref(cases);
    buf_release(&path);
    print_message("%d of %d rows equal; of the sure ones %d of %d\n", t.equal, t.rows,
                  t.sure_equal, t.sure);
    assert_true(t.rows >= 6336);
    assert_int_equal(t.sure_equal, t.sure);
    assert_true(t.equal * 100 >= t.rows * 98);
    assert_true(t.rows - t.equal <= (int)(sizeof misses / sizeof *misses) - 1);
}

/* ---- the language ---- */

static void test_language(void **state)
{
    const char *top = getenv("top_srcdir");
    struct buf path = {0};
    const json_t *row;
    int bad = 0;
    size_t i;

    (void)state;
    buf_addf(&path, "%s/tests/vectors/jinja-language.json", top ? top : ".");
    json_t *rows = read_json(path.p);
    json_t *context = json_object_get(json_array_get(rows, 0), "context");
    assert_non_null(context);
    json_array_foreach (rows, i, row) {
        const char *source = json_string_value(json_object_get(row, "template"));
        const json_t *expected = json_object_get(row, "expected");
        bool failed;

        if (!source)
            continue;
        char *got = run(source, strlen(source), context, &failed);
        if (expected ? failed || strcmp(got, json_string_value(expected)) != 0
                     : !failed) {
            print_message("%s\n  gives %s\n  not   %s\n", source, got,
                          expected ? json_string_value(expected) : "an error");
            bad++;
        }
        free(got);
    }
    assert_true(json_array_size(rows) > 400);
    assert_int_equal(bad, 0);
    json_decref(rows);
    buf_release(&path);
}

/* ---- single templates ---- */

/* Render with a context in JSON; fails the test if it fails. Origins are marked: what
 * comes from the conversation stands in «». */
static char *marked(const char *source, const char *json)
{
    json_t *context = pyjson_load(json, strlen(json), PYJSON_NAN, NULL);
    struct jinja_output out = {0};
    struct buf b = {0};
    struct err e = {0};
    struct jinja *j = jinja_compile(source, strlen(source), &e);
    size_t at = 0;

    assert_non_null(context);
    if (!j || !jinja_render(j, context, NULL, &out, &e))
        fail_msg("%s: %s", source, e.text);
    for (size_t i = 0; i < out.n_runs; i++) {
        const struct jinja_run *r = &out.runs[i];
        bool conversation = r->origin == JINJA_CONVERSATION;
        assert_int_equal(r->from, at);
        assert_true(r->to > r->from);
        assert_true(i == 0 || r->origin != out.runs[i - 1].origin);
        at = r->to;
        buf_addf(&b, "%s%.*s%s", conversation ? "«" : "", (int)(r->to - r->from),
                 out.text.p + r->from, conversation ? "»" : "");
    }
    assert_int_equal(at, out.text.n);
    jinja_output_release(&out);
    jinja_free(j);
    json_decref(context);
    return b.p ? b.p : strdup("");
}

static void check_marked(const char *source, const char *json, const char *expected)
{
    char *got = marked(source, json);

    if (strcmp(got, expected) != 0)
        fail_msg("%s gives %s, not %s", source, got, expected);
    free(got);
}

/* What is wrong, with the template's line. */
static void check_error(const char *source, const char *expected)
{
    const char *json = "{\"u\": \"x\"}";
    json_t *context = json_loads(json, 0, NULL);
    bool failed;
    char *got = run(source, strlen(source), context, &failed);

    if (!failed || !strstr(got, expected))
        fail_msg("%s gives %s, not %s", source, got, expected);
    free(got);
    json_decref(context);
}

#define U \
    "{\"u\": \"a<|im_end|>b\", \"l\": [\"<|im_end|>\", 5, 1.0, true, null], " \
    "\"bos_token\": \"<s>\", \"m\": {\"k\": \"v\"}, " \
    "\"big\": 12345678901234567890123}"

static void test_origin(void **state)
{
    static const struct {
        const char *source, *expected;
    } cases[] = {
        { "<|im_end|>{{ u }}", "<|im_end|>«a<|im_end|>b»" },
        { "{{ '<|im_end|>' }}{{ bos_token }}{{ 5 }}{{ 1.5 }}{{ true }}",
          "<|im_end|><s>51.5True" },
        { "{{ l[1] }}{{ l[2] }}{{ l[3] }}{{ l[4] }}{{ big }}",
          "«51.0TrueNone12345678901234567890123»" },
        { "{{ u[1:11] }}", "«<|im_end|>»" },
        { "{{ u[1] ~ 'x' ~ u[2] }}", "«<»x«|»" },
        { "{{ '<' + u[2:9] + '>' }}", "<«|im_end»>" },
        { "{{ (' ' + u + '  x ')|trim }}", "«a<|im_end|>b»  x" },
        { "{{ (' ' ~ u).strip().split('<')[1] }}", "«|im_end|>b»" },
        { "{{ u|replace('a', 'Q') }}", "«Q<|im_end|>b»" },
        { "{{ u.replace('b', '<|im_end|>') }}", "«a<|im_end|><|im_end|>»" },
        { "{{ 'x-y'|replace('-', u) }}", "x«a<|im_end|>b»y" },
        { "{{ 'x-y'.replace('-', '+') }}", "x+y" },
        { "{{ [u, 'x', u]|join('|') }}", "«a<|im_end|>b»|x|«a<|im_end|>b»" },
        { "{{ u|tojson }}", "«\"a<|im_end|>b\"»" },
        { "{{ {'a': u, 'b': 1}|tojson }}", "{\"a\": «\"a<|im_end|>b\"», \"b\": 1}" },
        { "{{ m|tojson }}", "«{\"k\": \"v\"}»" },
        { "{{ [u] }}{{ l }}", "[«'a<|im_end|>b'»]«['<|im_end|>', 5, 1.0, True, None]»" },
        { "{{ u|upper }}{{ 'x'|upper }}{{ (u ~ 'x')|upper }}",
          "«A<|IM_END|>B»X«A<|IM_END|>B»X" },
        { "{{ '%s and %d' % (u, l[1]) }}", "«a<|im_end|>b» and «5»" },
        { "{{ '{} {:>3}'.format(u, 7) }}", "«a<|im_end|>b»   7" },
        { "{{ u|length }}{{ l[1] + 1 }}{{ 1 + 1 }}", "«126»2" },
        { "{% set x %}<{{ u }}>{% endset %}{{ x }}{{ x[:2] }}", "<«a<|im_end|>b»><«a»" },
        { "{% macro f(a) %}[{{ a }}]{% endmacro %}{{ f(u)|upper }}", "[«A<|IM_END|>B»]" },
        { "{% for c in u[1:3] %}{{ c }}-{% endfor %}", "«<»-«|»-" },
        { "{% for k, v in m.items() %}{{ k }}={{ v }}{% endfor %}", "«k»=«v»" },
        { "{% for x in l %}{{ loop.index }}{% endfor %}", "12345" },
        { "{{ u|indent(2, true) }}|{{ 'a\nb'|indent(1) }}", "«  a<|im_end|>b»|a\n b" },
        { "{{ u|e }}{{ u|safe }}", "«a&lt;|im_end|&gt;ba<|im_end|>b»" },
        { "{{ '<|im_end|>' if u else '' }}", "<|im_end|>" },
        { "{{ 'ab' * 2 }}{{ u * 2 }}", "abab«a<|im_end|>ba<|im_end|>b»" },
        { "{{ '5'|int }}{{ (l[1]|string)|int }}", "5«5»" },
        { "{% filter upper %}x{{ u }}{% endfilter %}", "X«A<|IM_END|>B»" },
        { "{% set ns = namespace(t='') %}{% for x in ['1', '2'] %}"
          "{% set ns.t = ns.t ~ x ~ u[0] %}{% endfor %}{{ ns.t }}{{ ns.t[1:3] }}",
          "1«a»2«aa»2" },
        { "{{ strftime_now('%%') }}", "%" },
        { "{{ u.partition('<')[0] ~ ('a' ~ u).rsplit('b', 1)[0] }}",
          "«a»a«a<|im_end|>»" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_marked(cases[i].source, U, cases[i].expected);
    check_marked("{% for m in messages %}<|{{ m.role }}|>{{ m['content'] }}{% endfor %}",
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"user\"}, "
                 "{\"role\": \"im_end\", \"content\": \"\"}]}",
                 "<|user|>«user»<|«im_end»|>");
    check_marked("{{ x.role }}", "{\"x\": {\"role\": \"user\"}}", "«user»");
}

/* Text put together piece by piece shares its memory; what was there before must stay. */
static void test_shared_text(void **state)
{
    (void)state;
    check_marked("{% set a = 'x' ~ 'y' %}{% set b = a ~ u[0] %}{% set c = a ~ 'z' %}"
                 "{% set d = b ~ '!' %}{{ a }},{{ b }},{{ c }},{{ d }}",
                 U, "xy,xy«a»,xyz,xy«a»!");
    check_marked(
        "{% set a = 'p' 'q' %}{% for i in [1, 2] %}{{ a ~ i }},{% endfor %}{{ a }}", U,
        "pq1,pq2,pq");
}

static void test_errors(void **state)
{
    (void)state;
    check_error("a\nb\n{{ raise_exception('no ' ~ u) }}", "line 3: no x");
    check_error("\n{{ u.x.y }}", "line 2: 'str object' has no attribute 'x'");
    check_error("{% if true %}\n\n{{ 1", "line 3: a tag is not closed");
    check_error("\n\n{% foo %}", "line 3: unknown or misplaced tag 'foo'");
    check_error("{{ u|nope }}", "line 1: there is no filter named 'nope'");
    check_error("{% macro m() %}\n{{ 1 + u }}\n{% endmacro %}\n\n{{ m() }}", "line 2: ");
    check_error("{% include 'x' %}", "cannot load other templates");
    check_error("{{ 9223372036854775807 + 1 }}", "more than 64 bits");
    check_error("{{ 'x'.zfill(10**18) }}", "memory");
}

/* ---- bounds ---- */

static void check_bound(const char *source, struct jinja_limits limits,
                        const char *expected)
{
    json_t *context = json_object();
    struct jinja_output out = {0};
    struct err e = {0};
    clock_t start = clock();
    struct jinja *j = jinja_compile(source, strlen(source), &e);
    bool ok = j && jinja_render(j, context, &limits, &out, &e);

    if (ok || !strstr(e.text, expected))
        fail_msg("%.200s: %s, not %s", source, ok ? "rendered" : e.text, expected);
    assert_int_equal(out.text.n, 0);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    jinja_output_release(&out);
    jinja_free(j);
    json_decref(context);
}

static void test_bounds(void **state)
{
    const struct jinja_limits none = {0};
    struct buf deep = {0};

    (void)state;
    check_bound("{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}"
                "{% endfor %}",
                none, "does not end");
    check_bound("{% for i in range(1000000000) %}x{% endfor %}", none, "range too big");
    check_bound("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", none, "levels deep");
    check_bound("{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}",
                none, "does not end");
    check_bound("{% set ns = namespace(x='ab') %}{% for i in range(60) %}"
                "{% set ns.x = ns.x * 2 %}{% endfor %}",
                none, "512 MiB");
    check_bound("{{ 'x' * 100 }}", (struct jinja_limits){ .output = 99 },
                "longer than 99");
    check_bound("{{ ('x' * 2000000)|length }}",
                (struct jinja_limits){ .memory = 1 << 20 }, "more than 1 MiB");
    check_bound("{{ 1 }}{{ 2 }}{{ 3 }}", (struct jinja_limits){ .steps = 5 },
                "does not end");
    check_bound("{% set l = [] %}{% set _ = l.append(l) %}{{ l }}", none, "levels deep");
    check_bound("{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}", none,
                "levels deep");
    check_bound("{{ '%999999d' % 1 ~ '%.9999f' % 1 }}", none, "precision");
    buf_adds(&deep, "{{ ");
    for (int i = 0; i < 100000; i++)
        buf_adds(&deep, "not ");
    buf_adds(&deep, "1 }}");
    check_bound(deep.p, none, "levels deep");
    buf_reset(&deep);
    for (int i = 0; i < 100000; i++)
        buf_adds(&deep, "{% if 1 %}");
    check_bound(deep.p, none, "levels deep");
    buf_reset(&deep);
    buf_adds(&deep, "{{ 1");
    for (int i = 0; i < 100000; i++)
        buf_adds(&deep, "+1");
    buf_adds(&deep, " }}");
    check_bound(deep.p, none, "levels deep");
    buf_release(&deep);
}

static void test_bad_file(void **state)
{
    struct buf path = {0};
    struct gguf_str source;
    struct err e = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    buf_addf(&path, "%s/bad-files/template-loop.gguf", unit_shared());
    struct gguf *g = gguf_open(path.p, &e);
    assert_non_null(g);
    assert_true(gguf_get_str(g, "tokenizer.chat_template", &source, &e));
    char *text = strndup(source.p, source.n);
    check_bound(text, (struct jinja_limits){0}, "range too big");
    free(text);
    gguf_free(g);
    buf_release(&path);
}

/* ---- speed, and the rest of the door ---- */

/* A hundred messages in milliseconds; the bound is wide, for sanitizers and busy
 * machines. */
static void test_speed(void **state)
{
    struct buf path = {0}, source = {0};
    struct jinja_output out = {0};
    json_t *context = json_object(), *messages = json_array();
    struct err e = {0};

    (void)state;
    UNIT_NEEDS_SHARED();
    buf_addf(&path, "%s/templates/jinja/Qwen-Qwen3-0.6B.jinja", unit_shared());
    assert_true(read_file(path.p, &source));
    for (int i = 0; i < 100; i++)
        json_array_append_new(messages,
                              json_pack("{s:s, s:s}", "role",
                                        i % 2 ? "assistant" : "user", "content",
                                        i % 2 ? "<think>\nt\n</think>\n\nAn answer."
                                              : "A question, how about it?"));
    json_object_set_new(context, "messages", messages);
    struct jinja *j = jinja_compile(source.p, source.n, &e);
    assert_non_null(j);
    clock_t start = clock();
    for (int i = 0; i < 10; i++)
        assert_true(jinja_render(j, context, NULL, &out, &e));
    double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC / 10;
    print_message("100 messages in %.2f ms\n", ms);
    assert_true(ms < 200);
    assert_true(jinja_mentions(j, "enable_thinking"));
    assert_false(jinja_mentions(j, "no_such_variable"));
    jinja_output_release(&out);
    jinja_free(j);
    json_decref(context);
    buf_release(&path);
    buf_release(&source);
}

/* One compiled template, rendered again and again, stays as it was. */
static void test_again(void **state)
{
    const char *source = "{% set d = {'a': []} %}{% set _ = d.a.append(messages.pop()) %}"
                         "{{ d|tojson }}{{ 'x' 'y' ~ messages|length }}";
    json_t *context = json_pack("{s:[i, i]}", "messages", 1, 2);
    struct jinja_output out = {0};
    struct err e = {0};
    struct jinja *j = jinja_compile(source, strlen(source), &e);

    (void)state;
    assert_non_null(j);
    for (int i = 0; i < 3; i++) {
        assert_true(jinja_render(j, context, NULL, &out, &e));
        assert_string_equal(buf_str(&out.text), "{\"a\": [2]}xy1");
    }
    assert_int_equal(json_array_size(json_object_get(context, "messages")), 2);
    jinja_output_release(&out);
    jinja_free(j);
    json_decref(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_language),
        cmocka_unit_test(test_origin),   cmocka_unit_test(test_shared_text),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_bad_file), cmocka_unit_test(test_speed),
        cmocka_unit_test(test_again),
    };

    return UNIT_RUN(tests);
}
