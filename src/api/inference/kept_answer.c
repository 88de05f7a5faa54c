#include "api/inference/kept_answer.h"

#include "base/core/str.h"
#include "base/time/log.h"

#include <stdio.h>

static void write_id(const struct kept_answer *kept, char id[static HISTORY_ID_BYTES])
{
    snprintf(id, HISTORY_ID_BYTES, "resp_%.*s", HISTORY_ID_BYTES - 6, kept->reply->writer.id);
}

static struct history_owner owner_of(const struct td_request *request)
{
    return (struct history_owner){
        .caller = request->caller, .tenant = request->tenant, .user = request->user};
}

/* items: NULL = none yet. */
static struct history_record record_of(const struct kept_answer *kept, const char *id,
                                       struct history_text *body,
                                       struct history_text *lists[HISTORY_LISTS_OF_RESPONSE])
{
    const struct chat_request *request = kept->reply->request;
    return (struct history_record){
        .id = id,
        .owner = owner_of(&request->td),
        .background = request->turn.background,
        .data_class = {.declared = request->td.data_class, .seen = request->td.class_before},
        .previous = request->turn.previous,
        .body = body,
        .lists = lists,
        .list_count = lists[1] ? 2 : 1,
    };
}

bool kept_answer_begin(const struct kept_answer *kept, struct buf *body, struct fault *fault)
{
    char id[HISTORY_ID_BYTES];
    size_t at, len;
    write_id(kept, id);
    kept->dialect->write_kept(kept->reply, NULL, NULL, body, &at, &len);
    struct history_text *text = body->failed ? NULL : history_text_new(buf_view(body));
    struct history_text *lists[HISTORY_LISTS_OF_RESPONSE] = {kept->reply->request->turn.own};
    struct history_record record = record_of(kept, id, text, lists);
    record.state = HISTORY_RUNNING;
    record.at_once = true; /* the client is told its id now */
    enum td_status status = text ? history_put(kept->history, &record) : TD_NO_MEMORY;
    history_text_free(text);
    if (status == TD_OK)
        return true;
    if (status == TD_LIMIT)
        return fault_request(fault, "background",
                             "the request is larger than a caller may have kept here");
    fault_from_status(fault, status,
                      status == TD_UNAVAILABLE ? HISTORY_AWAY : "no memory for another request",
                      NULL);
    return false;
}

/* A conversation has what was asked and answered as two lists. */
static enum td_status append(const struct kept_answer *kept, struct history_text *const *lists,
                             struct history_class data_class)
{
    const struct chat_request *request = kept->reply->request;
    enum td_status status = TD_OK;
    for (size_t i = 0; i < HISTORY_LISTS_OF_RESPONSE && status == TD_OK; i++) {
        const struct history_record record = {.id = request->turn.conversation,
                                              .owner = owner_of(&request->td),
                                              .data_class = data_class,
                                              .lists = &lists[i],
                                              .list_count = 1};
        status = history_append(kept->history, &record);
    }
    return status;
}

static enum td_status put(const struct kept_answer *kept, const struct buf *body,
                          struct td_str items, const struct exchange_summary *summary)
{
    char id[HISTORY_ID_BYTES];
    const struct history_turn *turn = &kept->reply->request->turn;
    struct history_text *text = history_text_new(buf_view(body));
    struct history_text *output = history_text_new(items);
    struct history_text *lists[HISTORY_LISTS_OF_RESPONSE] = {turn->own, output};
    enum td_status status = text && output ? TD_OK : TD_NO_MEMORY;
    write_id(kept, id);
    struct history_record record = record_of(kept, id, text, lists);
    if (summary && summary->data_class > record.data_class.seen)
        record.data_class.seen = summary->data_class;
    if (status == TD_OK && turn->store)
        status = turn->background ? history_finish(kept->history, &record)
                                  : history_put(kept->history, &record);
    /* What was cancelled or forgotten meanwhile is not said in a conversation either. */
    if (status == TD_OK && *turn->conversation)
        status = append(kept, lists, record.data_class);
    history_text_free(text);
    history_text_free(output);
    return status;
}

void kept_answer_end(const struct kept_answer *kept, const struct exchange_summary *summary,
                     const struct fault *fault)
{
    const struct chat_request *request = kept->reply->request;
    size_t at = 0, len = 0;
    struct buf body;
    if (!kept->history || !request->turn.own)
        return;
    buf_init(&body, 4 * kept->bytes_max + 2 * request->asked_bytes + 65536);
    kept->dialect->write_kept(kept->reply, summary, fault, &body, &at, &len);
    enum td_status status =
        body.failed ? TD_LIMIT
                    : put(kept, &body, str_slice(buf_view(&body), at, at + len), summary);
    if (status != TD_OK && status != TD_NOT_FOUND)
        log_event(LOG_LEVEL_WARN, "response_not_kept", "response=resp_%s bytes=%zu",
                  kept->reply->writer.id, body.len);
    buf_deinit(&body);
}

void kept_answer_update(const struct kept_answer *kept, const struct exchange_summary *summary)
{
    const struct chat_request *request = kept->reply->request;
    char id[HISTORY_ID_BYTES];
    size_t at, len;
    struct buf body;
    write_id(kept, id);
    buf_init(&body, 4 * kept->bytes_max + 2 * request->asked_bytes + 65536);
    kept->dialect->write_kept(kept->reply, summary, NULL, &body, &at, &len);
    struct history_text *text = body.failed ? NULL : history_text_new(buf_view(&body));
    struct history_text *lists[HISTORY_LISTS_OF_RESPONSE] = {request->turn.own};
    struct history_record record = record_of(kept, id, text, lists);
    record.state = HISTORY_RUNNING;
    if (summary->data_class > record.data_class.seen)
        record.data_class.seen = summary->data_class;
    /* The end will be there in its place; until then what is missing is only early. */
    if (text && history_finish(kept->history, &record) == TD_LIMIT)
        log_event(LOG_LEVEL_INFO, "response_not_kept", "response=resp_%s bytes=%zu",
                  kept->reply->writer.id, body.len);
    history_text_free(text);
    buf_deinit(&body);
}

struct history_wait *kept_answer_wait(const struct kept_answer *kept, struct loop *loop,
                                      void (*fn)(void *ctx), void *ctx)
{
    const struct history_turn *turn = &kept->reply->request->turn;
    return turn->own && (turn->store || *turn->conversation)
               ? history_wait(kept->history, loop, fn, ctx)
               : NULL;
}

bool kept_answer_is_wanted(const struct kept_answer *kept)
{
    char id[HISTORY_ID_BYTES];
    write_id(kept, id);
    return history_runs(kept->history, kept->reply->request->td.caller, id);
}
