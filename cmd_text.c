#include "config.h"

#include "cmd_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cmd.h"

void cmd_put_exact(const char *p, size_t n)
{
    struct buf shown = {0};

    if (isatty(STDOUT_FILENO)) {
        utf8_visible(&shown, p, n, UTF8_LINES);
        p = buf_str(&shown);
        n = shown.n;
    }
    fwrite(p, 1, n, stdout);
    buf_release(&shown);
}

void cmd_add_shown(struct buf *out, const char *p, size_t n)
{
    utf8_visible(out, p, n, UTF8_ONE_LINE);
}

bool cmd_add_cut(struct buf *out, const char *p, size_t n, int columns)
{
    struct utf8_cell cell;
    size_t at = 0, fits = 0;    /* bytes that fit; those that leave room for the dots */
    int used = 0;

    while (at < n) {
        size_t step = utf8_next(p + at, n - at, &cell);
        if (!step) /* half a character at the end: shown as one bad byte each */
            step = 1;
        used += cell.control && cell.width < 2 ? 2 : cell.width;
        if (used > columns)
            break;
        at += step;
        if (used <= columns - 3)
            fits = at;
    }
    cmd_add_shown(out, p, at < n ? fits : n);
    if (at < n)
        buf_adds(out, "...");
    return at < n;
}

void cmd_add_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes;
    size_t unit = 0;

    if (bytes < 1024) {
        buf_addf(out, "%u B", (unsigned)bytes);
        return;
    }
    for (v /= 1024; v >= 1024 && unit < 5; unit++)
        v /= 1024;
    buf_addf(out, v < 99.95 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void cmd_add_count(struct buf *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_addc(out, ',');
        buf_addc(out, digits[i]);
    }
}

/* ---- aligned columns ---- */

static struct buf *next_cell(struct cmd_columns *c)
{
    MEM_GROW(c->cells, c->cap, c->n + 1);
    c->cells[c->n] = (struct buf){0};
    return &c->cells[c->n++];
}

void cmd_cell(struct cmd_columns *c, const char *p, size_t n)
{
    cmd_add_shown(next_cell(c), p, n);
}

void cmd_cell_cut(struct cmd_columns *c, const char *p, size_t n, int columns)
{
    cmd_add_cut(next_cell(c), p, n, columns);
}

void cmd_cellf(struct cmd_columns *c, const char *fmt, ...)
{
    struct buf raw = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&raw, fmt, ap);
    va_end(ap);
    cmd_cell(c, raw.p, raw.n);
    buf_release(&raw);
}

static int cell_width(const struct buf *b)
{
    return utf8_width(buf_str(b), b->n);
}

/* Append cell i to its row, filled up to its column's width. */
static void add_padded(struct buf *row, const struct cmd_columns *c, size_t i, int wide)
{
    const struct buf *cell = &c->cells[i];
    int pad = wide - cell_width(cell);
    bool right = c->align[i % c->width] == 'r';

    buf_addf(row, "%*s", right ? pad : 0, "");
    buf_add(row, buf_str(cell), cell->n);
    buf_addf(row, "%*s", right ? 2 : pad + 2, "");
}

void cmd_columns_print(struct cmd_columns *c)
{
    int *wide = xcalloc(c->width, sizeof *wide);
    struct buf row = {0};

    for (size_t i = 0; i < c->n; i++)
        if (cell_width(&c->cells[i]) > wide[i % c->width])
            wide[i % c->width] = cell_width(&c->cells[i]);
    for (size_t i = 0; i < c->n; i++) {
        add_padded(&row, c, i, wide[i % c->width]);
        buf_release(&c->cells[i]);
        if (i % c->width + 1 < c->width && i + 1 < c->n)
            continue;
        while (row.n && row.p[row.n - 1] == ' ')
            buf_truncate(&row, row.n - 1);
        fwrite(buf_str(&row), 1, row.n, stdout);
        putchar('\n');
        buf_reset(&row);
    }
    buf_release(&row);
    free(wide);
    free(c->cells);
    c->cells = NULL;
    c->n = c->cap = 0;
}

/* ---- JSON ---- */

void cmd_json_bytes(json_t *o, const char *key, const char *raw_key, const char *p,
                    size_t n)
{
    if (utf8_valid(p, n)) {
        json_object_set_new(o, key, json_stringn(p, n));
        return;
    }
    struct buf text = {0};
    base64_encode(&text, p, n);
    json_object_set_new(o, raw_key, json_stringn(buf_str(&text), text.n));
    buf_release(&text);
}

json_t *cmd_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static void print_json(json_t *j, size_t how)
{
    json_dumpf(j, stdout, how | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(j);
}

void cmd_json_print(json_t *j)
{
    print_json(j, JSON_INDENT(2));
}

void cmd_json_line(json_t *j)
{
    print_json(j, JSON_COMPACT);
    cmd_flush();
}

/* ---- JSON lines in ---- */

int cmd_lines(const char *path, cmd_line_fn *f, void *arg, struct err *e)
{
    bool is_stdin = !path || !strcmp(path, "-");
    FILE *in = is_stdin ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int status = 0;

    if (!in) {
        err_set(e, "cannot open %s: %s", path, strerror(errno));
        return ERR_FAILED;
    }
    while ((n = getline(&line, &cap, in)) >= 0) {
        struct err bad = {0};
        if (line[strspn(line, " \t\r\n")] == '\0' &&
            memchr(line, '\0', (size_t)n) == NULL)
            continue;
        if (!f(arg, line, (size_t)n, &bad))
            cmd_json_line(json_pack("{s:s}", "error", bad.text));
        if (!status && bad.text[0])
            status = bad.kind == ERR_NONE ? ERR_FAILED : (int)bad.kind;
        if (!cmd_flush())
            break;
    }
    if (ferror(in)) {
        err_set(e, "cannot read %s: %s", is_stdin ? "standard input" : path,
                strerror(errno));
        status = ERR_FAILED;
    }
    free(line);
    if (!is_stdin)
        fclose(in);
    return status;
}

struct jsonl {
    cmd_jsonl_fn *f;
    void *arg;
};

static bool one_value(void *arg, const char *line, size_t n, struct err *e)
{
    const struct jsonl *j = arg;
    json_error_t at;
    json_t *in = json_loadb(
        line, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &at);
    bool ok = in ? j->f(j->arg, in, e) : err_set(e, "not JSON: %s", at.text);

    json_decref(in);
    return ok;
}

int cmd_jsonl(const char *path, cmd_jsonl_fn *f, void *arg, struct err *e)
{
    struct jsonl j = { f, arg };

    return cmd_lines(path, one_value, &j, e);
}

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool cmd_json_text(const json_t *in, struct buf *out, struct err *e)
{
    if (json_is_string(in)) {
        buf_add(out, json_string_value(in), json_string_length(in));
        return true;
    }
    const json_t *hex = json_object_get(in, "hex");
    const char *s = json_string_value(hex);
    size_t n = json_string_length(hex);
    if (!s || n % 2)
        return err_set(e, "needs a string, or {\"hex\": an even number of hex digits}");
    for (size_t i = 0; i < n; i += 2) {
        int high = hex_value(s[i]), low = hex_value(s[i + 1]);
        if (high < 0 || low < 0)
            return err_set(e, "hex has a character that is not a digit at %zu", i);
        buf_addc(out, (char)(high << 4 | low));
    }
    return true;
}

json_t *cmd_json_from_text(const char *p, size_t n)
{
    struct buf hex = {0};

    if (utf8_valid(p, n))
        return json_stringn(p, n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&hex, "%02x", (unsigned char)p[i]);
    json_t *o = json_pack("{s:s}", "hex", hex.p);
    buf_release(&hex);
    return o;
}
