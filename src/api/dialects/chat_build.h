/* Builds the body of the chat request that a request of another dialect means (dialect.h).
 *
 * Members that only the dialect has are read here, and their faults carry the dialect's names.
 * Members that both have under one name are handed on for openai_request.c to read. Values that a
 * function **takes** may be NULL when memory is short: chat_build_end notices. No thread state. */
#ifndef API_CHAT_BUILD_H
#define API_CHAT_BUILD_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"

#define CHAT_BUILD_PLACE_BYTES 128
/* As for a chat's max_completion_tokens. */
#define CHAT_BUILD_TOKENS_MAX 10000000

struct chat_build {
    struct json *body, *messages;
    size_t message_count; /* that were built */
    bool failed;          /* something is missing because memory was short */
    struct fault *fault;
};

/* False without memory. */
bool chat_build_begin(struct chat_build *build, struct fault *fault);
/* **returns new** (json_free) the body, or NULL with the fault; ok false: always NULL. */
struct json *chat_build_end(struct chat_build *build, bool ok);

/* **takes** value. Without memory for it, or without the object, the build fails. */
void chat_build_put(struct chat_build *build, struct json *object, const char *name,
                    struct json *value);
/* The members of all dialects: model, sampling, `tandem`, `stream`, `lora` ... */
void chat_build_common(struct chat_build *build, const struct json *from);
/* Of them the sampler's numbers, by each of their names. */
void chat_build_sampling(struct chat_build *build, const struct json *from);
/* One of them. */
void chat_build_hand_on(struct chat_build *build, const struct json *from, const char *name);
/* The number of tokens to generate at most, under the dialect's name. */
bool chat_build_tokens_max(struct chat_build *build, const struct json *from, const char *name);
/* Answers that are JSON: schema NULL is any object. **borrows** schema. */
void chat_build_json_format(struct chat_build *build, const char *name, const struct json *schema,
                            const struct json *strict);

/* Reading a message's content. `place` is where the value stands.
 * A part's (a block's) type, or NULL with the fault. */
const char *chat_build_part_type(const struct json *part, const char *place, struct fault *fault);
/* Always false. */
bool chat_build_refuse_part(const char *type, const char *place, struct fault *fault);
/* Pushes a part of a type that is not known here as the text of its JSON, so that what is new can
 * be read by a model. One that holds what no detector of private data can read is refused. */
bool chat_build_new_part(const struct json *part, const char *place, struct json *parts,
                         struct fault *fault);
/* Reads a part that stands at `place`, and pushes what it is in a chat to `parts`. */
typedef bool chat_build_part_fn(const struct json *part, const char *place, struct json *parts,
                                struct fault *fault);
/* A type of a dialect's parts; a list of them ends with one without a type. */
struct chat_build_kind {
    const char *type;
    chat_build_part_fn *read;
};
chat_build_part_fn chat_build_text_part, chat_build_refusal_part;
/* A string, or a list of parts of these kinds, as a chat's content. **returns new**, or NULL with
 * the fault. */
struct json *chat_build_plain(const struct json *content, const char *place,
                              const struct chat_build_kind *kinds, struct fault *fault);
/* Moves what is no text out of a tool's answer, because a chat's has text alone, to the end of the
 * parts *shown, which become the user's. *shown may be NULL. */
void chat_build_take_media(struct chat_build *build, struct json **content, struct json **shown);
bool chat_build_push_text(struct json *parts, struct td_str text, struct fault *fault);
/* **takes** part, which may be NULL without memory. */
bool chat_build_push(struct json *parts, struct json *part, struct fault *fault);
/* A mark of Anthropic's, that what ends here may be cached, goes on with what it stands on: clouds
 * that know it get it, others do not. */
void chat_build_mark(struct json *to, const struct json *from);
/* Parts as they come; a text alone and without a mark as a plain string. **takes** parts. */
struct json *chat_build_content(struct json *parts);

/* **takes** content. What it returns is the build's; NULL without memory. */
struct json *chat_build_message(struct chat_build *build, const char *role, struct json *content);
/* The same of parts and an assistant's calls, which it **takes**; both may be NULL. */
struct json *chat_build_turn(struct chat_build *build, const char *role, struct json *parts,
                             struct json *calls);
/* One of an assistant's `tool_calls`; **takes** arguments, a text of JSON. What it returns is the
 * build's; NULL without memory. */
struct json *chat_build_call(struct chat_build *build, struct json *calls, struct td_str id,
                             struct td_str name, struct json *arguments);
/* The extra_content of a call in the dialect goes on with the chat's: Gemini's thought signature,
 * without which it refuses the next turn. */
void chat_build_call_extra(struct chat_build *build, struct json *call, const struct json *from);
/* A tool's answer to a call. **takes** content. What it returns is the build's; NULL without
 * memory. */
struct json *chat_build_result(struct chat_build *build, struct td_str id, struct json *content);
/* **returns new**; what is NULL is left out. **borrows** parameters and strict. */
struct json *chat_build_tool(struct td_str name, struct td_str description,
                             const struct json *parameters, const struct json *strict);
/* Reads tools[index] and pushes what it is in a chat, with chat_build_push: one tool, several, or
 * none where nothing behind a chat can run it. False with the fault. */
typedef bool chat_build_tool_fn(const struct json *tool, size_t index, struct json *tools,
                                struct fault *fault);
bool chat_build_tools(struct chat_build *build, const struct json *list, chat_build_tool_fn *read);
/* Adds a type to the list of what was left out, if it is not there yet. */
void chat_build_note(struct buf *list, const char *type);
/* Adds the members of a body that say something and that nobody reads: neither chat_build_common
 * nor the dialect, whose own are `known` (up to NULL). */
void chat_build_note_members(struct buf *list, const struct json *body, const char *const *known);
/* tool_choice: a function's name. **returns new**. */
struct json *chat_build_choice(struct td_str name);

/* 400 with `unsupported_content`, for what cannot be ignored without changing the answer. Always
 * false. */
bool chat_build_unsupported(struct fault *fault, const char *param, const char *format, ...)
    TD_PRINTF(3, 4);
/* Writes a place for a fault's param, cut where it is too long. */
void chat_build_place(char out[static CHAT_BUILD_PLACE_BYTES], const char *format, ...)
    TD_PRINTF(2, 3);
/* The string member `name` of `object`, which stands at `place`, or a fault. */
bool chat_build_text(const struct json *object, const char *place, const char *name,
                     struct td_str *out, struct fault *fault);

#endif
