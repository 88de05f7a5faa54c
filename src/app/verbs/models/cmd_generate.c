/* tandem generate: one text, continued by one session without a server. It has every option of
 * sampling, grammars, speculation and early exits that the engine has, so that each can be tried
 * alone. */
#define HELP_OF 52
#include "app/cli/command.h"
#include "app/cli/lora_options.h"
#include "app/cli/sampling_options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#include <stdio.h>
#include <stdlib.h>

#define ANSWER_BYTES_MAX (64u << 20)

struct generate_options {
    const char *model, *prompt, *ids, *stop, *grammar, *schema;
    struct td_logit_bias biases[TD_LOGIT_BIASES_MAX];
    size_t bias_count;
    bool chat, no_bos, ignore_eos, json, context_shift;
    uint32_t context_keep, tokens_max, threads, context_tokens, top_logprobs;
    double exit_threshold;
    struct sampling_options sampling;
    uint64_t seed;
    enum td_cpu cpu;
    enum td_kv_type kv_type;
    struct lora_options lora;
    const char *speculate; /* NULL, "ngram" or a model's file */
    uint32_t draft_tokens;
};

/* What the token callback collects for --json, or prints at once. */
struct collected {
    const struct generate_options *options;
    const struct td_model *model;
    struct buf text;
    struct json *ids, *logprobs, *tokens;
};

static struct json *token_to_json(const struct collected *collected, const struct td_token *token)
{
    struct json *object = json_new_object();
    json_put(object, "id", json_new_int(token->id));
    json_put(object, "text", json_new_text(token->piece));
    json_put(object, "logprob", json_new_double((double)token->stats.logprob));
    json_put(object, "margin", json_new_double((double)token->stats.margin));
    json_put(object, "entropy", json_new_double((double)token->stats.entropy));
    json_put(object, "not_mine", json_new_double((double)token->stats.not_mine));
    if (token->top_count == 0)
        return object;
    struct json *top = json_new_array();
    for (size_t i = 0; i < token->top_count; i++) {
        struct json *entry = json_new_object();
        json_put(entry, "id", json_new_int(token->top[i].id));
        json_put(entry, "text",
                 json_new_text(td_token_piece(collected->model, token->top[i].id, true)));
        json_put(entry, "logprob", json_new_double((double)token->top[i].logprob));
        json_push(top, entry);
    }
    json_put(object, "top", top);
    return object;
}

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct collected *collected = ctx;
    if (!collected->options->json)
        return command_print(text);
    buf_append_str(&collected->text, text);
    if (token) {
        json_push(collected->ids, json_new_int(token->id));
        json_push(collected->logprobs, json_new_double((double)token->stats.logprob));
        json_push(collected->tokens, token_to_json(collected, token));
    }
    return true;
}

static enum td_status prompt_ids(const struct generate_options *options,
                                 const struct td_model *model, int32_t **ids, size_t *count,
                                 struct td_error *err)
{
    if (options->ids)
        return command_parse_ids(str_from(options->ids), ids, count, err);
    struct buf input = {0};
    enum td_status status = TD_OK;
    struct td_str prompt = str_from(options->prompt);
    if (!options->prompt) {
        status = command_read_all(NULL, &input, err);
        prompt = buf_view(&input);
    }
    if (status == TD_OK && options->chat) {
        struct td_message message = {TD_ROLE_USER, prompt};
        status = td_chat_tokenize(model, &message, 1, ids, count, err);
    } else if (status == TD_OK) {
        status = command_tokenize(model, prompt, !options->no_bos, true, ids, count, err);
    }
    buf_deinit(&input);
    if (status == TD_OK && *count == 0)
        status = error_set(err, TD_INVALID, "the prompt has no tokens");
    return status;
}

static bool print_result(struct collected *collected, const struct td_generate_result *result)
{
    struct json *object = json_new_object();
    json_put(object, "text", json_new_text(buf_view(&collected->text)));
    json_put(object, "ids", collected->ids);
    json_put(object, "logprobs", collected->logprobs);
    json_put(object, "tokens", collected->tokens);
    json_put(object, "finish", json_new_cstr(names_finish(result->finish)));
    json_put(object, "prompt_tokens", json_new_int(result->prompt_tokens));
    json_put(object, "completion_tokens", json_new_int(result->completion_tokens));
    if (collected->options->speculate) {
        json_put(object, "drafted_tokens", json_new_int(result->drafted_tokens));
        json_put(object, "accepted_tokens", json_new_int(result->accepted_tokens));
    }
    json_put(object, "prefill_ms", json_new_double(result->prefill_ms));
    json_put(object, "decode_ms", json_new_double(result->decode_ms));
    if (td_model_get_info(collected->model)->has_probe)
        json_put(object, "probe", json_new_double((double)result->probe));
    if (collected->options->exit_threshold > 0) {
        json_put(object, "early_tokens", json_new_int(result->early_tokens));
        json_put(object, "layers_saved", json_new_int((int64_t)result->layers_saved));
    }
    return command_print_json(object);
}

static enum td_status read_grammar(const struct generate_options *options,
                                   struct td_grammar **grammar, struct td_error *err)
{
    const char *path = options->grammar ? options->grammar : options->schema;
    if (!path)
        return TD_OK;
    struct buf text = {0};
    enum td_status status = command_read_all(path, &text, err);
    if (status == TD_OK) {
        status = options->grammar ? td_grammar_parse(buf_view(&text), grammar, err)
                                  : td_grammar_from_schema(buf_view(&text), grammar, err);
        if (status != TD_OK)
            error_prefix(err, "%s", path);
    }
    buf_deinit(&text);
    return status;
}

#define STRING_OF(number) #number
#define NUMBER_TEXT(number) STRING_OF(number)

/* For OPTION_EACH: ID=BIAS,ID=BIAS,... */
static bool take_biases(void *ctx, const char *text)
{
    struct generate_options *options = ctx;
    struct td_str rest = str_from(text), part;
    while (str_next(&rest, ',', &part)) {
        struct td_str id_text;
        uint64_t id;
        double bias;
        if (options->bias_count == TD_LOGIT_BIASES_MAX || !str_next(&part, '=', &id_text) ||
            !str_to_u64(str_trim(id_text), &id) || id > INT32_MAX ||
            !str_to_double(str_trim(part), &bias))
            return false;
        options->biases[options->bias_count++] = (struct td_logit_bias){(int32_t)id, (float)bias};
    }
    return true;
}

static void fill_sampling(const struct generate_options *options, struct td_sampling *sampling)
{
    sampling_options_apply(&options->sampling, sampling);
    sampling->seed = options->seed;
    sampling->seed_set = options->seed != UINT64_MAX;
}

/* What --speculate names. *model and *session **return new**, for a draft model. */
static enum td_status open_draft(const struct generate_options *options,
                                 const struct td_session_options *session_options,
                                 struct td_model **model, struct td_session **session,
                                 enum td_speculation *kind, struct td_error *err)
{
    *kind = TD_SPECULATION_NONE;
    if (options->speculate == NULL)
        return TD_OK;
    *kind = TD_SPECULATION_NGRAM;
    if (strcmp(options->speculate, "ngram") == 0)
        return TD_OK;
    *kind = TD_SPECULATION_DRAFT;
    enum td_status status = td_model_open(
        options->speculate, &(struct td_model_options){.cpu = options->cpu}, model, err);
    if (status == TD_OK)
        status = td_session_new(*model, session_options, session, err);
    if (status != TD_OK)
        error_prefix(err, "--speculate (ngram, or a model's file)");
    return status;
}

/* What an answer is made with. */
struct parts {
    struct td_model *model, *draft_model;
    struct td_session *session, *draft;
    struct td_grammar *grammar;
    enum td_speculation speculation;
    int32_t *ids; /* of the prompt */
    size_t count;
};

static enum td_status open_parts(const struct generate_options *options, struct parts *parts,
                                 struct td_error *err)
{
    const struct td_session_options how = {.context_tokens = options->context_tokens,
                                           .thread_count = options->threads,
                                           .kv_type = options->kv_type};
    enum td_status status = read_grammar(options, &parts->grammar, err);
    if (status == TD_OK)
        status = command_open_model(options->model, options->cpu, false, &parts->model, err);
    if (status == TD_OK)
        status = prompt_ids(options, parts->model, &parts->ids, &parts->count, err);
    if (status == TD_OK)
        status = td_session_new(parts->model, &how, &parts->session, err);
    if (status == TD_OK)
        status = lora_options_apply(&options->lora, parts->model, parts->session, err);
    if (status == TD_OK)
        status =
            open_draft(options, &how, &parts->draft_model, &parts->draft, &parts->speculation, err);
    return status;
}

static void close_parts(struct parts *parts)
{
    free(parts->ids);
    td_grammar_free(parts->grammar);
    td_session_free(parts->session);
    td_session_free(parts->draft);
    td_model_close(parts->draft_model);
    td_model_close(parts->model);
}

static enum td_status answer(const struct generate_options *options, const struct parts *parts,
                             struct collected *collected, struct td_generate_result *result,
                             struct td_error *err)
{
    struct td_str stop = str_from(options->stop);
    struct td_generate_options how = {
        .sampling = td_model_get_info(parts->model)->sampling,
        .tokens_max = options->tokens_max,
        .stops = &stop,
        .stop_count = stop.len ? 1 : 0,
        .top_logprobs = (uint8_t)options->top_logprobs,
        .exit_threshold = (float)options->exit_threshold,
        .ignore_eos = options->ignore_eos,
        .context_shift = options->context_shift,
        .context_keep = options->context_keep,
        .grammar = parts->grammar,
        .speculation = parts->speculation,
        .draft_tokens = options->draft_tokens,
        .draft = parts->draft,
    };
    fill_sampling(options, &how.sampling);
    how.sampling.biases = options->biases;
    how.sampling.bias_count = options->bias_count;
    return td_generate(parts->session, parts->ids, parts->count, &how, on_token, collected, result,
                       err);
}

static enum td_status run(const struct generate_options *options, bool *printed,
                          struct td_error *err)
{
    struct parts parts = {.speculation = TD_SPECULATION_NONE};
    struct td_generate_result result = {0};
    struct collected collected = {.options = options};
    enum td_status status = open_parts(options, &parts, err);
    collected.model = parts.model;
    buf_init(&collected.text, ANSWER_BYTES_MAX);
    if (status == TD_OK) {
        collected.ids = json_new_array();
        collected.logprobs = json_new_array();
        collected.tokens = json_new_array();
        status = answer(options, &parts, &collected, &result, err);
    }
    if (status == TD_OK && options->json) {
        *printed = print_result(&collected, &result);
    } else {
        json_free(collected.ids);
        json_free(collected.logprobs);
        json_free(collected.tokens);
        if (status == TD_OK)
            *printed = command_print(STR("\n"));
    }
    buf_deinit(&collected.text);
    close_parts(&parts);
    return status;
}

/* What is wrong with options that would have no effect or exclude each other, or NULL. */
static const char *lone_option(const struct generate_options *values)
{
    if (values->lora.scale_given && values->lora.count == 0)
        return "--lora-scale needs an adapter: --lora FILE";
    if (values->draft_tokens && !values->speculate)
        return "--draft-tokens needs --speculate ngram|FILE";
    if (values->grammar && values->schema)
        return "--grammar and --json-schema exclude each other";
    if (values->context_keep && !values->context_shift)
        return "--context-keep needs --context-shift";
    return NULL;
}

static int cmd_generate(int argc, char **argv)
{
    struct generate_options values = {.tokens_max = 128, .seed = UINT64_MAX};
    lora_options_init(&values.lora);
    struct option_each ids_option = {command_take_ids, &values.ids, COMMAND_IDS_NEEDED};
    struct option_each bias_option = {
        take_biases, &values, "ID=BIAS,ID=BIAS,... of at most " NUMBER_TEXT(TD_LOGIT_BIASES_MAX)};
    const struct option own[] = {
        OPTION_ROW_MODEL(values.model),
        {"prompt", 'p', OPTION_TEXT, &values.prompt, "TEXT",
         HELP_TEXT("the text to continue; default: standard input"), 0, 0},
        {"ids", 0, OPTION_EACH, &ids_option, "1,2,3", HELP_TEXT("the prompt as token ids"), 0, 0},
        {"chat", 0, OPTION_FLAG, &values.chat, NULL,
         HELP_TEXT("put the prompt into the chat template"), 0, 0},
        {"tokens", 'n', OPTION_UINT, &values.tokens_max, "N",
         HELP_TEXT("most tokens to generate; default 128"), 1, 1e9},
        {"logit-bias", 0, OPTION_EACH, &bias_option, "ID=B,...",
         HELP_TEXT("add B to the logit of token ID"), 0, 0},
        {"grammar", 0, OPTION_TEXT, &values.grammar, "FILE",
         HELP_TEXT("GBNF grammar that the text must match"), 0, 0},
        {"json-schema", 0, OPTION_TEXT, &values.schema, "FILE",
         HELP_TEXT("JSON schema that the text must match"), 0, 0},
        {"speculate", 0, OPTION_TEXT, &values.speculate, "HOW",
         HELP_TEXT("guess ahead: ngram (from repeated text) or the FILE of a smaller model"), 0, 0},
        {"draft-tokens", 0, OPTION_UINT, &values.draft_tokens, "N",
         HELP_TEXT("most tokens to guess at a time; default 8"), 1, 16},
        {"seed", 0, OPTION_U64, &values.seed, "N",
         HELP_TEXT("seed of the random numbers; default: from the system"), 0, 0},
        {"stop", 0, OPTION_TEXT, &values.stop, "TEXT", HELP_TEXT("end before this text"), 0, 0},
        {"logprobs", 0, OPTION_UINT, &values.top_logprobs, "N",
         HELP_TEXT("also print the N best tokens at each position"), 0, TD_TOP_LOGPROBS_MAX},
        {"no-bos", 0, OPTION_FLAG, &values.no_bos, NULL,
         HELP_TEXT("do not add the token that begins a text (BOS)"), 0, 0},
        {"ignore-eos", 0, OPTION_FLAG, &values.ignore_eos, NULL,
         HELP_TEXT("continue after the token that ends a text"), 0, 0},
        {"context", 0, OPTION_UINT, &values.context_tokens, "N",
         HELP_TEXT("size of the KV cache in tokens"), 0, 1e7},
        {"exit-threshold", 0, OPTION_NUMBER, &values.exit_threshold, "P",
         HELP_TEXT("take a token from an early exit when its probability is at least P; 0 = off"),
         0, 1},
        {"context-shift", 0, OPTION_FLAG, &values.context_shift, NULL,
         HELP_TEXT("when the cache is full, forget its older half"), 0, 0},
        {"context-keep", 0, OPTION_UINT, &values.context_keep, "N",
         HELP_TEXT("with --context-shift: keep the first N tokens"), 0, 1e7},
        OPTION_ROW_LORA(values.lora),
        OPTION_ROW_LORA_SCALE(values.lora),
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_KV_TYPE(values.kv_type),
        OPTION_ROW_JSON(values.json),
    };
    size_t own_count = sizeof own / sizeof *own;
    struct option options[sizeof own / sizeof *own + SAMPLING_OPTION_ROWS_MAX];
    memcpy(options, own, sizeof own);
    const struct option_spec spec = {
        .verb = "generate",
        .summary = HELP_TEXT("Continues a text with a local model."),
        .example = HELP_TEXT("  tandem generate --chat -p \"Classify the intent: play some jazz\""),
        .json = HELP_TEXT(
            "{text, ids, logprobs, tokens, finish, prompt_tokens, completion_tokens, "
            "prefill_ms, decode_ms}; also probe if the model has one, and early_tokens and "
            "layers_saved with --exit-threshold."),
        .options = options,
        .option_count = own_count + sampling_options_init(&values.sampling, options + own_count),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    const char *lone = lone_option(&values);
    if (lone)
        return options_misuse("generate", "%s", lone);
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = run(&values, &printed, &err);
    return status == TD_OK ? !printed : command_fail("generate", &err);
}

const struct verb verb_generate = {"generate", cmd_generate,
                                   HELP_TEXT("continue a text with a local model")};
