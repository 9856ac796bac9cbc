/* Colour is never the only sign: names, labels and "error:" say in words what they
 * are. */
#include "config.h"

#include "tui/styles.h"

const struct tui_style_row tui_styles[TUI_STYLES] = {
    [TUI_STYLE_TEXT] = { "text", TUI_COLOR_DEFAULT, 0 },
    [TUI_STYLE_USER_NAME] = { "user-name", TUI_COLOR_GREEN, TUI_ATTR_BOLD },
    [TUI_STYLE_MODEL_NAME] = { "model-name", TUI_COLOR_CYAN, TUI_ATTR_BOLD },
    [TUI_STYLE_OTHER_NAME] = { "other-name", TUI_COLOR_MAGENTA, TUI_ATTR_BOLD },
    [TUI_STYLE_THINK_LABEL] = { "think-label", TUI_COLOR_DEFAULT, TUI_ATTR_DIM },
    [TUI_STYLE_THINK] = { "think", TUI_COLOR_DEFAULT, TUI_ATTR_DIM },
    [TUI_STYLE_TOOL_LABEL] = { "tool-label", TUI_COLOR_MAGENTA, 0 },
    [TUI_STYLE_TOOL] = { "tool", TUI_COLOR_DEFAULT, 0 },
    [TUI_STYLE_NOTE] = { "note", TUI_COLOR_DEFAULT, TUI_ATTR_DIM },
    [TUI_STYLE_ERROR] = { "error", TUI_COLOR_RED, TUI_ATTR_BOLD },
    [TUI_STYLE_GUTTER] = { "gutter", TUI_COLOR_DEFAULT, TUI_ATTR_DIM },
    [TUI_STYLE_STATUS] = { "status", TUI_COLOR_DEFAULT, TUI_ATTR_REVERSE },
    [TUI_STYLE_HINT] = { "hint", TUI_COLOR_DEFAULT, TUI_ATTR_REVERSE },
    [TUI_STYLE_ALERT] = { "alert", TUI_COLOR_DEFAULT, TUI_ATTR_REVERSE | TUI_ATTR_BOLD },
    [TUI_STYLE_PROMPT] = { "prompt", TUI_COLOR_GREEN, TUI_ATTR_BOLD },
    [TUI_STYLE_INPUT] = { "input", TUI_COLOR_DEFAULT, 0 },
};
