#ifndef TMPL_XTML_H
#define TMPL_XTML_H

/* XTML, the envelope of Kimi K3: ../shared/kimi/XTML.md is its description.
 *
 * A conversation becomes segments, and a segment is a piece of the prompt: each must be
 * encoded on its own, so neighbouring TEXT pieces are never merged, neither here nor by
 * the caller. The SPECIAL pieces are <|open|>, <|close|>, <|sep|> and <|end_of_msg|>.
 *
 * The stream reads what the model samples, with the types of templates/template.h. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "templates/template.h"

struct err;

/* messages and tools are as in the OpenAI interface, best read with pyjson_load().
 * options (NULL: none) is an object; what it does not know is left to other templates:
 *
 *   thinking               true (default) or false
 *   thinking_effort        "low", "high" or "max" (default); null: say nothing about it
 *   add_generation_prompt  true (default) or false
 *   tool_choice            "required" and "none" are told to the model
 *   response_format        an object with "type"; "json_object", "json_schema" are told
 *   response_schema        the schema, wherever response_format has it
 *
 * The chat layer adds to messages of the assistant:
 *
 *   _said       true: its sampled ids are kept; they become a SAID piece. They begin
 *               behind the generation prompt and do not hold the end token.
 *   _think_off  true: that prompt was one with thinking false
 *   _said_end   what xtml_stream_left() said when it ended, so that what the model left
 *               open is closed; absent: nothing is open
 *   _open       true, only in the last message: the model goes on in it
 *
 * A said message whose thoughts may not be shown any more (thinking is off now) is
 * written from its text, as every past turn is then. On failure false and e; out holds
 * nothing of use. */
bool xtml_render(const json_t *messages, const json_t *tools, const json_t *options,
                 struct tmpl_prompt *out, struct err *e);

struct xtml_stream;

/* start is where the prompt ended: TMPL_THINK, TMPL_RESPONSE, TMPL_TOOL_CALL (inside the
 * tools channel, between calls) or TMPL_CONTROL (no channel is open). Markers are special
 * tokens by their names; text that looks like one is text. */
struct xtml_stream *xtml_stream_new(enum tmpl_channel start);
/* Before the first token, when there are no special tokens to see, only text: markers
 * count wherever they are spelled. */
void xtml_stream_markers_in_text(struct xtml_stream *st);
void xtml_stream_free(struct xtml_stream *st);

/* As tmpl_feed() and tmpl_finish(), with two refinements. A call with all its markup,
 * from its <|open|> to its end, is in channel TMPL_TOOL_CALL, and those bytes are its
 * raw. A call whose name cannot be read has neither name nor id and does not count in the
 * numbering; it is there for its raw bytes and must not be shown to a program as a
 * call. */
void xtml_stream_feed(struct xtml_stream *st, const char *bytes, size_t len,
                      const char *special, struct tmpl_result *out);
void xtml_stream_finish(struct xtml_stream *st, struct tmpl_result *out);

/* The model itself ended its message. */
bool xtml_stream_ended(const struct xtml_stream *st);
/* What a message that ends here leaves open, for _said_end: "done", "think", ...; "sep "
 * before it when the model was inside a tag. Borrowed. */
const char *xtml_stream_left(const struct xtml_stream *st);

#endif
