/* What is switched on is switched off again on every way out: by tui_screen_stop() on
 * the usual ones, by tui_screen_rescue() on the others. The bytes for the latter are
 * collected from terminfo when the screen starts, because a signal handler may only
 * write(2).
 *
 * curses does output only. Input is read and decoded by the loop: curses would swallow
 * a paste key by key. */
#include "config.h"

#include "tui/screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define PASTE_ON "\x1b[?2004h"
#define PASTE_OFF "\x1b[?2004l"
enum { RESCUE_MAX = 256, ROWS = 24, COLUMNS = 80 };

static SCREEN *screen;
static struct termios shell_modes;              /* as we found them */
static volatile sig_atomic_t is_taken;          /* modes are ours right now */
static bool has_color;
static char rescue[RESCUE_MAX];
static volatile size_t rescue_len;

static void send(const char *s)
{
    size_t n = strlen(s);

    fflush(stdout);
    while (n) {
        ssize_t done = write(STDOUT_FILENO, s, n);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (done > 0)
            s += done, n -= (size_t)done;
    }
}

static int collect(int c)
{
    if (rescue_len < RESCUE_MAX)
        rescue[rescue_len++] = (char)c;
    return c;
}

static void collect_capability(const char *name)
{
    const char *s = tigetstr(name);

    if (s && s != (const char *)-1)
        tputs(s, 1, collect);
}

static void prepare_rescue(void)
{
    rescue_len = 0;
    for (const char *p = PASTE_OFF; *p; p++)
        collect(*p);
    collect_capability("sgr0");
    collect_capability("op");
    collect_capability("rmcup");
    collect_capability("cnorm");
}

void tui_screen_rescue(void)
{
    if (!is_taken)
        return;
    is_taken = 0;
    ssize_t done = write(STDOUT_FILENO, rescue, rescue_len);
    (void)done;
    tcsetattr(STDIN_FILENO, TCSANOW, &shell_modes);
}

static void start_colors(void)
{
    has_color = false;
    if (start_color() == ERR || !has_colors())
        return;
    bool own = use_default_colors() == OK;
    for (short c = 0; c < 8; c++)
        if (init_pair((short)(c + 1), c, own ? -1 : COLOR_BLACK) == ERR)
            return;
    has_color = true;
}

bool tui_screen_start(enum tui_screen_color color, struct err *e)
{
    const char *term = getenv("TERM");

    if (tcgetattr(STDIN_FILENO, &shell_modes) < 0)
        return err_set(e, "stdin is not a terminal: %s; --plain works without one",
                       strerror(errno));
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return err_set(e, "the terminal type %s cannot show a full screen; --plain works "
                       "without one", term ? term : "(none)");
    prepare_rescue();
    is_taken = 1;
    mem_on_death(tui_screen_rescue);
    raw();
    noecho();
    nonl();                     /* Enter and Ctrl-J are two keys */
    typeahead(-1);              /* input waiting must not hold back a frame */
    idlok(stdscr, TRUE);
    leaveok(stdscr, FALSE);
    if (color == TUI_SCREEN_COLOR)
        start_colors();
    send(PASTE_ON);
    return true;
}

void tui_screen_pause(void)
{
    if (!screen || !is_taken)
        return;
    send(PASTE_OFF);
    endwin();
    is_taken = 0;
}

void tui_screen_resume(void)
{
    if (!screen || is_taken)
        return;
    tcgetattr(STDIN_FILENO, &shell_modes);      /* the shell may have changed them */
    def_shell_mode();
    is_taken = 1;
    reset_prog_mode();
    clearok(curscr, TRUE);
    refresh();
    send(PASTE_ON);
}

void tui_screen_stop(void)
{
    if (!screen)
        return;
    tui_screen_pause();
    mem_on_death(NULL);
    delscreen(screen);
    screen = NULL;
}

bool tui_screen_measure(int *rows, int *cols)
{
    struct winsize ws;

    *rows = ROWS;
    *cols = COLUMNS;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row && ws.ws_col) {
        *rows = ws.ws_row;
        *cols = ws.ws_col;
    }
    bool changed = *rows != LINES || *cols != COLS;
    if (changed)
        resize_term(*rows, *cols);
    /* A terminal of absurd size may be refused; what curses has is what can be drawn. */
    getmaxyx(stdscr, *rows, *cols);
    return changed;
}

void tui_screen_repaint(void)
{
    clearok(curscr, TRUE);
}

bool tui_screen_has_color(void)
{
    return has_color;
}
