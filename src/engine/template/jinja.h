/* Runs the chat template of a model file. It is a program in the part of the Jinja language that
 * chat templates use. It is compiled once and run for every prompt. A compiled template is
 * immutable (any thread); each rendering has its own memory. */
#ifndef ENGINE_JINJA_H
#define ENGINE_JINJA_H

#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/template/template.h"

struct jinja;

/* **returns new** (jinja_close). `source` is copied. TD_UNSUPPORTED, with line and reason, when the
 * template is malformed or uses more than this part of Jinja. TD_LIMIT when it is too large or
 * nested too deep. */
TD_MUST_CHECK enum td_status jinja_open(struct td_str source, struct jinja **out,
                                        struct td_error *err);
void jinja_close(struct jinja *jinja);

struct jinja_input {
    const struct td_message *messages;
    size_t message_count;
    /* Takes the place of `messages` unless NULL: OpenAI's array of messages, with tool_calls,
     * tool_call_id, reasoning_content, ... If the `arguments` of a call are a JSON object in a
     * string, the template sees the object. Content that consists of text parts only is joined by
     * newlines. */
    const struct json *messages_json;
    const struct json *tools;     /* array of functions; NULL = none */
    const struct json *variables; /* object: enable_thinking, date_string, ...; NULL = none */
    struct td_str bos_token, eos_token;
    bool add_generation;
    const struct clock *clock; /* for strftime_now; NULL = the system's */
};

/* Renders into *out as template_render does, but with the BOS that the template writes. TD_INVALID:
 * the template refuses the messages (raise_exception). TD_UNSUPPORTED: it does something that the
 * interpreter or Jinja cannot do. TD_LIMIT: too many steps, too much memory or text. Errors never
 * quote messages. */
TD_MUST_CHECK enum td_status jinja_render(const struct jinja *jinja,
                                          const struct jinja_input *input,
                                          struct template_output *out, struct td_error *err);

#endif
