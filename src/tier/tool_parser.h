/* Tool calls in a model's answer, found while it is written: text that may belong to a call is held
 * back, whole calls come out in OpenAI's form, and what only looked like a call comes out as the
 * text that it is. One owner. */
#ifndef TIER_TOOL_PARSER_H
#define TIER_TOOL_PARSER_H

#include "base/buf.h"
#include "base/json.h"
#include "engine/model/chat_tools.h"

struct tool_parser {
    enum tool_format format;
    struct json *tools; /* a copy of the request's: only these can be called */
    struct buf held;    /* not yet given out */
    bool in_call;       /* held begins after a mark */
    bool began;         /* something other than white space has come */
    size_t call_count;
};

/* tools: OpenAI's list, copied. */
void tool_parser_init(struct tool_parser *parser, enum tool_format format,
                      const struct json *tools);
void tool_parser_deinit(struct tool_parser *parser);

/* Takes the next text of the answer. Appends what is certainly text to `plain`; *calls is NULL, or
 * a new array of calls as a stream's delta has them (json_free): each whole, with index and id. */
void tool_parser_feed(struct tool_parser *parser, struct td_str text, struct buf *plain,
                      struct json **calls);
/* The answer has ended: the rest, as above. */
void tool_parser_end(struct tool_parser *parser, struct buf *plain, struct json **calls);

/* Whether a control token's text is a mark of this format, which is then fed as text. */
bool tool_parser_is_mark(const struct tool_parser *parser, struct td_str token);

#endif
