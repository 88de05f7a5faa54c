#include "tier/local/local_computed.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "instant/instant.h"
#include "instant/several.h"
#include "tier/local/local_asked.h"

/* An answer is at most three times its question (a name in another case), and little else. */
#define ANSWER_BYTES_MAX (4 * INSTANT_QUESTION_BYTES_MAX)
/* GBNF spells a byte with up to four. */
#define GRAMMAR_BYTES_MAX (5 * ANSWER_BYTES_MAX)
/* As the default model says that a question is another's. */
#define NOT_MINE "That is outside what this small model can do."

/* Whether the answer is a text that the request leaves to the model. */
static bool is_free(const struct td_request *request)
{
    return request->message_count > 0 && !request->completion && !request->labels &&
           !request->continues && !request->has_calls &&
           request->tool_choice != TOOL_CHOICE_FORCED && request->format == TD_FORMAT_TEXT &&
           !request->grammar && !request->names_adapters && request->media.kinds == 0 &&
           request->messages[request->message_count - 1].role == TD_ROLE_USER;
}

static bool says_how(const struct td_message *message)
{
    return message->role != TD_ROLE_USER && message->role != TD_ROLE_ASSISTANT &&
           !local_asked_nothing(message->content);
}

/* Whether several things are asked for: by a system prompt, or, where none gives a task, by the
 * question. *alone: nothing before the question can change what it asks. */
static bool asks_several(const struct td_request *request, bool *alone)
{
    enum asked asked = ASKED_NOTHING;
    *alone = true;
    for (size_t i = 0; i < request->message_count && asked == ASKED_NOTHING; i++)
        if (says_how(&request->messages[i])) {
            *alone = false;
            asked = several_asked(request->messages[i].content);
        }
    if (asked == ASKED_NOTHING && (*alone || !local_asked_for_label(request)))
        asked = several_asked(request->messages[request->message_count - 1].content);
    return asked == ASKED_SEVERAL;
}

/* Whether nothing was said before the question, but that an assistant is a helpful one: what it is
 * called and what was talked about may change what answers a greeting. */
static bool is_alone(const struct td_request *request)
{
    struct td_str first = request->messages[0].content;
    bool helpful = str_equal_nocase(first, STR("You are a helpful assistant.")) ||
                   str_equal_nocase(first, STR("You are a helpful assistant"));
    return request->message_count == 1 ||
           (request->message_count == 2 && request->messages[0].role != TD_ROLE_USER && helpful);
}

static void write_literal(struct td_str text, struct buf *out)
{
    buf_append_str(out, STR("root ::= \""));
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F)
            buf_printf(out, "\\x%02X", c);
        else
            buf_append_char(out, (char)c);
    }
    buf_append_char(out, '"');
}

enum td_status local_computed_grammar(const struct td_model *model,
                                      const struct td_request *request, struct td_grammar **out,
                                      bool *declined, struct td_error *err)
{
    struct buf answer, source;
    bool alone;
    *out = NULL;
    *declined = false;
    if (!is_free(request) || td_model_get_info(model)->not_mine_id < 0)
        return TD_OK;
    struct td_str question = request->messages[request->message_count - 1].content;
    bool several = asks_several(request, &alone);
    buf_init(&answer, ANSWER_BYTES_MAX);
    buf_init(&source, GRAMMAR_BYTES_MAX);
    enum td_status status = TD_OK;
    if (!alone || !instant_answer(question, is_alone(request), &answer)) {
        *declined = several;
        buf_append_str(&answer, several ? STR(NOT_MINE) : STR(""));
    }
    if (answer.len > 0) {
        write_literal(buf_view(&answer), &source);
        status = source.failed ? error_set(err, TD_NO_MEMORY, "no memory for a computed answer")
                               : td_grammar_parse(buf_view(&source), out, err);
    }
    buf_deinit(&source);
    buf_deinit(&answer);
    return status;
}

struct td_token_stats local_computed_stats(bool declined)
{
    return (struct td_token_stats){.margin = 1, .probe = 1, .forced = 1, .not_mine = declined};
}
