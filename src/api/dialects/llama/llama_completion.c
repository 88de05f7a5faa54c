/* POST /completion of llama-server as a completion of a text: the model goes on after `prompt`,
 * which no template changes.
 *
 *   prompt (a text)                        the completion's text
 *   n_predict                              max_tokens; -1 and 0 are no limit
 *   json_schema                            response_format
 *   n_probs                                logprobs, top_logprobs
 *   grammar, stop, seed, top_k ...         as they are
 *
 * POST /infill asks for the text between input_prefix and input_suffix. input_extra, files that
 * belong to it, go before the prefix, and `prompt` after it. The suffix is that of OpenAI's
 * completions: a tier that does not have it is not asked, and the local one has not.
 *
 * What is about llama-server's own slots and caches (id_slot, cache_prompt, n_keep ...) has no
 * effect. The probabilities of an answer's tokens are those of a chat, without ids. An answer is
 * {"content", "stop": true, "stop_type", "tokens_predicted", "timings", ...}, or server-sent events
 * {"content", "stop": false} and such an object at the end.
 *
 * The forms are those of tools/server/README.md of llama.cpp, "POST /completion" and "POST
 * /infill". Events have no [DONE]: the one with "stop": true is the last. */
#include "api/dialects/chat_build.h"
#include "api/dialects/dialect.h"
#include "api/dialects/llama/llama_tokens.h"
#include "base/core/str.h"

#include <math.h>

/* --- the request --- */

static bool read_prompt(struct chat_build *build, const struct json *body)
{
    const struct json *prompt = json_get(body, "prompt");
    if (json_absent(prompt))
        return fault_request(build->fault, "prompt", "the request needs a prompt");
    if (json_kind_of(json_get(prompt, "prompt_string")) == JSON_KIND_TEXT &&
        json_count(json_get(prompt, "multimodal_data")) == 0)
        prompt = json_get(prompt, "prompt_string");
    enum json_kind kind = json_kind_of(prompt);
    if (kind == JSON_KIND_ARRAY || kind == JSON_KIND_OBJECT)
        return chat_build_unsupported(build->fault, "prompt",
                                      "prompt must be one text or its tokens here; /v1/completions "
                                      "takes several prompts, and a chat takes images");
    if (kind != JSON_KIND_TEXT || json_text(prompt).len == 0)
        return fault_request(build->fault, "prompt", "prompt must be a text that is not empty");
    chat_build_message(build, "user", json_clone(prompt));
    return true;
}

static bool read_tokens_max(struct chat_build *build, const struct json *body)
{
    static const char *const names[] = {"max_tokens", "n_predict"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(body, names[i]);
        double count = json_number(value, 0);
        enum json_kind kind = json_kind_of(value);
        if (json_absent(value))
            continue;
        if ((kind != JSON_KIND_INT && kind != JSON_KIND_DOUBLE) || floor(count) != count ||
            count > CHAT_BUILD_TOKENS_MAX)
            return fault_request(build->fault, names[i], "%s must be an integer of at most %d",
                                 names[i], CHAT_BUILD_TOKENS_MAX);
        if (count > 0)
            chat_build_put(build, build->body, "max_tokens", json_new_int((int64_t)count));
    }
    return true;
}

static bool read_probabilities(struct chat_build *build, const struct json *body)
{
    const struct json *value = json_get(body, "n_probs");
    double count = json_number(value, 0);
    if (json_absent(value))
        return true;
    if (json_kind_of(value) != JSON_KIND_INT || count < 0 || count > TD_TOP_LOGPROBS_MAX)
        return fault_request(build->fault, "n_probs", "n_probs must be an integer from 0 to %d",
                             TD_TOP_LOGPROBS_MAX);
    if (count > 0) {
        chat_build_put(build, build->body, "logprobs", json_new_bool(true));
        chat_build_put(build, build->body, "top_logprobs", json_new_int((int64_t)count));
    }
    return true;
}

/* What would be missing from the answer. */
static bool refuse_unsupported(const struct json *body, struct fault *fault)
{
    if (json_number(json_get(body, "n_probs"), 0) > 0 &&
        json_bool(json_get(body, "post_sampling_probs"), false))
        return chat_build_unsupported(fault, "post_sampling_probs",
                                      "post_sampling_probs is not supported here; n_probs without "
                                      "it tells what the model says before sampling");
    if (json_count(json_get(body, "image_data")) > 0)
        return chat_build_unsupported(fault, "image_data",
                                      "images are not supported here; send them in a chat");
    return true;
}

static struct json *translate_completion(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    chat_build_hand_on(&build, body, "stop");
    bool ok = refuse_unsupported(body, fault) && read_prompt(&build, body) &&
              read_tokens_max(&build, body) && read_probabilities(&build, body);
    return chat_build_end(&build, ok);
}

/* --- what stands between two texts --- */

/* The files and texts before the gap together; what a request holds is far smaller. */
#define BEFORE_BYTES_MAX ((size_t)64 << 20)

static bool append_text(const struct json *object, const char *name, const char *place,
                        struct buf *out, struct fault *fault)
{
    const struct json *value = json_get(object, name);
    if (!json_absent(value) && json_kind_of(value) != JSON_KIND_TEXT)
        return fault_request(fault, place, "%s must be a string, not %s", place,
                             json_kind_name(json_kind_of(value)));
    buf_append_str(out, json_text(value));
    return true;
}

static bool append_files(const struct json *list, struct buf *out, struct fault *fault)
{
    char name[CHAT_BUILD_PLACE_BYTES], text[CHAT_BUILD_PLACE_BYTES];
    if (!json_absent(list) && json_kind_of(list) != JSON_KIND_ARRAY)
        return fault_request(fault, "input_extra", "input_extra must be a list of files, not %s",
                             json_kind_name(json_kind_of(list)));
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *file = json_at(list, i);
        chat_build_place(name, "input_extra[%zu].filename", i);
        chat_build_place(text, "input_extra[%zu].text", i);
        if (json_kind_of(file) != JSON_KIND_OBJECT) {
            chat_build_place(name, "input_extra[%zu]", i);
            return fault_request(fault, name, "%s must be an object {filename, text}, not %s", name,
                                 json_kind_name(json_kind_of(file)));
        }
        if (!append_text(file, "filename", name, out, fault))
            return false;
        buf_append_char(out, '\n');
        if (!append_text(file, "text", text, out, fault))
            return false;
        buf_append_char(out, '\n');
    }
    return true;
}

static bool read_gap(struct chat_build *build, const struct json *body, struct buf *before)
{
    struct fault *fault = build->fault;
    const struct json *suffix = json_get(body, "input_suffix");
    if (!append_files(json_get(body, "input_extra"), before, fault) ||
        !append_text(body, "input_prefix", "input_prefix", before, fault) ||
        !append_text(body, "prompt", "prompt", before, fault))
        return false;
    if (before->len == 0)
        return fault_request(fault, "input_prefix", "input_prefix must not be empty");
    if (!json_absent(suffix) && json_kind_of(suffix) != JSON_KIND_TEXT)
        return fault_request(fault, "input_suffix", "input_suffix must be a string, not %s",
                             json_kind_name(json_kind_of(suffix)));
    chat_build_message(build, "user", before->failed ? NULL : json_new_text(buf_view(before)));
    if (json_text(suffix).len > 0)
        chat_build_put(build, build->body, "suffix", json_clone(suffix));
    return true;
}

static struct json *translate_infill(const struct json *body, struct fault *fault)
{
    struct chat_build build;
    struct buf before;
    if (!chat_build_begin(&build, fault))
        return NULL;
    buf_init(&before, BEFORE_BYTES_MAX);
    chat_build_common(&build, body);
    chat_build_hand_on(&build, body, "stop");
    bool ok = refuse_unsupported(body, fault) && read_gap(&build, body, &before) &&
              read_tokens_max(&build, body) && read_probabilities(&build, body);
    buf_deinit(&before);
    return chat_build_end(&build, ok);
}

static bool finish_infill(const struct json *asked, struct arena *arena, struct chat_request *out,
                          struct fault *fault)
{
    if (json_text(json_get(asked, "input_suffix")).len > 0)
        out->td.infill_member = "input_suffix";
    return openai_request_make_completion(arena, out, fault);
}

static bool finish_request(const struct json *asked, struct arena *arena, struct chat_request *out,
                           struct fault *fault)
{
    struct td_completion *completion = arena_alloc(arena, sizeof *completion);
    if (!openai_request_make_completion(arena, out, fault))
        return false;
    struct td_completion whole = *out->td.completion;
    if (!completion || !llama_tokens_read(asked, arena, &whole.ids, &whole.id_count))
        return fault_request(fault, "prompt", "the request is larger than this server accepts");
    *completion = whole;
    out->td.completion = completion;
    return true;
}

/* --- the answer --- */

static void write_head(struct td_str content, bool stop, struct buf *out)
{
    buf_append_str(out, STR("{\"index\":0,\"content\":"));
    json_write_text(content, out);
    buf_printf(out, ",\"tokens\":[],\"id_slot\":-1,\"stop\":%s", stop ? "true" : "false");
}

static void write_probabilities(const struct dialect_reply *reply, struct buf *out)
{
    if (!reply->writer.logprobs)
        return;
    buf_append_str(out, STR(",\"completion_probabilities\":["));
    buf_append_str(out, buf_view(&reply->answer.logprobs));
    buf_append_char(out, ']');
}

static double per_second(uint32_t tokens, double ms)
{
    return ms > 0 ? tokens * 1e3 / ms : 0;
}

static void write_timing(const char *name, uint32_t tokens, double ms, struct buf *out)
{
    buf_printf(out, "\"%s_n\":%u,\"%s_ms\":%.3f,\"%s_per_token_ms\":%.3f,\"%s_per_second\":%.3f",
               name, tokens, name, ms, name, tokens > 0 ? ms / tokens : 0, name,
               per_second(tokens, ms));
}

/* As in Ollama's answers, the prompt's time ends with the first token. */
static void write_last(const struct dialect_reply *reply, const struct exchange_summary *summary,
                       struct td_str content, struct buf *out)
{
    const struct tier_usage *usage = &summary->usage;
    double first_ms = fmin(summary->first_token_ms, summary->total_ms);
    struct td_str stop = response_stop(&reply->request->td, summary);
    write_head(content, true, out);
    write_probabilities(reply, out);
    buf_append_str(out, STR(",\"model\":"));
    json_write_text(str_from(summary->model ? summary->model : reply->writer.model), out);
    buf_printf(out,
               ",\"tokens_predicted\":%u,\"tokens_evaluated\":%u,\"tokens_cached\":%u,"
               "\"truncated\":false,\"stop_type\":\"%s\",\"stopping_word\":",
               usage->completion_tokens, usage->prompt_tokens, usage->cached_tokens,
               summary->finish == TD_FINISH_LENGTH ? "limit"
               : stop.len > 0                      ? "word"
                                                   : "eos");
    json_write_text(stop, out);
    buf_append_str(out, STR(",\"timings\":{"));
    write_timing("prompt", usage->prompt_tokens, first_ms, out);
    buf_append_char(out, ',');
    write_timing("predicted", usage->completion_tokens, summary->total_ms - first_ms, out);
    buf_append_str(out, STR("},\"tandem\":"));
    response_write_tandem(&reply->writer, summary, out);
    buf_append_char(out, '}');
}

static bool write_answer(const struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    write_last(reply, summary, buf_view(&reply->answer.content), out);
    return !response_answer_failed(&reply->answer) && !out->failed;
}

/* The first event is that of the first piece. */
static void write_start(struct dialect_reply *reply, const struct exchange_summary *summary,
                        struct buf *out)
{
    (void)reply;
    (void)summary;
    (void)out;
}

static bool write_piece(struct dialect_reply *reply, const struct exchange_summary *summary,
                        const struct tier_piece *piece, struct buf *out, struct fault *fault)
{
    (void)summary;
    (void)fault;
    response_answer_add_logprobs(&reply->writer, &reply->answer, piece);
    if (piece->text.len == 0 && reply->answer.logprobs.len == 0)
        return true;
    sse_begin(out, NULL);
    write_head(piece->text, false, out);
    write_probabilities(reply, out);
    buf_append_char(out, '}');
    sse_end(out);
    buf_clear(&reply->answer.logprobs); /* each event has its own */
    return true;
}

static bool write_finish(struct dialect_reply *reply, const struct exchange_summary *summary,
                         struct buf *out, struct fault *fault)
{
    (void)fault;
    sse_begin(out, NULL);
    write_last(reply, summary, STR(""), out);
    sse_end(out);
    return true;
}

static void write_fault_event(void *ctx, const struct fault *fault, struct buf *out)
{
    (void)ctx;
    sse_begin(out, NULL);
    fault_write(fault, out);
    sse_end(out);
}

#define KEEP_ALIVE ": keep-alive\n\n"

static const struct event_form form = {
    .keep_alive = {KEEP_ALIVE, sizeof KEEP_ALIVE - 1},
    .frame_bytes_max = 4u << 20,
    .write_fault = write_fault_event,
};

static const struct dialect_name names[] = {
    {"response_format", "json_schema"},
    {"max_tokens", "n_predict"},
    {"messages[0].content", "prompt"},
    {NULL, NULL},
};

/* The places of its texts are those of several members. */
static const struct dialect_name infill_names[] = {
    {"response_format", "json_schema"},
    {"max_tokens", "n_predict"},
    {"messages[0].content", "input_prefix"},
    {"suffix", "input_suffix"},
    {NULL, NULL},
};

const struct dialect dialect_llama_completion = {
    .form = &form,
    .names = names,
    .spell_tokens = llama_tokens_spell,
    .translate = translate_completion,
    .finish_request = finish_request,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .write_finish = write_finish,
};

const struct dialect dialect_llama_infill = {
    .form = &form,
    .names = infill_names,
    .translate = translate_infill,
    .finish_request = finish_infill,
    .write_answer = write_answer,
    .write_start = write_start,
    .write_piece = write_piece,
    .write_finish = write_finish,
};
