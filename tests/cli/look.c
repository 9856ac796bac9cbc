/* What the command-line tests need and a small machine may not have: a look into JSON,
 * and a program run within limits.
 *
 *     look valid            stdin is one JSON value
 *     look lines            every line of stdin is one
 *     look get PATH         print what PATH says of the value on stdin; a text as it is,
 *                           a list one element a line. PATH is "runs.0.greedy.*.id"
 *     look get-lines PATH   the same for each line; lines without it are left out
 *     look near TOL A B     files of numbers, nowhere further apart than TOL
 *     look limits S MIB CMD...
 *                           run CMD: 124 after S seconds, 125 when it used more than MIB
 *                           megabytes, else its own status */
#include "config.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int complain(const char *what, const char *more)
{
    fprintf(stderr, "look: %s%s%s\n", what, more ? ": " : "", more ? more : "");
    return 1;
}

static json_t *parse(const char *text, size_t n)
{
    json_error_t at;
    json_t *j = json_loadb(
        text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &at);
    if (!j)
        complain(at.text, text);
    return j;
}

static void print(const json_t *v)
{
    if (json_is_string(v)) {
        fwrite(json_string_value(v), 1, json_string_length(v), stdout);
    } else {
        char *text =
            json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        fputs(text ? text : "?", stdout);
        free(text);
    }
    putchar('\n');
}

/* Print every value that path leads to from v; how many. */
static size_t walk(const json_t *v, const char *path)
{
    size_t n = strcspn(path, "."), found = 0, i;
    const char *rest = path[n] ? path + n + 1 : "";
    const json_t *one;
    char key[128];

    if (!*path) {
        print(v);
        return 1;
    }
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    if (json_is_object(v)) {
        one = json_object_get(v, key);
        return one ? walk(one, rest) : 0;
    }
    if (strcmp(key, "*")) {
        one = json_array_get(v, strtoul(key, NULL, 10));
        return one ? walk(one, rest) : 0;
    }
    json_array_foreach(v, i, one)
        found += walk(one, rest);
    return found;
}

static int get(const char *path)
{
    json_error_t at;
    json_t *j =
        json_loadf(stdin, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &at);

    if (!j)
        return complain("not one JSON value", at.text);
    size_t found = path ? walk(j, path) : 1;
    json_decref(j);
    return found ? 0 : complain("there is no", path);
}

static int each_line(const char *path)
{
    char *line = NULL;
    size_t cap = 0, lines = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, stdin)) > 0) {
        json_t *j = line[n - 1] == '\n' ? parse(line, (size_t)n) : NULL;
        if (!j) {
            free(line);
            return complain("a line is not JSON", NULL);
        }
        if (path)
            walk(j, path);
        json_decref(j);
        lines++;
    }
    free(line);
    return lines ? 0 : complain("there are no lines", NULL);
}

static int near(const char *tolerance, const char *a, const char *b)
{
    FILE *fa = fopen(a, "r"), *fb = fopen(b, "r");
    double x, y, worst = 0;
    size_t n = 0;
    int ra, rb;

    if (!fa || !fb)
        return complain("cannot open", fa ? b : a);
    for (;; n++) {
        ra = fscanf(fa, "%lf", &x);
        rb = fscanf(fb, "%lf", &y);
        if (ra != 1 || rb != 1)
            break;
        if (!(fabs(x - y) <= worst))
            worst = fabs(x - y);
    }
    bool whole = feof(fa) && feof(fb) && ra == EOF && rb == EOF && n;
    fclose(fa);
    fclose(fb);
    printf("%zu numbers, at most %.3g apart\n", n, worst);
    if (!whole)
        return complain("the files are not numbers, line for line", NULL);
    return worst <= strtod(tolerance, NULL) ? 0 : complain("too far apart", NULL);
}

static pid_t child;

static void too_long(int sig)
{
    (void)sig;
    kill(child, SIGKILL);
}

static int limits(char **argv)
{
    struct rusage used;
    long mib = strtol(argv[1], NULL, 10);
    int st;

    child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    signal(SIGALRM, too_long);
    alarm((unsigned)strtoul(argv[0], NULL, 10));
    if (child < 0 || wait4(child, &st, 0, &used) < 0)
        return complain("cannot run", argv[2]);
    if (WIFSIGNALED(st))
        return WTERMSIG(st) == SIGKILL ? 124 : 128 + WTERMSIG(st);
    if (used.ru_maxrss / 1024 > mib) {
        fprintf(stderr, "look: used %ld MiB\n", used.ru_maxrss / 1024);
        return 125;
    }
    return WEXITSTATUS(st);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "valid"))
        return get(NULL);
    if (argc == 2 && !strcmp(argv[1], "lines"))
        return each_line(NULL);
    if (argc == 3 && !strcmp(argv[1], "get"))
        return get(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "get-lines"))
        return each_line(argv[2]);
    if (argc == 5 && !strcmp(argv[1], "near"))
        return near(argv[2], argv[3], argv[4]);
    if (argc > 4 && !strcmp(argv[1], "limits"))
        return limits(argv + 2);
    return complain("usage: see the top of look.c", NULL);
}
