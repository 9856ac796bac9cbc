/* What the subcommands share (cmd.h): reports on stderr, the state of stdout, signals. */
#include "config.h"

#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"

/* ---- start ---- */

/* A closed standard descriptor would be given to the next file opened, and what is meant
 * for the terminal would land in it. Put /dev/null there, opened the wrong way round for
 * stdout so that a lost answer is still an error; stdin reads as empty. */
static void fill_descriptors(void)
{
    static const int how[] = { O_RDONLY, O_RDONLY, O_WRONLY };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", how[fd]) != fd)
            _exit(ERR_FAILED);
}

static volatile sig_atomic_t caught;        /* signal number */
static volatile long long caught_us;        /* when; written before caught is */
static volatile sig_atomic_t catching;      /* the command ends in order */
static atomic_bool cancel;
static int wake[2] = { -1, -1 };

/* A second signal right behind the first is the same one: timeout(1) sends it to the
 * program and then to its group. */
enum { SAME_SIGNAL_US = 300000 };

static void on_signal(int sig)
{
    int saved = errno;

    if (!catching || (caught && log_now_us() - caught_us > SAME_SIGNAL_US))
        _exit(CMD_SIGNAL + sig);
    if (caught)
        return;
    caught_us = log_now_us();
    caught = sig;
    atomic_store(&cancel, true);
    if (write(wake[1], "", 1) < 0) {
        /* the pipe is full of earlier wake-ups: as good */
    }
    errno = saved;
}

static long long started_us;

/* Signals that were ignored when the program began stay ignored (nohup, "&" in sh). */
static void handle_signals(void (*handler)(int))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction sa = { .sa_handler = handler }, was;

    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &was) && was.sa_handler != SIG_IGN)
            sigaction(signals[i], &sa, NULL);
}

/* A handler, not SIG_IGN: programs that are started from here get the default back. */
static void on_pipe(int sig)
{
    (void)sig;
}

void cmd_start(void)
{
    struct sigaction sa = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };

    started_us = log_now_us();
    fill_descriptors();
    sigemptyset(&sa.sa_mask);
    sigaction(SIGPIPE, &sa, NULL);
    handle_signals(on_signal);
}

long long cmd_started_us(void)
{
    return started_us;
}

int cmd_catch_signals(void)
{
    if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    catching = 1;
    return wake[0];
}

int cmd_signal(void)
{
    return caught;
}

const atomic_bool *cmd_cancel(void)
{
    return &cancel;
}

/* ---- reports ---- */

static void say(const char *raw)
{
    struct buf line = {0};

    fflush(stdout);
    buf_adds(&line, "vitrine: ");
    utf8_visible(&line, raw, strlen(raw), UTF8_ONE_LINE);
    buf_addc(&line, '\n');
    fwrite(line.p, 1, line.n, stderr);
    buf_release(&line);
}

void cmd_note(const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    say(text.p);
    buf_release(&text);
}

void cmd_notes(const struct buf *notes)
{
    for (const char *p = buf_str(notes); *p;) {
        size_t n = strcspn(p, "\n");
        cmd_note("%.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static void say_try(const struct cmd_call *c)
{
    fprintf(stderr, "Try 'vitrine %s%s--help' for more information.\n",
            c->cmd ? c->cmd->name : "", c->cmd ? " " : "");
}

int cmd_usage(const struct cmd_call *c, const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vaddf(&text, fmt, ap);
    va_end(ap);
    say(text.p);
    say_try(c);
    buf_release(&text);
    return ERR_USAGE;
}

int cmd_fail(const struct cmd_call *c, const struct err *e)
{
    if (caught)
        return CMD_SIGNAL + caught;
    say(e->text);
    if (e->kind == ERR_USAGE)
        say_try(c);
    return e->kind == ERR_NONE ? ERR_FAILED : (int)e->kind;
}

bool cmd_at_most(const struct cmd_call *c, size_t n)
{
    if (c->n_args <= n)
        return true;
    cmd_usage(c, "'%s' is one argument too many", c->args[n]);
    return false;
}

bool cmd_model_operand(struct cmd_call *c)
{
    struct err e = {0};

    if (!c->n_args)
        return true;
    if (c->set.model) {
        cmd_usage(c, "the model is named twice, by --model and by '%s'", c->args[0]);
        return false;
    }
    return chat_option_set(&c->set, chat_option_find("model", 5), c->args[0], &e);
}

/* ---- stdin and stdout ---- */

static bool is_set(const char *name)
{
    const char *v = getenv(name);
    return v && *v;
}

bool cmd_terminal_is_dumb(void)
{
    return !is_set("TERM") || !strcmp(getenv("TERM"), "dumb");
}

bool cmd_color(const struct chat_settings *set)
{
    if (strcmp(set->color, "auto"))
        return !strcmp(set->color, "always");
    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0"))
        return true;
    return isatty(STDOUT_FILENO) && !cmd_terminal_is_dumb();
}

static int out_errno;       /* of the first write that failed */

bool cmd_flush(void)
{
    errno = 0;
    if (fflush(stdout) && !out_errno)
        out_errno = errno ? errno : EIO;
    return !out_errno && !ferror(stdout);
}

int cmd_finish(int status)
{
    if (cmd_flush())
        return status;
    if (out_errno == EPIPE)
        return CMD_PIPE;
    cmd_note("cannot write to standard output: %s",
             strerror(out_errno ? out_errno : EIO));
    return status ? status : ERR_FAILED;
}

bool cmd_read(const char *path, struct buf *out, struct err *e)
{
    bool is_stdin = !path || !strcmp(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return err_set(e, "cannot open %s: %s", path, strerror(errno));
    do {
        buf_reserve(out, 65536);
        n = read(fd, out->p + out->n, 65536);
        if (n > 0)
            out->n += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR && !caught));
    out->p[out->n] = '\0';
    if (n < 0)
        err_set(e, "cannot read %s: %s", is_stdin ? "standard input" : path,
                strerror(errno));
    if (!is_stdin)
        close(fd);
    return n == 0;
}
