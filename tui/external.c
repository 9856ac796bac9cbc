#include "config.h"

#include "tui/external.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

/* The variables hold a command, not a file name: a shell takes it apart. */
static bool run(const char *editor, const char *path, struct err *e)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
    struct buf command = {0};
    int status = 0;

    buf_addf(&command, "%s \"$1\"", editor);
    sigaction(SIGINT, &ignore, &interrupt);     /* meant for the editor */
    sigaction(SIGQUIT, &ignore, &quit);
    pid_t pid = fork();
    if (pid == 0) {
        sigaction(SIGINT, &interrupt, NULL);
        sigaction(SIGQUIT, &quit, NULL);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGTSTP, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command.p, editor, path, (char *)NULL);
        _exit(127);
    }
    bool ok = pid > 0;
    while (ok && waitpid(pid, &status, 0) < 0)
        ok = errno == EINTR;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    buf_release(&command);
    if (!ok)
        return err_set(e, "cannot run the editor %s: %s", editor, strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(e, "the editor %s failed, so the message stays as it was", editor);
    return true;
}

static const char *choose_editor(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

bool tui_external_edit(const char *text, size_t n, struct buf *out, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    struct buf path = {0};
    bool ok = false;

    buf_addf(&path, "%s/vitrine-XXXXXX.md", tmp && *tmp == '/' ? tmp : "/tmp");
    int fd = mkostemps(path.p, 3, 0);           /* 0600 */
    if (fd < 0) {
        err_set(e, "cannot make the file %s: %s", path.p, strerror(errno));
        buf_release(&path);
        return false;
    }
    if (!file_write_all(fd, text, n))
        err_set(e, "cannot write %s: %s", path.p, strerror(errno));
    else if (run(choose_editor(), path.p, e)) {
        /* Editors often write a new file under the old name: open it again. */
        int again = open(path.p, O_RDONLY | O_CLOEXEC);
        ok = again >= 0 && file_read_all(again, out);
        if (!ok)
            err_set(e, "cannot read %s: %s", path.p, strerror(errno));
        if (again >= 0)
            close(again);
    }
    while (ok && out->n && out->p[out->n - 1] == '\n')
        buf_truncate(out, out->n - 1);
    close(fd);
    unlink(path.p);
    buf_release(&path);
    return ok;
}
