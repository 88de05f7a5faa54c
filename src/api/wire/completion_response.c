/* Writes completions, whole and as chunks. Log-probabilities arrive as one object a piece and leave
 * as four arrays, so a whole answer collects them in four columns. */
#include "api/wire/completion_response.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "tier/openai/openai_beside.h"

/* In the order of text_answer.columns. */
static const char *const column_names[] = {"tokens", "token_logprobs", "top_logprobs",
                                           "text_offset"};

#define COLUMN_COUNT (sizeof column_names / sizeof *column_names)

void text_answer_init(struct text_answer *answer, size_t bytes_max)
{
    answer->beside = NULL;
    buf_init(&answer->text, bytes_max);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        buf_init(&answer->columns[i], bytes_max);
}

void text_answer_deinit(struct text_answer *answer)
{
    buf_deinit(&answer->text);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        buf_deinit(&answer->columns[i]);
    json_free(answer->beside);
    answer->beside = NULL;
}

void text_answer_clear(struct text_answer *answer)
{
    buf_clear(&answer->text);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        buf_clear(&answer->columns[i]);
    json_free(answer->beside);
    answer->beside = NULL;
}

void text_answer_add(struct text_answer *answer, const struct tier_piece *piece)
{
    const struct json *logprobs = json_get(piece->raw_delta, "logprobs");
    const struct json *beside = json_get(piece->raw_delta, OPENAI_BESIDE);
    buf_append_str(&answer->text, piece->text);
    if (beside) {
        json_free(answer->beside);
        answer->beside = json_clone(beside);
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const struct json *column = json_get(logprobs, column_names[i]);
        for (size_t at = 0; at < json_count(column); at++) {
            if (answer->columns[i].len)
                buf_append_char(&answer->columns[i], ',');
            json_write(json_at(column, at), &answer->columns[i]);
        }
    }
}

bool text_answer_write(const struct response_writer *writer, const struct text_answer *answer,
                       const struct exchange_summary *summary, size_t index, bool several,
                       struct buf *out)
{
    bool ok = !answer->text.failed;
    buf_append_str(out, STR("{\"text\":"));
    json_write_text(buf_view(&answer->text), out);
    buf_printf(out, ",\"index\":%zu,\"logprobs\":", index);
    for (size_t i = 0; writer->logprobs && i < COLUMN_COUNT; i++) {
        buf_printf(out, "%s\"%s\":[", i ? "]," : "{", column_names[i]);
        buf_append_str(out, buf_view(&answer->columns[i]));
        ok = ok && !answer->columns[i].failed;
    }
    buf_append_str(out, writer->logprobs ? STR("]}") : STR("null"));
    buf_printf(out, ",\"finish_reason\":\"%s\"", names_finish(summary->finish));
    response_write_beside(answer->beside, "choice", NULL, out);
    if (several) {
        buf_append_str(out, STR(",\"tandem\":"));
        response_write_tandem(writer, summary, out);
    }
    buf_append_char(out, '}');
    return ok && !out->failed;
}

void completion_write_head(const struct response_writer *writer,
                           const struct exchange_summary *summary, struct buf *out)
{
    buf_printf(out,
               "{\"id\":\"cmpl-%s\",\"object\":\"text_completion\",\"created\":%lld,\"model\":",
               writer->id, (long long)writer->created);
    json_write_text(str_from(summary && summary->model ? summary->model : writer->model), out);
}

void completion_chunk(const struct response_writer *writer, const struct exchange_summary *summary,
                      size_t index, const struct tier_piece *piece, struct buf *out)
{
    const struct json *logprobs = piece ? json_get(piece->raw_delta, "logprobs") : NULL;
    const struct json *beside = piece ? json_get(piece->raw_delta, OPENAI_BESIDE) : NULL;
    completion_write_head(writer, summary, out);
    buf_printf(out, ",\"choices\":[{\"index\":%zu,\"text\":", index);
    json_write_text(piece ? piece->text : STR(""), out);
    buf_append_str(out, STR(",\"logprobs\":"));
    if (writer->logprobs && json_kind_of(logprobs) == JSON_KIND_OBJECT)
        json_write(logprobs, out);
    else
        buf_append_str(out, STR("null"));
    if (piece)
        buf_append_str(out, STR(",\"finish_reason\":null"));
    else
        buf_printf(out, ",\"finish_reason\":\"%s\"", names_finish(summary->finish));
    response_write_beside(beside, "choice", NULL, out);
    buf_append_str(out, STR("}]"));
    response_write_beside(beside, "chunk", NULL, out);
    if (writer->include_usage)
        buf_append_str(out, STR(",\"usage\":null"));
    if (!piece) {
        buf_append_str(out, STR(",\"tandem\":"));
        response_write_tandem(writer, summary, out);
    }
    buf_append_char(out, '}');
}

void completion_chunk_usage(const struct response_writer *writer,
                            const struct exchange_summary *summary, const struct tier_usage *usage,
                            const struct json *told, struct buf *out)
{
    completion_write_head(writer, summary, out);
    buf_append_str(out, STR(",\"choices\":[],\"usage\":"));
    response_write_usage(usage, told, out);
    buf_append_char(out, '}');
}
