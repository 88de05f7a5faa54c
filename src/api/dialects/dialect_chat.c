/* /v1/chat/completions as a dialect: the bodies are openai_response.c's, one event a chunk. */
#include "api/dialects/dialect.h"

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    return response_write_completion(&reply->writer, summary, &reply->answer, out);
}

static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    reply->writer.include_usage = reply->request->include_usage;
    sse_begin(out, NULL);
    response_chunk_role(&reply->writer, summary, out);
    sse_end(out);
}

static bool write_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    (void)fault;
    size_t mark = out->len;
    response_answer_add_beside(&reply->answer, piece);
    sse_begin(out, NULL);
    if (response_chunk_content(&reply->writer, summary, piece, out))
        sse_end(out);
    else
        buf_truncate(out, mark);
    return true;
}

static void write_correction(struct dialect_reply *reply, const struct exchange_summary *summary,
                             struct buf *out)
{
    response_answer_clear(&reply->answer);
    sse_begin(out, NULL);
    response_chunk_correction(&reply->writer, summary, out);
    sse_end(out);
}

static void write_verdict(struct dialect_reply *reply, const struct exchange_summary *summary,
                          struct buf *out)
{
    sse_begin(out, NULL);
    response_chunk_verdict(&reply->writer, summary, out);
    sse_end(out);
}

static bool write_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    sse_begin(out, NULL);
    response_chunk_finish(&reply->writer, summary, &reply->answer, out);
    sse_end(out);
    if (reply->request->include_usage) {
        sse_begin(out, NULL);
        response_chunk_usage(&reply->writer, summary, &reply->answer, out);
        sse_end(out);
    }
    return true;
}

const struct dialect dialect_chat = {
    .form = &event_form_openai,
    .has_corrections = true,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .write_correction = write_correction,
    .write_verdict = write_verdict,
    .write_finish = write_finish,
};
