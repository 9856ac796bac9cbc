/* From top to bottom: transcript, status, input. The status line is also what
 * separates the two, so no row is spent on a rule. When rows get scarce the transcript
 * goes first, then the status: a line to type in is the least a chat can have. */
#include "config.h"

#include "tui/layout.h"

enum { PROMPT_COLS = 2, NARROW = 8 };

int tui_layout_prompt_cols(int cols)
{
    return cols >= NARROW ? PROMPT_COLS : 0;
}

void tui_layout(int rows, int cols, int input_rows, struct tui_panes *out)
{
    if (rows < 1)
        rows = 1;
    if (cols < 1)
        cols = 1;
    int most = rows / 3 > 1 ? rows / 3 : 1;
    int input = input_rows < 1 ? 1 : input_rows > most ? most : input_rows;
    int status = rows > input ? 1 : 0;

    out->transcript = (struct tui_rect){ 0, 0, rows - input - status, cols };
    out->status = (struct tui_rect){ rows - input - status, 0, status, cols };
    out->input = (struct tui_rect){ rows - input, 0, input, cols };
}
