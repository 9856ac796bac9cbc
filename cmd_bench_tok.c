/* `vitrine bench --tokenizer`: how fast text becomes ids, on one core. The text is what
 * lies about: the system's manual pages, without their markup, and the program's own
 * sources; where neither is there, what `vitrine help` prints. It is read into memory
 * before anything is timed. Times are processor times of the one thread that does it. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/model.h"
#include "cmd.h"
#include "cmd_text.h"

enum {
    CORPUS_MAX = 4 << 20, /* bytes of each text */
    CORPUS_MIN = 1 << 16, /* less is not worth timing */
};

struct corpus {
    const char *name, *from;
    struct buf text;
    size_t files;
    /* measured */
    size_t ids;
    double encode_mbs, again_mbs, decode_mbs;
};

/* ---- texts ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a folder that end so, sorted. */
static char **list_files(const char *dir, const char *end, size_t *n)
{
    DIR *d = opendir(dir);
    struct dirent *f;
    char **v = NULL;
    size_t cap = 0, len = strlen(end);

    *n = 0;
    while (d && (f = readdir(d))) {
        size_t k = strlen(f->d_name);
        if (k <= len || strcmp(f->d_name + k - len, end) != 0 ||
            strpbrk(f->d_name, "'\\\n"))
            continue;
        MEM_GROW(v, cap, *n + 1);
        v[(*n)++] = xstrdup(f->d_name);
    }
    if (d)
        closedir(d);
    if (*n)
        qsort(v, *n, sizeof *v, by_name);
    return v;
}

static void free_files(char **v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i]);
    free(v);
}

/* One line of a manual page as a reader sees it: no requests, no escapes. */
static void add_roff_line(struct buf *out, const char *p)
{
    if (*p == '.' || *p == '\'')
        return;
    for (; *p; p++) {
        if (*p != '\\') {
            buf_addc(out, *p);
            continue;
        }
        switch (p[1]) {
        case 'f':
        case '*': /* \fB, \*(Aq */
            p += p[2] == '(' && p[3] && p[4] ? 4 : p[2] ? 2 : 1;
            break;
        case '(': /* \(em */
            buf_addc(out, ' ');
            p += p[2] && p[3] ? 3 : 1;
            break;
        case '-':
        case 'e':
            buf_addc(out, p[1] == '-' ? '-' : '\\');
            p++;
            break;
        case '\0':
            break;
        default:
            p++;
        }
    }
}

/* Manual pages, which are compressed; gzip takes many names at once. */
static void read_manuals(struct corpus *c, const char *dir)
{
    struct buf cmd = {0};
    size_t n;
    char **v = list_files(dir, ".gz", &n), *line = NULL;
    size_t cap = 0;

    for (size_t i = 0; i < n && c->text.n < CORPUS_MAX; i++) {
        buf_reset(&cmd);
        buf_addf(&cmd, "gzip -dcq '%s/%s' 2>/dev/null", dir, v[i]);
        FILE *f = popen(cmd.p, "r");
        while (f && getline(&line, &cap, f) > 0)
            add_roff_line(&c->text, line);
        if (f)
            pclose(f);
        c->files++;
    }
    free(line);
    free_files(v, n);
    buf_release(&cmd);
}

static void read_sources(struct corpus *c, const char *top)
{
    static const char *const folders[] = { "base", "backend", "tokenizer", "templates",
                                           "chat", "tui",     "." };
    struct buf path = {0};

    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        size_t n;
        buf_reset(&path);
        buf_addf(&path, "%s/%s", top, folders[k]);
        char **v = list_files(path.p, ".c", &n);
        for (size_t i = 0; i < n && c->text.n < CORPUS_MAX; i++) {
            buf_reset(&path);
            buf_addf(&path, "%s/%s/%s", top, folders[k], v[i]);
            c->files += cmd_read(path.p, &c->text, NULL);
        }
        free_files(v, n);
    }
    buf_release(&path);
}

static bool is_top(const char *dir)
{
    struct buf probe = {0};
    struct stat st;

    buf_addf(&probe, "%s/tokenizer/bpe.c", dir);
    bool found = stat(probe.p, &st) == 0;
    buf_release(&probe);
    return found;
}

/* A build folder's Makefile says where its sources are. */
static bool top_of_build(const char *dir, struct buf *out)
{
    static const char key[] = "abs_top_srcdir = ";
    struct buf path = {0}, text = {0};

    buf_addf(&path, "%s/Makefile", dir);
    const char *p = cmd_read(path.p, &text, NULL) ? strstr(text.p, key) : NULL;
    if (p) {
        p += sizeof key - 1;
        buf_add(out, p, strcspn(p, "\n"));
    }
    buf_release(&path);
    buf_release(&text);
    return p != NULL;
}

/* The folder of the sources: that of the program, that which it was built from, this. */
static bool find_sources(struct buf *out)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash) {
        *slash = '\0';
        if (!is_top(self) && top_of_build(self, out) && is_top(out->p))
            return true;
        buf_reset(out);
    }
    buf_adds(out, slash && is_top(self) ? self : ".");
    return is_top(out->p);
}

/* What the options and commands say about themselves, again and again. */
static void read_help(struct corpus *c)
{
    struct buf once = {0};

    for (size_t i = 0; i < cmd_count(); i++)
        buf_addf(&once, "vitrine %s %s\n%s. %s\n\n", cmd_table[i].name, cmd_table[i].args,
                 cmd_table[i].help, cmd_table[i].more ? cmd_table[i].more : "");
    for (size_t i = 0; i < chat_options_count(); i++)
        buf_addf(&once, "--%s %s: %s\n", chat_options[i].name,
                 chat_options[i].arg ? chat_options[i].arg : "", chat_options[i].help);
    while (c->text.n < CORPUS_MIN * 4)
        buf_add(&c->text, once.p, once.n);
    buf_release(&once);
}

/* Fill v with up to three texts; returns how many. */
static size_t read_corpora(struct corpus *v)
{
    struct buf top = {0};
    size_t n = 0;

    v[0] = (struct corpus){ .name = "English", .from = "manual pages" };
    read_manuals(&v[0], "/usr/share/man/man1");
    if (v[0].text.n < CORPUS_MIN) {
        buf_reset(&v[0].text);
        v[0].from = "the program's own help, repeated";
        v[0].files = 0;
        read_help(&v[0]);
    }
    n++;
    if (find_sources(&top)) {
        v[n] = (struct corpus){ .name = "C", .from = "the program's sources" };
        read_sources(&v[n], top.p);
        if (v[n].text.n >= CORPUS_MIN)
            n++;
        else
            buf_release(&v[n].text);
    }
    buf_release(&top);
    return n;
}

/* ---- times ---- */

/* Processor time of this thread: what other programs do meanwhile does not count. */
static long long cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static double mbs(size_t bytes, long long us)
{
    return us > 0 ? (double)bytes / (double)us : 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

static void measure(const struct tok *t, size_t repeat, struct corpus *c)
{
    double *encode = xcalloc(repeat, sizeof *encode);
    double *again = xcalloc(repeat, sizeof *again),
           *decode = xcalloc(repeat, sizeof *decode);
    struct tok_cache *cache = tok_cache_new(t, (size_t)64 << 20);
    struct tok_span span = { c->text.n, TOK_TEXT_FOREIGN };
    struct tok_ids ids = {0};
    struct buf back = {0};

    tok_cache_encode(cache, c->text.p, &span, 1, TOK_AT_START, &ids);
    for (size_t i = 0; i < repeat; i++) {
        ids.n = 0;
        buf_reset(&back);
        long long t0 = cpu_us();
        tok_encode(t, c->text.p, c->text.n, TOK_AT_START, &ids);
        long long t1 = cpu_us();
        tok_decode(t, ids.v, ids.n, TOK_AT_START, TOK_SPECIALS_HIDE, &back);
        long long t2 = cpu_us();
        c->ids = ids.n;
        encode[i] = mbs(c->text.n, t1 - t0);
        decode[i] = mbs(c->text.n, t2 - t1);
        ids.n = 0;
        t0 = cpu_us();
        tok_cache_encode(cache, c->text.p, &span, 1, TOK_AT_START, &ids);
        again[i] = mbs(c->text.n, cpu_us() - t0);
    }
    c->encode_mbs = median(encode, repeat);
    c->again_mbs = median(again, repeat);
    c->decode_mbs = median(decode, repeat);
    free(encode);
    free(again);
    free(decode);
    tok_cache_free(cache);
    tok_ids_release(&ids);
    buf_release(&back);
}

/* ---- output ---- */

static void print_json(const struct tok *t, double load_ms, const struct corpus *v,
                       size_t n)
{
    json_t *list = json_array(), *o = json_object();

    cmd_json_bytes(o, "tokenizer", "tokenizer_bytes", tok_kind(t), strlen(tok_kind(t)));
    json_object_set_new(o, "tokens", json_integer((json_int_t)tok_count(t)));
    json_object_set_new(o, "load_ms", cmd_json_real(load_ms));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "text", v[i].name, "from",
                      v[i].from, "bytes", (json_int_t)v[i].text.n, "ids",
                      (json_int_t)v[i].ids, "encode_mb_s", cmd_json_real(v[i].encode_mbs),
                      "again_mb_s", cmd_json_real(v[i].again_mbs), "decode_mb_s",
                      cmd_json_real(v[i].decode_mbs)));
    json_object_set_new(o, "results", list);
    cmd_json_print(o);
}

static void print_text(const struct tok *t, double load_ms, const struct corpus *v,
                       size_t n)
{
    struct cmd_columns head = { .width = 2, .align = "ll" };
    struct cmd_columns c = { .width = 7, .align = "llrrrrr" };
    static const char *const heads[] = { "text",        "from",        "bytes",
                                         "bytes/token", "encode MB/s", "again MB/s",
                                         "decode MB/s" };
    struct buf size = {0};

    cmd_cellf(&head, "tokenizer");
    cmd_cellf(&head, "%s, %zu tokens", tok_kind(t), tok_count(t));
    cmd_cellf(&head, "loaded");
    cmd_cellf(&head, "in %.1f ms of processor time", load_ms);
    cmd_columns_print(&head);
    putchar('\n');
    for (size_t k = 0; k < 7; k++)
        cmd_cellf(&c, "%s", heads[k]);
    for (size_t i = 0; i < n; i++) {
        cmd_cellf(&c, "%s", v[i].name);
        cmd_cellf(&c, "%s", v[i].from);
        buf_reset(&size);
        cmd_add_size(&size, v[i].text.n);
        cmd_cell(&c, size.p, size.n);
        cmd_cellf(&c, "%.2f", v[i].ids ? (double)v[i].text.n / (double)v[i].ids : 0);
        cmd_cellf(&c, "%.1f", v[i].encode_mbs);
        cmd_cellf(&c, "%.1f", v[i].again_mbs);
        cmd_cellf(&c, "%.1f", v[i].decode_mbs);
    }
    buf_release(&size);
    cmd_columns_print(&c);
}

/* Options of the other bench mean nothing here. */
static bool only_tokenizer(const struct cmd_call *c)
{
    static const char *const mine[] = { "tokenizer", "model", "pre",   "repeat",
                                        "json",      "trace", "color", NULL };

    for (size_t i = 0; i < chat_options_count(); i++) {
        const struct chat_option *o = &chat_options[i];
        size_t k = 0;
        while (mine[k] && strcmp(mine[k], o->name) != 0)
            k++;
        if (!mine[k] && chat_option_given(&c->set, o)) {
            cmd_usage(c, "--%s means nothing with --tokenizer", o->name);
            return false;
        }
    }
    return true;
}

int cmd_bench_tokenizer(struct cmd_call *c)
{
    struct corpus v[3];
    struct err e = {0};
    double ms[3];

    if (!only_tokenizer(c))
        return ERR_USAGE;
    for (int i = 0; i < 3; i++) {
        long long t0 = cpu_us();
        struct chat_model *m = chat_model_open(&c->set, CHAT_MODEL_VOCAB, NULL, &e);
        ms[i] = (double)(cpu_us() - t0) / 1000;
        if (!m)
            return cmd_fail(c, &e);
        chat_model_free(m);
    }
    struct chat_model *m = chat_model_open(&c->set, CHAT_MODEL_VOCAB, NULL, &e);
    if (!m)
        return cmd_fail(c, &e);
    size_t n = read_corpora(v);
    for (size_t i = 0; i < n; i++)
        measure(m->tok, (size_t)c->set.repeat, &v[i]);
    if (c->set.json)
        print_json(m->tok, median(ms, 3), v, n);
    else
        print_text(m->tok, median(ms, 3), v, n);
    for (size_t i = 0; i < n; i++)
        buf_release(&v[i].text);
    chat_model_free(m);
    return CMD_OK;
}
