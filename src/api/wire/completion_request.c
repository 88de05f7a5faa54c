/* Reads a completion request and splits it into choices.
 *
 * A request has up to 256 choices, but its members are parsed and kept once. A choice borrows them
 * and adds what is its own: one prompt and, when a seed is set, the seed plus its number. */
#include "api/wire/completion_request.h"

#include "api/wire/body_forms.h"
#include "api/wire/format_spellings.h"
#include "api/wire/openai_sampling.h"
#include "api/wire/token_ids.h"
#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

/* OpenAI's default for a request that names no number. */
#define TOKENS_DEFAULT 16
#define LOGPROBS_MAX 5 /* as OpenAI's */
#define PROMPT_BYTES_MAX ((size_t)64 << 20)

/* Reads an integer from min to max, or `otherwise` when the body has none. */
static bool read_count(const struct json *body, const char *name, int64_t min, int64_t max,
                       int64_t otherwise, int64_t *out, struct fault *fault)
{
    const struct json *value = json_get(body, name);
    *out = json_absent(value) ? otherwise : json_int(value, min - 1);
    if (json_absent(value) || (json_kind_of(value) == JSON_KIND_INT && *out >= min && *out <= max))
        return true;
    return fault_request(fault, name, "%s must be an integer from %lld to %lld", name,
                         (long long)min, (long long)max);
}

/* --- prompts --- */

static bool is_ids(const struct json *value)
{
    return json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) > 0 &&
           json_kind_of(json_at(value, 0)) == JSON_KIND_INT;
}

/* The text of the ids, for detectors and for the echo. */
static bool spell(const struct td_model *model, struct arena *arena, struct td_completion *to)
{
    struct buf text;
    buf_init(&text, PROMPT_BYTES_MAX);
    for (size_t i = 0; i < to->id_count; i++)
        buf_append_str(&text, td_token_piece(model, to->ids[i], true));
    char *copy = text.failed ? NULL : arena_copy(arena, buf_view(&text));
    to->text = (struct td_str){copy, text.len};
    buf_deinit(&text);
    return copy != NULL;
}

static bool read_ids(const struct json *list, const char *param, const struct td_model *model,
                     struct arena *arena, struct td_completion *to, struct fault *fault)
{
    if (!model) {
        fault_request(fault, param,
                      "token ids belong to the local model, and this server has none");
        fault->error_code = "unsupported_parameter";
        return false;
    }
    size_t count = json_count(list);
    int32_t *ids = arena_alloc_array(arena, count, sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        if (!token_id_read(list, i, param, model, &ids[i], fault))
            return false;
    to->ids = ids;
    to->id_count = count;
    return (ids && spell(model, arena, to)) ||
           fault_request(fault, param, "the prompt is larger than this server accepts");
}

static bool read_prompt(const struct json *value, const char *param, const struct td_model *model,
                        struct arena *arena, struct td_completion *out, struct fault *fault)
{
    if (is_ids(value)) {
        if (!read_ids(value, param, model, arena, out, fault))
            return false;
    } else if (json_kind_of(value) != JSON_KIND_TEXT) {
        return fault_request(fault, param, "%s must be a string or an array of token ids, not %s",
                             param, json_kind_name(json_kind_of(value)));
    } else {
        out->text = json_text(value);
        if (out->text.len == 0)
            return fault_request(fault, param, "%s must not be empty", param);
    }
    return true;
}

static bool read_prompts(const struct json *body, const struct td_model *model, struct arena *arena,
                         struct completion_request *out, struct fault *fault)
{
    const struct json *prompt = json_get(body, "prompt");
    bool list = json_kind_of(prompt) == JSON_KIND_ARRAY && !is_ids(prompt);
    if (json_absent(prompt))
        return fault_request(fault, "prompt", "the request needs a prompt");
    out->prompt_count = list ? json_count(prompt) : 1;
    if (out->prompt_count == 0 || out->prompt_count * out->n > COMPLETION_CHOICES_MAX)
        return fault_request(fault, "prompt", "%zu prompts with n = %u: 1 to %d choices at once",
                             out->prompt_count, out->n, COMPLETION_CHOICES_MAX);
    out->prompts = arena_alloc_array(arena, out->prompt_count, sizeof *out->prompts);
    if (!out->prompts)
        return fault_request(fault, "prompt", "the request is too large");
    memset(out->prompts, 0, out->prompt_count * sizeof *out->prompts);
    for (size_t i = 0; i < out->prompt_count; i++) {
        char param[32] = "prompt";
        if (list)
            snprintf(param, sizeof param, "prompt[%zu]", i);
        if (!read_prompt(list ? json_at(prompt, i) : prompt, param, model, arena, &out->prompts[i],
                         fault))
            return false;
    }
    return true;
}

/* --- the rest --- */

static bool refuse(struct fault *fault, const char *param, const char *message)
{
    fault_request(fault, param, "%s", message);
    fault->error_code = "unsupported_parameter";
    return false;
}

/* A chat's members, and what no tier here does. They are refused, because an answer without them
 * would silently mean something else. */
static const char *const unsupported[] = {"response_format", "tools"};
/* One choice has its own. */
static const char *const of_choices[] = {"prompt", "n", "best_of"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static bool is_one_of(const char *key, const char *const *names, size_t count)
{
    while (count > 0 && strcmp(names[count - 1], key) != 0)
        count--;
    return count > 0;
}

/* The next member that is refused; NULL at the end. */
static const char *unsupported_at(size_t index)
{
    return index < COUNT_OF(unsupported) ? unsupported[index]
                                         : format_spelling_member(index - COUNT_OF(unsupported));
}

static bool is_unsupported(const char *key)
{
    const char *name;
    for (size_t i = 0; (name = unsupported_at(i)); i++)
        if (strcmp(name, key) == 0)
            return true;
    return false;
}

/* Values that clients send when they want nothing. */
static bool says_nothing(const struct json *value)
{
    enum json_kind kind = json_kind_of(value);
    return json_absent(value) || (kind == JSON_KIND_TEXT && json_text(value).len == 0) ||
           (kind == JSON_KIND_ARRAY && json_count(value) == 0) ||
           str_equal(json_text(json_get(value, "type")), STR("text"));
}

static bool refuse_unsupported(const struct json *body, uint32_t n, struct fault *fault)
{
    int64_t best_of;
    const char *name;
    for (size_t i = 0; (name = unsupported_at(i)); i++) {
        char message[80];
        if (says_nothing(json_get(body, name)))
            continue;
        snprintf(message, sizeof message, "%s is not supported in completions", name);
        return refuse(fault, name, message);
    }
    if (!read_count(body, "best_of", 1, COMPLETION_CHOICES_MAX, n, &best_of, fault))
        return false;
    return best_of == (int64_t)n || refuse(fault, "best_of", "best_of must be n: all are given");
}

/* What stands after the gap. An echo that stops before it is a thing of servers. */
static bool read_suffix(const struct json *body, struct td_request *td, struct fault *fault)
{
    const struct json *suffix = json_get(body, "suffix");
    if (!json_absent(suffix) && json_kind_of(suffix) != JSON_KIND_TEXT)
        return fault_request(fault, "suffix", "suffix must be a string, not %s",
                             json_kind_name(json_kind_of(suffix)));
    if (json_text(suffix).len > 0)
        td->infill_member = "suffix";
    if (td->infill_member && json_bool(json_get(body, "echo"), false))
        td->foreign_sampling = "suffix with echo";
    return true; /* an empty one is sent to nobody, see completion_request_parse */
}

static bool read_members(const struct json *body, const struct td_model *model, struct arena *arena,
                         struct completion_request *out, struct fault *fault)
{
    struct td_request *td = &out->common.td;
    const struct json *echo = json_get(body, "echo");
    int64_t tokens_max, logprobs, n;
    if (!openai_request_read_members(body, false, arena, &out->common, fault) ||
        !read_count(body, "max_tokens", 0, 10000000, TOKENS_DEFAULT, &tokens_max, fault) ||
        !read_count(body, "logprobs", 0, LOGPROBS_MAX, -1, &logprobs, fault) ||
        !read_count(body, "n", 1, 128, 1, &n, fault))
        return false;
    out->n = (uint32_t)n;
    if (!json_absent(echo) && json_kind_of(echo) != JSON_KIND_BOOL)
        return fault_request(fault, "echo", "echo must be true or false, not %s",
                             json_kind_name(json_kind_of(echo)));
    td->tokens_max = (uint32_t)tokens_max;
    td->logprobs = logprobs >= 0;
    td->top_logprobs = logprobs > 0 ? (uint8_t)logprobs : 0;
    if (!read_suffix(body, td, fault) || !refuse_unsupported(body, out->n, fault) ||
        !read_prompts(body, model, arena, out, fault))
        return false;
    for (size_t i = 0; i < out->prompt_count; i++) {
        out->prompts[i].echo = json_bool(echo, false);
        out->prompts[i].after = json_text(json_get(body, "suffix"));
        out->prompts[i].prompt_only = tokens_max == 0;
    }
    return true;
}

bool completion_request_parse(struct td_str body, struct td_str named, const struct td_model *model,
                              struct arena *arena, struct completion_request *out,
                              struct fault *fault)
{
    ASSERT(arena && out && fault);
    *out = (struct completion_request){.common.td.sampling = openai_sampling};
    if (!openai_request_read_object(body, &out->common.body, fault))
        return false;
    if (says_nothing(json_get(out->common.body, "suffix")))
        json_remove(out->common.body, "suffix");
    if (openai_request_put_model(out->common.body, named, fault) &&
        body_forms_check(out->common.body, fault) &&
        read_members(out->common.body, model, arena, out, fault))
        return true;
    completion_request_deinit(out);
    return false;
}

void completion_request_deinit(struct completion_request *request)
{
    openai_request_deinit(&request->common);
}

/* The member of that name, or a new one at the end, has this value. */
static void put_member(struct completion_choice *choice, const char *name, enum request_kind kind,
                       const struct json *value)
{
    size_t at = 0;
    while (at < choice->td.member_count && strcmp(choice->members[at].name, name) != 0)
        at++;
    choice->members[at] = (struct request_member){name, kind, value};
    choice->td.member_count += at == choice->td.member_count;
}

bool completion_choice_init(const struct completion_request *request, size_t index,
                            struct completion_choice *out)
{
    ASSERT(index < request->prompt_count * request->n);
    const struct td_completion *prompt = &request->prompts[index / request->n];
    const struct td_request *whole = &request->common.td;
    *out = (struct completion_choice){
        .td = *whole, .members = calloc(whole->member_count + 2, sizeof *out->members)};
    if (!out->members)
        return false;
    struct td_request *td = &out->td;
    td->members = out->members;
    td->member_count = 0;
    for (size_t i = 0; i < whole->member_count; i++) {
        const struct request_member *member = &whole->members[i];
        if (!is_one_of(member->name, of_choices, COUNT_OF(of_choices)) &&
            !is_unsupported(member->name))
            out->members[td->member_count++] = *member;
    }
    out->completion = *prompt;
    if (!prompt->ids) { /* ids stay here */
        out->prompt = json_new_text(prompt->text);
        out->completion.text = json_text(out->prompt);
        put_member(out, "prompt", REQUEST_PROMPT, out->prompt);
    }
    out->message = (struct td_message){TD_ROLE_USER, out->completion.text};
    td->completion = &out->completion;
    td->messages = &out->message;
    td->message_count = 1;
    if (td->sampling.seed_set && index % request->n > 0) { /* else all n were the same */
        td->sampling.seed += index % request->n;
        out->seed = json_new_int((int64_t)(td->sampling.seed & INT64_MAX));
        put_member(out, "seed", REQUEST_OTHER, out->seed);
    }
    return prompt->ids || out->prompt;
}

void completion_choice_deinit(struct completion_choice *choice)
{
    free(choice->members);
    json_free(choice->prompt);
    json_free(choice->seed);
    *choice = (struct completion_choice){.members = NULL};
}
