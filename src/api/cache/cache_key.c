/* The key of an answer is a hash of everything that it may depend on, and of who may see it:
 *
 *   who       caller, tenant, user, the class of what was asked and of what was sent
 *   of whom   policy version, tier, address, model, the weights of a local one
 *   what      every member of the body in a canonical form, and every typed member of the request
 *
 * A member that nobody here knows is part of it like any other, so a new one never gives an old
 * answer. Left out is what does not change an answer: whether it is streamed, and the name under
 * which the model was asked for. The order of an object's members does not count.
 *
 * The request is the one that is sent: of a masked one the answer has surrogates, and the exchange
 * puts back the values of the conversation that asks now.
 *
 * What is not kept: restricted and contractual data; what promises that nothing is kept; what a
 * tool of the server's own finds out anew (a search); choices between labels; what goes on with
 * another answer. Tools of the client's are part of the request with all their results, so the same
 * request has the same answer: LiteLLM and Portkey keep those, too. Both keep random answers as
 * well, once their cache is on. Here the configuration or the request must ask for that. */
#include "api/cache/cache_key.h"

#include "base/core/str.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define MEMBERS_MAX 4096 /* of one object; more are no request */
#define SCALAR_BYTES_MAX 64

static bool samples_at_random(const struct td_request *request)
{
    const struct td_sampling *sampling = &request->sampling;
    bool greedy = (!(request->left_to_model & SETTING_TEMPERATURE) && sampling->temperature <= 0) ||
                  (!(request->left_to_model & SETTING_TOP_K) && sampling->top_k == 1);
    return !greedy && !sampling->seed_set;
}

/* Members that let the server look something up: its answer is of that moment. */
static bool looks_up(const struct td_request *request)
{
    static const char *const members[] = {"web_search_options", "plugins", "search_parameters"};
    for (size_t i = 0; i < request->member_count; i++)
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            if (strcmp(request->members[i].name, members[m]) == 0)
                return true;
    return request->foreign_tools;
}

bool cache_key_may(const struct cache_question *question, enum cache_answers which)
{
    const struct td_request *request = question->request;
    const struct egress_pass *pass = question->pass;
    bool wanted = which == CACHE_ANSWERS_ALL || request->cache == CACHE_USE ||
                  (which == CACHE_ANSWERS_DETERMINISTIC && !samples_at_random(request));
    return which != CACHE_ANSWERS_NONE && wanted && request->cache != CACHE_OFF && pass &&
           pass->scanned && pass->asked_class < TD_CLASS_CONTRACTUAL &&
           pass->data_class < TD_CLASS_CONTRACTUAL &&
           (pass->purpose == EGRESS_ATTEMPT || pass->purpose == EGRESS_RETRY ||
            pass->purpose == EGRESS_HEDGE) &&
           !request->keep_nothing && !request->no_retention && !request->labels &&
           request->adapter_count == 0 && !question->facts->adapts_always && !looks_up(request);
}

/* --- hashing --- */

struct hasher {
    struct crypto_sha256 *hash;
    bool without_question; /* all but the text of the last message */
    bool failed;
};

/* A length before each text, so that no two lists of texts are one. */
static void put_bytes(struct hasher *to, const void *data, size_t len)
{
    uint64_t length = len;
    crypto_sha256_feed(to->hash, &length, sizeof length);
    if (len)
        crypto_sha256_feed(to->hash, data, len);
}

static void put_text(struct hasher *to, struct td_str text)
{
    put_bytes(to, text.data, text.len);
}

static void put_cstr(struct hasher *to, const char *text)
{
    put_bytes(to, text, text ? strlen(text) + 1 : 0); /* none is not empty */
}

static void put_number(struct hasher *to, uint64_t number)
{
    put_bytes(to, &number, sizeof number);
}

static void put_float(struct hasher *to, float number)
{
    put_bytes(to, &number, sizeof number);
}

struct member {
    const char *name;
    const struct json *value;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void put_json(struct hasher *to, const struct json *value);

static void put_object(struct hasher *to, const struct json *object)
{
    size_t count = json_count(object), i = 0;
    void *iterator = NULL;
    struct member *members = count <= MEMBERS_MAX ? calloc(count + 1, sizeof *members) : NULL;
    if (!members) {
        to->failed = true;
        return;
    }
    while (i < count && json_next(object, &iterator, &members[i].name, &members[i].value))
        i++;
    qsort(members, i, sizeof *members, by_name);
    for (size_t m = 0; m < i; m++) {
        put_cstr(to, members[m].name);
        put_json(to, members[m].value);
    }
    free(members);
}

/* As deep as a body may be nested (base/json/json.h). */
static void put_json(struct hasher *to, const struct json *value)
{
    enum json_kind kind = json_kind_of(value);
    put_number(to, (uint64_t)kind);
    put_number(to, json_count(value));
    if (kind == JSON_KIND_OBJECT) {
        put_object(to, value);
    } else if (kind == JSON_KIND_ARRAY) {
        for (size_t i = 0; i < json_count(value); i++)
            put_json(to, json_at(value, i));
    } else if (kind == JSON_KIND_TEXT) {
        put_text(to, json_text(value));
    } else if (kind != JSON_KIND_ABSENT) {
        struct buf scalar;
        buf_init(&scalar, SCALAR_BYTES_MAX);
        json_write(value, &scalar);
        to->failed = to->failed || scalar.failed;
        put_text(to, buf_view(&scalar));
        buf_deinit(&scalar);
    }
}

/* --- the request --- */

static bool changes_answer(const char *member)
{
    return strcmp(member, "stream") != 0 && strcmp(member, "stream_options") != 0 &&
           strcmp(member, "model") != 0;
}

static int by_member_name(const void *a, const void *b)
{
    const struct request_member *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* Members of a message whose content alone is the question. */
static bool is_of_question(const char *member)
{
    return strcmp(member, "role") == 0 || strcmp(member, "content") == 0;
}

/* A text, or a list with one part that is a text and nothing else. */
static bool is_text_alone(const struct json *content)
{
    const struct json *part = json_count(content) == 1 ? json_at(content, 0) : NULL;
    return json_kind_of(content) == JSON_KIND_TEXT ||
           (json_kind_of(content) == JSON_KIND_ARRAY && json_count(part) == 2 &&
            str_equal(json_text(json_get(part, "type")), STR("text")) &&
            json_kind_of(json_get(part, "text")) == JSON_KIND_TEXT);
}

/* Nothing stands in the last message but its text. NULL: no wire format made the request. */
static bool is_plain_question(const struct json *messages)
{
    const struct json *last =
        json_count(messages) ? json_at(messages, json_count(messages) - 1) : NULL;
    struct member member;
    void *iterator = NULL;
    bool plain = !messages || (json_kind_of(last) == JSON_KIND_OBJECT &&
                               is_text_alone(json_get(last, "content")));
    while (plain && last && json_next(last, &iterator, &member.name, &member.value))
        plain = is_of_question(member.name);
    return plain;
}

/* All of a list of messages but the last one's content, beside which it has its role alone. */
static void put_messages(struct hasher *to, const struct json *list)
{
    size_t count = json_count(list);
    put_number(to, count);
    for (size_t i = 0; i + 1 < count; i++)
        put_json(to, json_at(list, i));
    put_json(to, json_get(count ? json_at(list, count - 1) : NULL, "role"));
}

static void put_members(struct hasher *to, const struct td_request *request)
{
    const struct request_member **members = calloc(request->member_count + 1, sizeof *members);
    if (!members) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < request->member_count; i++)
        members[i] = &request->members[i];
    qsort(members, request->member_count, sizeof *members, by_member_name);
    for (size_t i = 0; i < request->member_count; i++)
        if (changes_answer(members[i]->name)) {
            put_cstr(to, members[i]->name);
            if (to->without_question && members[i]->kind == REQUEST_MESSAGES)
                put_messages(to, members[i]->value);
            else
                put_json(to, members[i]->value);
        }
    free(members);
}

static void put_texts(struct hasher *to, const struct td_request *request)
{
    const struct td_completion *completion = request->completion;
    put_number(to, request->message_count);
    for (size_t i = 0; i < request->message_count; i++) {
        put_number(to, (uint64_t)request->messages[i].role);
        if (!to->without_question || i + 1 < request->message_count)
            put_text(to, request->messages[i].content);
    }
    put_number(to, completion != NULL);
    if (!completion)
        return;
    put_text(to, completion->text);
    put_bytes(to, completion->ids, completion->id_count * sizeof *completion->ids);
    put_number(to, completion->echo);
    put_number(to, completion->prompt_only);
}

static void put_sampling(struct hasher *to, const struct td_request *request)
{
    const struct td_sampling *s = &request->sampling;
    const float floats[] = {s->temperature,
                            s->top_p,
                            s->min_p,
                            s->repetition_penalty,
                            s->typical_p,
                            s->presence_penalty,
                            s->frequency_penalty,
                            s->mirostat_tau,
                            s->mirostat_eta,
                            s->top_n_sigma,
                            s->dynamic_range,
                            s->dynamic_exponent,
                            s->xtc_probability,
                            s->xtc_threshold,
                            s->dry_multiplier,
                            s->dry_base};
    const uint64_t numbers[] = {s->top_k,
                                s->seed_set ? s->seed : 0,
                                s->seed_set,
                                s->mirostat_version,
                                s->repetition_window,
                                s->dry_allowed,
                                request->left_to_model,
                                request->dry_window,
                                request->ignore_eos};
    put_bytes(to, floats, sizeof floats);
    put_bytes(to, numbers, sizeof numbers);
    put_text(to, request->dry_breakers);
    put_number(to, s->bias_count);
    for (size_t i = 0; i < s->bias_count; i++) {
        put_number(to, (uint64_t)s->biases[i].id);
        put_float(to, s->biases[i].bias);
    }
}

static void put_form(struct hasher *to, const struct td_request *request)
{
    const uint64_t numbers[] = {
        request->tokens_max,    request->continues,        request->logprobs,
        request->top_logprobs,  request->tool_count,       (uint64_t)request->tool_choice,
        request->one_call,      (uint64_t)request->format, request->translated,
        request->old_functions, request->names_adapters,   request->format_is_guessed,
        request->stop_count};
    put_bytes(to, numbers, sizeof numbers);
    for (size_t i = 0; i < request->stop_count; i++)
        put_text(to, request->stops[i]);
    put_text(to, request->tool_named);
    put_text(to, request->grammar_source);
    put_json(to, request->schema);
}

static void put_parties(struct hasher *to, const struct cache_question *question)
{
    const struct td_request *request = question->request;
    const char *const names[] = {request->caller,    request->tenant,       request->user,
                                 question->identity, question->facts->name, question->facts->model,
                                 request->model};
    put_number(to, FORMAT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_cstr(to, names[i]);
    put_number(to, (uint64_t)question->pass->asked_class);
    put_number(to, (uint64_t)question->pass->data_class);
    put_number(to, question->judged);
}

static bool put_all(struct hasher *to, const struct cache_question *question,
                    uint8_t out[static CRYPTO_SHA256_BYTES])
{
    if (!to->hash)
        return false;
    put_parties(to, question);
    put_texts(to, question->request);
    put_members(to, question->request);
    put_sampling(to, question->request);
    put_form(to, question->request);
    crypto_sha256_end(to->hash, out);
    return !to->failed;
}

bool cache_key_of(const struct cache_question *question, uint8_t out[static CRYPTO_SHA256_BYTES])
{
    struct hasher to = {.hash = crypto_sha256_begin()};
    return put_all(&to, question, out);
}

/* --- similar questions --- */

bool cache_key_question(const struct td_request *request, struct td_str *out)
{
    const struct td_message *last =
        request->message_count ? &request->messages[request->message_count - 1] : NULL;
    if (!last || last->role != TD_ROLE_USER || request->completion || request->continues ||
        request->has_calls || request->media.kinds || request->signature_count ||
        request->format != TD_FORMAT_TEXT || request->logprobs ||
        !is_plain_question(request_value(request, REQUEST_MESSAGES)))
        return false;
    *out = last->content;
    return true;
}

bool cache_key_scope(const struct cache_question *question, const char *with,
                     uint8_t out[static CRYPTO_SHA256_BYTES])
{
    struct hasher to = {.hash = crypto_sha256_begin(), .without_question = true};
    if (to.hash)
        put_cstr(&to, with);
    return put_all(&to, question, out);
}
