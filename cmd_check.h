#ifndef CMD_CHECK_H
#define CMD_CHECK_H

/* `vitrine tokenize --check FILE`; cmd_check.c describes the file. */

struct cmd_call;
struct tok;

/* Compare and print; the exit status: 1 if something differs. */
int cmd_check(struct cmd_call *call, const struct tok *t);

#endif
