/* Finds tool calls in a model's answer while it is generated. Text that may belong to a call is
 * held back, complete calls come out as calls, and text that only looked like a call comes out as
 * text. One owner, one thread. */
#ifndef TIER_TOOL_PARSER_H
#define TIER_TOOL_PARSER_H

#include "base/bytes/buf.h"
#include "base/json/json.h"
#include "engine/model/chat_tools.h"

/* "call_" and 24 random hexadecimal digits. */
#define TOOL_CALL_ID_BYTES 30

struct tool_call {
    uint32_t number; /* in the answer, from 0 */
    char id[TOOL_CALL_ID_BYTES];
    struct buf function, arguments; /* its name; a text of JSON */
};

struct tool_parser {
    enum tool_format format;
    struct json *tools; /* a copy of the request's; others cannot be called */
    struct buf held;    /* text not given out yet */
    bool in_call;       /* held begins after an opening mark */
    bool began;         /* text other than white space has come */
    size_t call_count;  /* in the whole answer */
    /* The calls that the last feed has completed. **borrow** until the next feed or the end. */
    struct tool_call *ready;
    size_t ready_count, ready_capacity;
};

/* tools: in OpenAI's form; copied. */
void tool_parser_init(struct tool_parser *parser, enum tool_format format,
                      const struct json *tools);
void tool_parser_deinit(struct tool_parser *parser);

/* Reads the next text of the answer. Appends what is certainly text to `plain`. Calls that it
 * completes are then `ready`. */
void tool_parser_feed(struct tool_parser *parser, struct td_str text, struct buf *plain);
/* At the end of the answer: gives out the rest, in the same way. */
void tool_parser_end(struct tool_parser *parser, struct buf *plain);

/* Whether a control token is a mark of this format. Its spelling is then fed as text. */
bool tool_parser_is_mark(const struct tool_parser *parser, struct td_str token);

#endif
