#ifndef TUI_STYLES_H
#define TUI_STYLES_H

/* Styles by meaning. The table says what a meaning looks like; code names the meaning
 * and never a colour. Colours are the terminal's own first eight, so they fit its
 * background. */

#include <stddef.h>

enum tui_style {
    TUI_STYLE_TEXT,
    TUI_STYLE_USER_NAME, TUI_STYLE_MODEL_NAME, TUI_STYLE_OTHER_NAME,
    TUI_STYLE_THINK_LABEL, TUI_STYLE_THINK,
    TUI_STYLE_TOOL_LABEL, TUI_STYLE_TOOL,
    TUI_STYLE_NOTE, TUI_STYLE_ERROR,
    TUI_STYLE_GUTTER,
    TUI_STYLE_STATUS, TUI_STYLE_HINT, TUI_STYLE_ALERT,
    TUI_STYLE_PROMPT, TUI_STYLE_INPUT,
    TUI_STYLES,
};

enum tui_attr { TUI_ATTR_BOLD = 1, TUI_ATTR_DIM = 2, TUI_ATTR_REVERSE = 4,
                TUI_ATTR_ITALIC = 8 };

enum tui_color {
    TUI_COLOR_DEFAULT = -1, TUI_COLOR_BLACK, TUI_COLOR_RED, TUI_COLOR_GREEN,
    TUI_COLOR_YELLOW, TUI_COLOR_BLUE, TUI_COLOR_MAGENTA, TUI_COLOR_CYAN, TUI_COLOR_WHITE,
};

struct tui_style_row {
    const char *name;           /* the meaning, for configuration and documents */
    enum tui_color color;
    unsigned attrs;             /* tui_attr; they also carry the meaning without colour */
};

extern const struct tui_style_row tui_styles[TUI_STYLES];

#endif
