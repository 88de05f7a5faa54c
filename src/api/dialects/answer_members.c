#include "api/dialects/answer_members.h"

#include "api/wire/grown.h"
#include "base/core/str.h"
#include "base/json/json.h"

/* What servers call it; NULL at the end. */
static const char *const reasoning_names[] = {"reasoning_content", "reasoning", NULL};

struct td_str answer_members_reasoning(const struct json *message)
{
    struct td_str found = STR("");
    for (size_t i = 0; found.len == 0 && reasoning_names[i]; i++)
        found = json_text(json_get(message, reasoning_names[i]));
    return found;
}

/* The member that it comes in; NULL = none. */
static const char *reasoning_name(const struct response_answer *answer)
{
    for (size_t i = 0; reasoning_names[i]; i++) {
        struct json *value = grown_value(answer->members, reasoning_names[i]);
        bool found = json_text(value).len > 0;
        json_free(value);
        if (found)
            return reasoning_names[i];
    }
    return NULL;
}

struct json *answer_members_reasoning_whole(const struct response_answer *answer)
{
    const char *name = reasoning_name(answer);
    return name ? grown_value(answer->members, name) : NULL;
}

/* What was appended since `mark` are members, each after a comma: an object of that name. */
static void close_object(const char *name, size_t mark, struct buf *out)
{
    struct buf members;
    buf_init(&members, out->bytes_max);
    buf_append_str(&members, str_slice(buf_view(out), mark, out->len));
    buf_truncate(out, mark);
    out->failed |= members.failed;
    if (members.len > 0) {
        buf_printf(out, ",\"%s\":{", name);
        buf_append_str(out, str_slice(buf_view(&members), 1, members.len));
        buf_append_char(out, '}');
    }
    buf_deinit(&members);
}

void answer_members_write(const struct response_answer *answer, const struct answer_shown *shown,
                          struct buf *out)
{
    const char *in_message[4] = {NULL}, *beside[2] = {NULL};
    size_t count = 0, begin = out->len;
    if (shown->reasoning)
        in_message[count] = reasoning_name(answer);
    count += in_message[count] != NULL;
    if (shown->thoughts)
        in_message[count++] = "reasoning_details";
    if (shown->annotations)
        in_message[count] = "annotations";
    if (shown->service_tier)
        beside[0] = "service_tier";
    grown_write(answer->members, in_message, out);
    close_object("message", begin, out);
    size_t mark = out->len;
    response_write_beside(answer->beside, "choice", NULL, out);
    close_object("choice", mark, out);
    mark = out->len;
    response_write_beside(answer->beside, "chunk", beside, out);
    close_object("answer", mark, out);
    close_object("chat", begin, out);
}

void answer_members_write_usage(const struct response_answer *answer,
                                const struct tier_usage *usage, struct buf *out)
{
    /* Counts, and what the dialects call them. */
    static const char *const own[] = {"prompt_tokens",
                                      "completion_tokens",
                                      "total_tokens",
                                      "input_tokens",
                                      "output_tokens",
                                      "input_tokens_details",
                                      "output_tokens_details",
                                      "cache_creation_input_tokens",
                                      "cache_read_input_tokens",
                                      NULL};
    response_write_members(response_told_usage(answer->beside, usage), own, out);
}
