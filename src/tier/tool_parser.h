/* Finds tool calls in a model's answer while it is generated. Text that may belong to a call is
 * held back, complete calls come out in OpenAI's form, and text that only looked like a call comes
 * out as text. One owner, one thread. */
#ifndef TIER_TOOL_PARSER_H
#define TIER_TOOL_PARSER_H

#include "base/buf.h"
#include "base/json.h"
#include "engine/model/chat_tools.h"

struct tool_parser {
    enum tool_format format;
    struct json *tools; /* a copy of the request's; others cannot be called */
    struct buf held;    /* text not given out yet */
    bool in_call;       /* held begins after an opening mark */
    bool began;         /* text other than white space has come */
    size_t call_count;
};

/* tools: in OpenAI's form; copied. */
void tool_parser_init(struct tool_parser *parser, enum tool_format format,
                      const struct json *tools);
void tool_parser_deinit(struct tool_parser *parser);

/* Reads the next text of the answer. Appends what is certainly text to `plain`. *calls is NULL, or
 * a new array of complete calls with index and id, as in a stream's delta (json_free). */
void tool_parser_feed(struct tool_parser *parser, struct td_str text, struct buf *plain,
                      struct json **calls);
/* At the end of the answer: gives out the rest, in the same form. */
void tool_parser_end(struct tool_parser *parser, struct buf *plain, struct json **calls);

/* Whether a control token is a mark of this format. Its spelling is then fed as text. */
bool tool_parser_is_mark(const struct tool_parser *parser, struct td_str token);

#endif
