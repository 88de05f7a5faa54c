/* Writes chat completions, whole and as chunks, by hand into a buf.
 *
 * What a tier sent beside text (tool calls, refusals, members that we do not know) is handed on as
 * it came. Log-probabilities are the tier's own where it sent an object, else made of token
 * statistics. */
#include "api/wire/openai_response.h"

#include "api/wire/grown.h"
#include "api/wire/tool_calls.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json_writer.h"
#include "base/text/names.h"
#include "exchange/machine/staying.h"
#include "tandem/engine.h"
#include "tier/openai/openai_beside.h"
#include "tier/openai/openai_usage.h"

#include <math.h>
#include <stdio.h>

void response_writer_init(struct response_writer *writer, const char *exchange_id, int64_t created,
                          const struct td_request *request)
{
    ASSERT(writer && exchange_id && request);
    const char *hex = strchr(exchange_id, '_');
    snprintf(writer->id, sizeof writer->id, "%s", hex ? hex + 1 : exchange_id);
    writer->created = created;
    writer->model = request->model ? request->model : "auto";
    writer->mode = request->mode;
    writer->logprobs = request->logprobs;
    writer->include_usage = false;
    writer->left_out = NULL;
}

/* --- pieces of JSON --- */

static void write_cstr(const char *text, struct buf *out)
{
    if (text)
        json_write_text(str_from(text), out);
    else
        buf_append_str(out, STR("null"));
}

static void write_number(double value, const char *format, struct buf *out)
{
    if (!isfinite(value)) {
        buf_append_str(out, STR("null"));
        return;
    }
    char text[40];
    snprintf(text, sizeof text, format, value);
    buf_append_str(out, str_from(text));
}

static void write_reasons(const struct exchange_summary *summary, struct buf *out)
{
    buf_append_char(out, '[');
    for (size_t i = 0; i < summary->reason_count; i++) {
        const struct reason *reason = &summary->reasons[i];
        buf_append_str(out, i ? STR(",{\"code\":") : STR("{\"code\":"));
        write_cstr(reason_code_name(reason->code), out);
        buf_append_str(out, STR(",\"tier\":"));
        write_cstr(reason->tier, out);
        buf_append_str(out, STR(",\"text\":"));
        write_cstr(reason->text, out);
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
}

/* How often a value was put back. not_restored: places where a surrogate may remain. */
static void write_pseudonyms(const struct pseudonym_counts *counts, struct buf *out)
{
    if (counts->sent > 0)
        buf_printf(out,
                   ",\"pseudonyms\":{\"sent\":%llu,\"seen\":%llu,\"restored\":%llu,"
                   "\"not_restored\":%llu}",
                   (unsigned long long)counts->sent, (unsigned long long)counts->seen,
                   (unsigned long long)counts->restored,
                   (unsigned long long)(counts->seen - counts->restored));
}

/* The part of the conversation that the tier was not sent. */
static void write_left_out(const struct left_out *left_out, struct buf *out)
{
    if (left_out->messages > 0)
        buf_printf(out, ",\"left_out\":{\"turns\":%u,\"messages\":%u,\"bytes\":%llu}",
                   left_out->turns, left_out->messages, (unsigned long long)left_out->bytes);
}

/* Where another tier went on with the answer. */
static void write_seams(const struct exchange_summary *summary, struct buf *out)
{
    for (size_t i = 0; i < summary->seam_count; i++) {
        const struct exchange_seam *seam = &summary->seams[i];
        buf_printf(out, "%s{\"at_chars\":%llu,\"from\":", i ? "," : ",\"seams\":[",
                   (unsigned long long)seam->at_chars);
        write_cstr(seam->from, out);
        buf_append_str(out, STR(",\"to\":"));
        write_cstr(seam->to, out);
        buf_append_str(out, STR(",\"why\":"));
        write_cstr(seam->why, out);
        buf_append_str(out, i + 1 < summary->seam_count ? STR("}") : STR("}]"));
    }
}

static void write_verification(const struct verification *verification, struct buf *out)
{
    buf_printf(out, "{\"state\":\"%s\",\"by\":\"%s\",\"tier\":",
               verification_state_name(verification->state),
               verification->by == VERIFY_SCORE ? "score" : "answer");
    write_cstr(verification->tier, out);
    buf_append_str(out, STR(",\"checked\":"));
    write_cstr(verification->checked, out);
    buf_printf(out, ",\"stakes\":\"%s\",\"cost_usd\":", verification->high ? "high" : "low");
    write_number(verification->cost_usd, "%.9g", out);
    buf_printf(out, ",\"ms\":%.0f}", verification->ms);
}

static void write_documents(const struct staying_facts *facts, struct buf *out)
{
    struct json_writer writer;
    buf_append_str(out, STR(",\"documents\":"));
    json_writer_begin(&writer, out);
    staying_write(facts, NULL, &writer);
}

void response_write_correction(const struct exchange_summary *summary, struct buf *out)
{
    uint64_t from = summary->verification.at_chars;
    buf_append_str(out, STR("\"exchange\":"));
    write_cstr(summary->id, out);
    buf_printf(out, ",\"correction\":{\"replaces\":\"%s\",\"from_chars\":%llu,\"tier\":",
               from ? "rest" : "all", (unsigned long long)from);
    write_cstr(summary->tier, out);
    buf_append_str(out, STR(",\"place\":"));
    write_cstr(names_place(summary->place), out);
    buf_append_char(out, '}');
}

const char *response_verdict_name(const struct exchange_summary *summary)
{
    enum verification_state state = summary->verification.state;
    bool known = state == VERIFICATION_COMMITTED || state == VERIFICATION_CORRECTED;
    return known ? "commit" : "timeout";
}

void response_write_verdict(const struct exchange_summary *summary, struct buf *out)
{
    buf_append_str(out, STR("\"exchange\":"));
    write_cstr(summary->id, out);
    buf_printf(out, ",\"%s\":", response_verdict_name(summary));
    write_verification(&summary->verification, out);
}

size_t response_bytes_of(struct td_str text, uint64_t characters)
{
    size_t at = 0;
    while (at < text.len) {
        if (((unsigned char)text.data[at] & 0xC0) != 0x80 && characters-- == 0)
            break;
        at++;
    }
    return at;
}

void response_write_tandem(const struct response_writer *writer,
                           const struct exchange_summary *summary, struct buf *out)
{
    buf_append_str(out, STR("{\"exchange\":"));
    write_cstr(summary->id, out);
    buf_append_str(out, STR(",\"tier\":"));
    write_cstr(summary->tier, out);
    buf_append_str(out, STR(",\"place\":"));
    write_cstr(summary->tier ? names_place(summary->place) : NULL, out);
    buf_append_str(out, STR(",\"model\":"));
    write_cstr(summary->model, out);
    buf_append_str(out, STR(",\"confidence\":"));
    write_number(summary->confidence, "%.4f", out);
    buf_append_str(out, STR(",\"data_class\":"));
    write_cstr(names_class(summary->data_class), out);
    buf_append_str(out, STR(",\"route\":"));
    write_cstr(summary->route, out);
    buf_append_str(out, STR(",\"mode\":"));
    write_cstr(names_mode(writer->mode), out);
    buf_append_str(out, summary->degraded ? STR(",\"degraded\":true") : STR(",\"degraded\":false"));
    if (summary->review)
        buf_append_str(out, STR(",\"review\":true"));
    if (summary->pending)
        buf_append_str(out, STR(",\"pending\":true"));
    buf_append_str(out, STR(",\"disclosure\":"));
    write_cstr(summary->disclosure, out);
    buf_append_str(out, STR(",\"cost_usd\":"));
    write_number(summary->cost_usd, "%.9g", out);
    buf_append_str(out, STR(",\"all_cloud_cost_usd\":"));
    write_number(summary->all_cloud_cost_usd, "%.9g", out);
    if (summary->cache != TIER_CACHE_NONE)
        buf_printf(out, ",\"cache\":\"%s\"", tier_cache_name(summary->cache));
    if (summary->cache == TIER_CACHE_SIMILAR)
        buf_printf(out, ",\"cache_similarity\":%.4f", (double)summary->cache_facts.similarity);
    buf_printf(out, ",\"egress_bytes\":%llu", (unsigned long long)summary->egress_bytes);
    write_pseudonyms(&summary->pseudonyms, out);
    write_left_out(&summary->left_out, out);
    if (writer->left_out) {
        buf_append_str(out, STR(",\"not_run\":"));
        write_cstr(writer->left_out, out);
    }
    write_seams(summary, out);
    if (summary->documents)
        write_documents(summary->documents, out);
    if (summary->verification.state != VERIFICATION_NONE) {
        buf_append_str(out, STR(",\"verification\":"));
        write_verification(&summary->verification, out);
    }
    buf_append_str(out, STR(",\"reasons\":"));
    write_reasons(summary, out);
    buf_append_char(out, '}');
}

static void write_head(const struct response_writer *writer, const struct exchange_summary *summary,
                       const char *object, struct buf *out)
{
    buf_printf(out,
               "{\"id\":\"chatcmpl-%s\",\"object\":\"%s\",\"created\":%lld,\"model\":", writer->id,
               object, (long long)writer->created);
    write_cstr(summary->model ? summary->model : writer->model, out);
}

static bool is_one_of(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

void response_write_members(const struct json *object, const char *const *except, struct buf *out)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        if (is_one_of(except, name))
            continue;
        buf_append_char(out, ',');
        json_write_text(str_from(name), out);
        buf_append_char(out, ':');
        json_write(value, out);
    }
}

void response_write_beside(const struct json *beside, const char *part, const char *const *except,
                           struct buf *out)
{
    response_write_members(json_get(beside, part), except, out);
}

const struct json *response_told_usage(const struct json *beside, const struct tier_usage *usage)
{
    const struct json *told = json_get(beside, "usage");
    if (!told || !usage->exact || usage->refused)
        return NULL;
    struct tier_usage read = openai_usage_read(told);
    bool same = read.prompt_tokens == usage->prompt_tokens &&
                read.completion_tokens == usage->completion_tokens;
    return same ? told : NULL; /* or it is of one of several tiers */
}

void response_write_usage(const struct tier_usage *usage, const struct json *told, struct buf *out)
{
    static const char *const counts[] = {"prompt_tokens", "completion_tokens", "total_tokens",
                                         NULL};
    buf_printf(out, "{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%llu",
               usage->prompt_tokens, usage->completion_tokens,
               (unsigned long long)usage->prompt_tokens + usage->completion_tokens);
    if (json_absent(json_get(told, "prompt_tokens_details")))
        buf_printf(out, ",\"prompt_tokens_details\":{\"cached_tokens\":%u}", usage->cached_tokens);
    response_write_members(told, counts, out);
    buf_append_char(out, '}');
}

/* "token": as text, "bytes": as they are (a token may end inside a character), "logprob". */
static void write_token(struct td_str text, float logprob, struct buf *out)
{
    buf_append_str(out, STR("{\"token\":"));
    json_write_text(text, out);
    buf_append_str(out, STR(",\"logprob\":"));
    /* OpenAI's convention: -9999 stands for "practically impossible". */
    write_number(isfinite(logprob) ? (double)logprob : -9999.0, "%.6g", out);
    buf_append_str(out, STR(",\"bytes\":["));
    for (size_t i = 0; i < text.len; i++)
        buf_printf(out, i ? ",%u" : "%u", (unsigned)(unsigned char)text.data[i]);
    buf_append_char(out, ']');
}

/* One entry of logprobs.content; false when the piece is not a token with text. */
static bool write_logprob(const struct response_writer *writer, const struct tier_piece *piece,
                          struct buf *out)
{
    if (!writer->logprobs || !piece->has_stats || piece->token_text.len == 0)
        return false;
    write_token(piece->token_text, piece->stats.logprob, out);
    buf_append_str(out, STR(",\"top_logprobs\":["));
    for (size_t i = 0; piece->model && i < piece->top_count; i++) {
        if (i)
            buf_append_char(out, ',');
        write_token(td_token_piece(piece->model, piece->top[i].id, true), piece->top[i].logprob,
                    out);
        buf_append_char(out, '}');
    }
    buf_append_str(out, STR("]}"));
    return true;
}

/* --- stream chunks --- */

#define CHUNK "chat.completion.chunk"

/* With include_usage every chunk has the member, but only the last has a value, as OpenAI's do. */
static void write_no_usage(const struct response_writer *writer, struct buf *out)
{
    if (writer->include_usage)
        buf_append_str(out, STR(",\"usage\":null"));
}

void response_chunk_role(const struct response_writer *writer,
                         const struct exchange_summary *summary, struct buf *out)
{
    write_head(writer, summary, CHUNK, out);
    buf_append_str(out, STR(",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","
                            "\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}]"));
    write_no_usage(writer, out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(writer, summary, out);
    buf_append_char(out, '}');
}

const struct json *response_raw_message(const struct tier_piece *piece)
{
    const struct json *delta = json_get(piece->raw_delta, "delta");
    return delta ? delta : json_get(piece->raw_delta, "message");
}

/* Hands on the members of a peer's delta, except those that are written here. */
static bool write_raw_members(const struct json *message, bool first, struct buf *out)
{
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    while (json_next(message, &iterator, &key, &value)) {
        if (strcmp(key, "role") == 0 || strcmp(key, "content") == 0 ||
            json_kind_of(value) == JSON_KIND_NULL)
            continue;
        if (!first)
            buf_append_char(out, ',');
        first = false;
        json_write_text(str_from(key), out);
        buf_append_char(out, ':');
        json_write(value, out);
    }
    return first;
}

/* The tier's own logprobs object when it sent one, otherwise ours. */
static void write_chunk_logprobs(const struct response_writer *writer,
                                 const struct tier_piece *piece, struct buf *out)
{
    buf_append_str(out, STR(",\"logprobs\":"));
    const struct json *raw = json_get(piece->raw_delta, "logprobs");
    if (writer->logprobs && json_kind_of(raw) == JSON_KIND_OBJECT) {
        json_write(raw, out);
        return;
    }
    size_t mark = out->len;
    buf_append_str(out, STR("{\"content\":["));
    if (write_logprob(writer, piece, out)) {
        buf_append_str(out, STR("],\"refusal\":null}"));
        return;
    }
    buf_truncate(out, mark);
    buf_append_str(out, STR("null"));
}

bool response_chunk_content(const struct response_writer *writer,
                            const struct exchange_summary *summary, const struct tier_piece *piece,
                            struct buf *out)
{
    size_t mark = out->len;
    bool show =
        piece->text.len > 0 || (writer->logprobs && piece->has_stats && piece->token_text.len > 0);
    write_head(writer, summary, CHUNK, out);
    buf_append_str(out, STR(",\"choices\":[{\"index\":0,\"delta\":{"));
    if (show) {
        buf_append_str(out, STR("\"content\":"));
        json_write_text(piece->text, out);
    }
    const struct json *beside = json_get(piece->raw_delta, OPENAI_BESIDE);
    show = !write_raw_members(response_raw_message(piece), !show, out) || show || beside;
    buf_append_char(out, '}');
    write_chunk_logprobs(writer, piece, out);
    buf_append_str(out, STR(",\"finish_reason\":null"));
    response_write_beside(beside, "choice", NULL, out);
    buf_append_str(out, STR("}]"));
    response_write_beside(beside, "chunk", NULL, out);
    write_no_usage(writer, out);
    buf_append_char(out, '}');
    if (!show)
        buf_truncate(out, mark);
    return show;
}

/* Without a choice, so that a client that knows nothing of it passes over it. */
static void write_beside_choices(const struct response_writer *writer,
                                 const struct exchange_summary *summary,
                                 void (*write)(const struct exchange_summary *, struct buf *),
                                 struct buf *out)
{
    write_head(writer, summary, CHUNK, out);
    buf_append_str(out, STR(",\"choices\":[]"));
    write_no_usage(writer, out);
    buf_append_str(out, STR(",\"tandem\":{"));
    write(summary, out);
    buf_append_str(out, STR("}}"));
}

void response_chunk_correction(const struct response_writer *writer,
                               const struct exchange_summary *summary, struct buf *out)
{
    write_beside_choices(writer, summary, response_write_correction, out);
}

void response_chunk_verdict(const struct response_writer *writer,
                            const struct exchange_summary *summary, struct buf *out)
{
    write_beside_choices(writer, summary, response_write_verdict, out);
}

/* A call of OpenAI's form before 2023-11 ends with the reason of that form. */
static const char *finish_of(const struct exchange_summary *summary,
                             const struct response_answer *answer)
{
    return summary->finish == TD_FINISH_TOOL_CALLS && answer->old_call
               ? "function_call"
               : names_finish(summary->finish);
}

void response_chunk_finish(const struct response_writer *writer,
                           const struct exchange_summary *summary,
                           const struct response_answer *answer, struct buf *out)
{
    write_head(writer, summary, CHUNK, out);
    buf_printf(out,
               ",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
               "\"finish_reason\":\"%s\"}]",
               finish_of(summary, answer));
    write_no_usage(writer, out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(writer, summary, out);
    buf_append_char(out, '}');
}

void response_chunk_usage(const struct response_writer *writer,
                          const struct exchange_summary *summary,
                          const struct response_answer *answer, struct buf *out)
{
    write_head(writer, summary, CHUNK, out);
    buf_append_str(out, STR(",\"choices\":[],\"usage\":"));
    response_write_usage(&summary->usage, response_told_usage(answer->beside, &summary->usage),
                         out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(writer, summary, out);
    buf_append_char(out, '}');
}

/* --- whole answers --- */

void response_answer_init(struct response_answer *answer, size_t bytes_max)
{
    *answer = (struct response_answer){0};
    buf_init(&answer->content, bytes_max);
    buf_init(&answer->logprobs, bytes_max);
    buf_init(&answer->refusal, bytes_max);
}

static void forget_members(struct response_answer *answer)
{
    tool_calls_free(answer->tool_calls);
    grown_free(answer->members);
    json_free(answer->beside);
    answer->tool_calls = NULL;
    answer->members = NULL;
    answer->beside = NULL;
    answer->old_call = false;
}

void response_answer_deinit(struct response_answer *answer)
{
    buf_deinit(&answer->content);
    buf_deinit(&answer->logprobs);
    buf_deinit(&answer->refusal);
    forget_members(answer);
}

void response_answer_clear(struct response_answer *answer)
{
    buf_clear(&answer->content);
    buf_clear(&answer->logprobs);
    buf_clear(&answer->refusal);
    forget_members(answer);
}

static void add_raw_logprobs(struct response_answer *answer, const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        if (answer->logprobs.len)
            buf_append_char(&answer->logprobs, ',');
        json_write(json_at(list, i), &answer->logprobs);
    }
}

/* Those of a server's completion: columns (tier/openai/openai_logprobs.h). */
static void add_columns(struct response_answer *answer, const struct json *columns)
{
    const struct json *tokens = json_get(columns, "tokens");
    for (size_t i = 0; i < json_count(tokens); i++) {
        const struct json *tops = json_at(json_get(columns, "top_logprobs"), i);
        struct buf *out = &answer->logprobs;
        if (out->len)
            buf_append_char(out, ',');
        write_token(json_text(json_at(tokens, i)),
                    (float)json_number(json_at(json_get(columns, "token_logprobs"), i), NAN), out);
        buf_append_str(out, STR(",\"top_logprobs\":["));
        void *next = NULL;
        const char *text;
        const struct json *logprob;
        for (bool first = true; json_next(tops, &next, &text, &logprob); first = false) {
            if (!first)
                buf_append_char(out, ',');
            write_token(str_from(text), (float)json_number(logprob, NAN), out);
            buf_append_char(out, '}');
        }
        buf_append_str(out, STR("]}"));
    }
}

void response_answer_add_logprobs(const struct response_writer *writer,
                                  struct response_answer *answer, const struct tier_piece *piece)
{
    const struct json *told = json_get(piece->raw_delta, "logprobs");
    const struct json *raw = json_get(told, "content");
    if (writer->logprobs && json_count(raw) > 0) {
        add_raw_logprobs(answer, raw);
    } else if (writer->logprobs && piece->token_text.len == 0 && json_get(told, "tokens")) {
        add_columns(answer, told);
    } else if (writer->logprobs && piece->has_stats && piece->token_text.len) {
        if (answer->logprobs.len)
            buf_append_char(&answer->logprobs, ',');
        write_logprob(writer, piece, &answer->logprobs);
    }
}

void response_answer_add_beside(struct response_answer *answer, const struct tier_piece *piece)
{
    const struct json *beside = json_get(piece->raw_delta, OPENAI_BESIDE);
    answer->old_call |= !json_absent(json_get(response_raw_message(piece), "function_call"));
    if (!beside)
        return;
    json_free(answer->beside);
    answer->beside = json_clone(beside);
}

void response_answer_add_calls(struct response_answer *answer, const struct json *calls)
{
    if (json_count(calls) == 0)
        return;
    if (!answer->tool_calls)
        answer->tool_calls = tool_calls_new(answer->content.bytes_max);
    if (answer->tool_calls)
        tool_calls_add(answer->tool_calls, calls);
    else
        answer->content.failed = true;
}

/* Empty lists say nothing, and streams do not send them. */
static void add_member(struct response_answer *answer, const char *name, const struct json *value)
{
    bool empty = json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) == 0;
    if (json_absent(value) || empty)
        return;
    if (!answer->members)
        answer->members = grown_new(answer->content.bytes_max);
    if (answer->members)
        grown_add(answer->members, name, value);
    else
        answer->content.failed = true;
}

void response_answer_add_members(struct response_answer *answer, const struct tier_piece *piece)
{
    static const char *const own[] = {"role", "content", "refusal", "tool_calls", NULL};
    const struct json *message = response_raw_message(piece);
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(message, &iterator, &name, &value))
        if (!is_one_of(own, name))
            add_member(answer, name, value);
    response_answer_add_beside(answer, piece);
}

void response_answer_add(const struct response_writer *writer, struct response_answer *answer,
                         const struct tier_piece *piece)
{
    const struct json *message = response_raw_message(piece);
    buf_append_str(&answer->content, piece->text);
    response_answer_add_logprobs(writer, answer, piece);
    buf_append_str(&answer->refusal, json_text(json_get(message, "refusal")));
    response_answer_add_calls(answer, json_get(message, "tool_calls"));
    response_answer_add_members(answer, piece);
}

struct td_str response_stop(const struct td_request *request,
                            const struct exchange_summary *summary)
{
    uint32_t number = summary->stop_number;
    bool stopped = summary->finish == TD_FINISH_STOP && number > 0 && number <= request->stop_count;
    return stopped ? request->stops[number - 1] : STR("");
}

bool response_answer_failed(const struct response_answer *answer)
{
    return answer->content.failed || answer->logprobs.failed || answer->refusal.failed ||
           grown_failed(answer->members) || tool_calls_failed(answer->tool_calls);
}

static void write_message(const struct response_answer *answer, struct buf *out)
{
    size_t calls = tool_calls_count(answer->tool_calls);
    bool said =
        answer->content.len > 0 || (calls == 0 && answer->refusal.len == 0 && !answer->old_call);
    buf_append_str(out, STR("{\"role\":\"assistant\",\"content\":"));
    if (said)
        json_write_text(buf_view(&answer->content), out);
    else
        buf_append_str(out, STR("null"));
    buf_append_str(out, STR(",\"refusal\":"));
    if (answer->refusal.len)
        json_write_text(buf_view(&answer->refusal), out);
    else
        buf_append_str(out, STR("null"));
    grown_write(answer->members, NULL, out);
    if (calls) {
        buf_append_str(out, STR(",\"tool_calls\":"));
        tool_calls_write(answer->tool_calls, out);
    }
    buf_append_char(out, '}');
}

bool response_write_completion(const struct response_writer *writer,
                               const struct exchange_summary *summary,
                               const struct response_answer *answer, struct buf *out)
{
    write_head(writer, summary, "chat.completion", out);
    buf_append_str(out, STR(",\"choices\":[{\"index\":0,\"message\":"));
    write_message(answer, out);
    buf_append_str(out, STR(",\"logprobs\":"));
    if (writer->logprobs) {
        buf_append_str(out, STR("{\"content\":["));
        buf_append_str(out, buf_view(&answer->logprobs));
        buf_append_str(out, STR("],\"refusal\":null}"));
    } else {
        buf_append_str(out, STR("null"));
    }
    buf_printf(out, ",\"finish_reason\":\"%s\"", finish_of(summary, answer));
    response_write_beside(answer->beside, "choice", NULL, out);
    buf_append_str(out, STR("}]"));
    response_write_beside(answer->beside, "chunk", NULL, out);
    buf_append_str(out, STR(",\"usage\":"));
    response_write_usage(&summary->usage, response_told_usage(answer->beside, &summary->usage),
                         out);
    buf_append_str(out, STR(",\"tandem\":"));
    response_write_tandem(writer, summary, out);
    buf_append_char(out, '}');
    return !response_answer_failed(answer) && !out->failed;
}

void response_header_text(const char *text, char *out, size_t size)
{
    size_t len = 0;
    for (; text && *text && len + 1 < size; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xC0) == 0x80) /* continuation bytes: one '?' a character */
            continue;
        out[len++] = (char)(c >= 0x20 && c < 0x7F ? c : '?');
    }
    out[len] = '\0';
}
