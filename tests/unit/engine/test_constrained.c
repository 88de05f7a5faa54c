/* Generation under a grammar, end to end: a model with random weights, which would write noise, and
 * random schemas. A validator that shares no code with the engine checks the answers. */
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/json/json.h"
#include "engine/grammar/grammar.h"
#include "engine/session/generate.h"
#include "test.h"
#include "tiny_model.h"

#include <math.h>
#include <regex.h>

#define SCHEMAS 1000

/* --- the validator: JSON text against a schema, read once from left to right ------------------ */

struct reader {
    const char *at, *end;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\n\r", *r->at))
        r->at++;
}

static bool take(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

/* A string: its characters are counted, and its raw bytes kept. */
static bool read_string(struct reader *r, struct td_str *raw, size_t *chars)
{
    if (!take(r, "\""))
        return false;
    const char *begin = r->at;
    for (*chars = 0; r->at < r->end && *r->at != '"'; ++*chars) {
        unsigned char byte = (unsigned char)*r->at++;
        if (byte < 0x20)
            return false;
        if (byte == '\\') {
            unsigned code;
            int used = 0;
            if (take(r, "u")) {
                if (sscanf(r->at, "%4x%n", &code, &used) != 1 || used != 4 || code == 0 ||
                    (code >= 0xD800 && code < 0xE000))
                    return false;
                r->at += 4;
            } else if (r->at == r->end || !strchr("\"\\/bfnrt", *r->at++)) {
                return false;
            }
        } else if (byte >= 0x80) {
            int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC2 ? 1 : 9;
            for (; more > 0; more--)
                if (r->at == r->end || (*r->at++ & 0xC0) != 0x80)
                    return false;
        }
    }
    *raw = (struct td_str){begin, (size_t)(r->at - begin)};
    return take(r, "\"");
}

static bool read_number(struct reader *r, double *value, bool *integer)
{
    char text[64] = {0};
    size_t len = 0;
    *integer = true;
    while (r->at < r->end && strchr("+-.eE0123456789", *r->at) && len < 63)
        *integer &= strchr(".eE", text[len++] = *r->at++) == NULL;
    const char *digits = text + (text[0] == '-');
    char *end;
    *value = strtod(text, &end);
    return *digits >= '0' && *digits <= '9' &&
           !(digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') && *end == '\0' &&
           isfinite(*value);
}

static bool valid(const struct json *root, const struct json *schema, struct reader *r);

static bool valid_object(const struct json *root, const struct json *schema, struct reader *r)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *required = json_get(schema, "required");
    const struct json *additional = json_get(schema, "additionalProperties");
    size_t required_seen = 0, chars;
    struct td_str name;
    r->at++;
    skip_space(r);
    if (take(r, "}"))
        return json_count(required) == 0;
    for (;;) {
        char key[4096];
        if (!read_string(r, &name, &chars) || name.len >= sizeof key)
            return false;
        snprintf(key, sizeof key, STR_FMT, STR_ARG(name));
        skip_space(r);
        if (!take(r, ":"))
            return false;
        skip_space(r);
        const struct json *member = json_get(properties, key);
        if (!member && json_kind_of(additional) == JSON_KIND_BOOL && !json_bool(additional, true))
            return false;
        if (!valid(root, member ? member : additional, r))
            return false;
        for (size_t i = 0; i < json_count(required); i++)
            required_seen += str_equal(json_text(json_at(required, i)), name);
        skip_space(r);
        if (take(r, "}"))
            return required_seen >= json_count(required);
        if (!take(r, ","))
            return false;
        skip_space(r);
    }
}

static bool valid_array(const struct json *root, const struct json *schema, struct reader *r)
{
    const struct json *prefix = json_get(schema, "prefixItems"), *items = json_get(schema, "items");
    int64_t count = 0, min = json_int(json_get(schema, "minItems"), 0);
    int64_t max = json_int(json_get(schema, "maxItems"), INT64_MAX);
    r->at++;
    skip_space(r);
    if (take(r, "]"))
        return min == 0;
    for (;;) {
        const struct json *element =
            (size_t)count < json_count(prefix) ? json_at(prefix, (size_t)count) : items;
        if (!valid(root, element, r))
            return false;
        count++;
        skip_space(r);
        if (take(r, "]"))
            return count >= min && count <= max;
        if (!take(r, ","))
            return false;
        skip_space(r);
    }
}

static bool valid_string(const struct json *schema, struct reader *r)
{
    struct td_str raw;
    size_t chars;
    const char *pattern = json_cstr(json_get(schema, "pattern"));
    if (!read_string(r, &raw, &chars))
        return false;
    if (str_equal(json_text(json_get(schema, "format")), STR("date")))
        pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$";
    if (pattern) {
        regex_t regex;
        char text[4096];
        snprintf(text, sizeof text, STR_FMT, STR_ARG(raw));
        if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
            return false;
        bool found = regexec(&regex, text, 0, NULL, 0) == 0;
        regfree(&regex);
        if (!found)
            return false;
    }
    return (int64_t)chars >= json_int(json_get(schema, "minLength"), 0) &&
           (int64_t)chars <= json_int(json_get(schema, "maxLength"), INT64_MAX);
}

static bool is_type(const struct json *schema, const char *name)
{
    const struct json *type = json_get(schema, "type");
    if (!type)
        return true;
    if (json_kind_of(type) != JSON_KIND_ARRAY)
        return str_equal(json_text(type), str_from(name));
    for (size_t i = 0; i < json_count(type); i++)
        if (str_equal(json_text(json_at(type, i)), str_from(name)))
            return true;
    return false;
}

static bool valid_number(const struct json *schema, struct reader *r)
{
    double value;
    bool integer;
    return read_number(r, &value, &integer) &&
           (is_type(schema, "number") || (integer && is_type(schema, "integer"))) &&
           value >= json_number(json_get(schema, "minimum"), -INFINITY) &&
           value <= json_number(json_get(schema, "maximum"), INFINITY) &&
           value > json_number(json_get(schema, "exclusiveMinimum"), -INFINITY) &&
           value < json_number(json_get(schema, "exclusiveMaximum"), INFINITY);
}

/* Whether the text from here on is one of the values, written without spaces. */
static bool valid_listed(const struct json *schema, struct reader *r)
{
    const struct json *list = json_get(schema, "enum"), *constant = json_get(schema, "const");
    size_t longest = 0;
    for (size_t i = 0; i < (constant ? 1 : json_count(list)); i++) {
        struct buf text;
        struct reader copy = *r;
        buf_init(&text, 4096);
        json_write(constant ? constant : json_at(list, i), &text);
        if (take(&copy, text.data) && text.len > longest)
            longest = text.len;
        buf_deinit(&text);
    }
    r->at += longest;
    return longest > 0;
}

static bool valid(const struct json *root, const struct json *schema, struct reader *r)
{
    const char *reference = json_cstr(json_get(schema, "$ref"));
    const struct json *any = json_get(schema, "anyOf");
    if (reference)
        return valid(root, json_get(json_get(root, "$defs"), reference + 8), r);
    for (size_t i = 0; i < json_count(any); i++) {
        struct reader copy = *r;
        if (valid(root, json_at(any, i), &copy)) {
            *r = copy;
            return true;
        }
    }
    if (any)
        return false;
    if (json_get(schema, "enum") || json_get(schema, "const"))
        return valid_listed(schema, r);
    if (r->at == r->end)
        return false;
    switch (*r->at) {
    case '{':
        return is_type(schema, "object") && valid_object(root, schema, r);
    case '[':
        return is_type(schema, "array") && valid_array(root, schema, r);
    case '"':
        return is_type(schema, "string") && valid_string(schema, r);
    case 't':
        return is_type(schema, "boolean") && take(r, "true");
    case 'f':
        return is_type(schema, "boolean") && take(r, "false");
    case 'n':
        return is_type(schema, "null") && take(r, "null");
    default:
        return valid_number(schema, r);
    }
}

static bool text_is_valid(const struct json *schema, struct td_str text)
{
    struct reader r = {text.data, text.data + text.len};
    return text.len > 0 && valid(schema, schema, &r) && r.at == r.end;
}

/* --- random schemas --------------------------------------------------------------------------- */

static struct rng rng;

static int pick(int count)
{
    return (int)(rng_double(&rng) * count);
}

static void write_schema(struct buf *out, int depth);

static void write_object(struct buf *out, int depth)
{
    static const char *const names[] = {"id", "name", "na", "\xc3\xa9", "a b", "x"};
    int count = pick(5);
    buf_append_str(out, STR("{\"type\":\"object\",\"properties\":{"));
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s\"%s\":", i ? "," : "", names[i]);
        write_schema(out, depth - 1);
    }
    buf_append_str(out, STR("},\"required\":["));
    bool any = false;
    for (int i = 0; i < count; i++)
        if (pick(2)) {
            buf_printf(out, "%s\"%s\"", any ? "," : "", names[i]);
            any = true;
        }
    buf_append_str(out, STR("]"));
    int additional = pick(4);
    if (additional < 2)
        buf_printf(out, ",\"additionalProperties\":%s", additional ? "false" : "true");
    else if (additional == 2) {
        buf_append_str(out, STR(",\"additionalProperties\":"));
        write_schema(out, 0);
    }
    buf_append_char(out, '}');
}

static void write_array(struct buf *out, int depth)
{
    int min = pick(3);
    buf_append_str(out, STR("{\"type\":\"array\""));
    if (pick(4) == 0) {
        buf_append_str(out, STR(",\"prefixItems\":["));
        write_schema(out, depth - 1);
        buf_append_char(out, ',');
        write_schema(out, depth - 1);
        buf_append_char(out, ']');
    }
    if (pick(3)) {
        buf_append_str(out, STR(",\"items\":"));
        write_schema(out, depth - 1);
    }
    buf_printf(out, ",\"minItems\":%d", min);
    if (pick(3))
        buf_printf(out, ",\"maxItems\":%d", min + pick(4));
    buf_append_char(out, '}');
}

static void write_scalar(struct buf *out)
{
    int low = pick(4000) - 2000;
    switch (pick(12)) {
    case 0:
        buf_append_str(out, STR("{\"type\":\"string\"}"));
        break;
    case 1:
        buf_printf(out, "{\"type\":\"string\",\"minLength\":%d,\"maxLength\":%d}", pick(4),
                   4 + pick(9));
        break;
    case 2:
        buf_printf(out, "{\"type\":\"integer\",\"minimum\":%d,\"maximum\":%d}", low,
                   low + pick(5000));
        break;
    case 3:
        buf_printf(out, "{\"type\":\"number\",\"exclusiveMinimum\":%d.5,\"maximum\":%d}", low,
                   low + 2 + pick(100));
        break;
    case 4:
        buf_append_str(out, STR("{\"enum\":[\"red\",\"green\",\"re\",7,null,true]}"));
        break;
    case 5:
        buf_append_str(out, STR("{\"const\":{\"k\":[1,\"\xe2\x82\xac\"]}}"));
        break;
    case 6:
        buf_append_str(out, STR("{\"type\":\"string\",\"format\":\"date\"}"));
        break;
    case 7:
        buf_append_str(out, STR("{\"type\":\"string\",\"pattern\":\"^[A-Z]{2,3}(-[0-9]+)?$\"}"));
        break;
    case 8:
        buf_append_str(out, STR("{\"type\":[\"boolean\",\"null\"]}"));
        break;
    case 9:
        buf_append_str(out, STR("{\"type\":\"integer\"}"));
        break;
    case 10:
        buf_append_str(out, STR("{\"type\":\"number\"}"));
        break;
    default:
        buf_append_str(out, STR("{}"));
    }
}

static void write_schema(struct buf *out, int depth)
{
    int kind = depth <= 0 ? 0 : pick(7);
    if (kind == 3 || kind == 4) {
        write_object(out, depth);
    } else if (kind == 5) {
        write_array(out, depth);
    } else if (kind == 6) {
        buf_append_str(out, STR("{\"anyOf\":["));
        write_schema(out, depth - 1);
        buf_append_char(out, ',');
        write_schema(out, depth - 1);
        buf_append_str(out, STR("]}"));
    } else if (kind == 2) {
        buf_append_str(out, STR("{\"$ref\":\"#/$defs/tree\"}"));
    } else {
        write_scalar(out);
    }
}

static void write_root(struct buf *out)
{
    buf_append_str(out, STR("{\"$defs\":{\"tree\":{\"type\":\"object\",\"properties\":{\"value\":{"
                            "\"type\":\"integer\"},\"sub\":{\"type\":\"array\",\"items\":{\"$ref\":"
                            "\"#/$defs/tree\"}}},\"required\":[\"sub\"],\"additionalProperties\":"
                            "false}},\"anyOf\":["));
    write_schema(out, 4);
    buf_append_str(out, STR("]}"));
}

/* --- generation ------------------------------------------------------------------------------- */

static struct td_model *model;

static bool collect(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)token;
    buf_append_str(ctx, text);
    return true;
}

static enum td_status generate(struct td_session *session,
                               const struct td_generate_options *options, struct buf *text,
                               struct td_generate_result *result)
{
    static const int32_t prompt[] = {1, 40};
    struct td_error err = {0};
    td_session_truncate(session, 0);
    buf_clear(text);
    enum td_status status = td_generate(session, prompt, 2, options, collect, text, result, &err);
    if (status != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    return status;
}

/* Of the shortest text of the grammar; a token has at least one. */
static uint32_t least_bytes(const struct td_grammar *grammar)
{
    return grammar->states[grammar->start].bytes_to_end;
}

/* Every text is valid, unless the shortest one that the schema allows is longer than the limit. */
static void check_schemas(uint32_t tokens_max, double temperature, int count)
{
    struct td_session *session = NULL;
    struct td_session_options session_options = {.thread_count = 1, .context_tokens = 500};
    struct buf schema, text;
    int whole = 0, cut = 0;
    buf_init(&schema, 1 << 20);
    buf_init(&text, 1 << 20);
    REQUIRE(td_session_new(model, &session_options, &session, NULL) == TD_OK);
    for (int i = 0; i < count; i++) {
        struct td_error err = {0};
        struct json *tree = NULL;
        struct td_generate_options options = {.sampling = td_sampling_default(),
                                              .tokens_max = tokens_max};
        struct td_generate_result result;
        buf_clear(&schema);
        write_root(&schema);
        options.sampling.temperature = (float)temperature;
        options.sampling.seed = (uint64_t)i;
        options.sampling.seed_set = true;
        enum td_status status = td_grammar_from_schema(buf_view(&schema), &options.grammar, &err);
        if (status != TD_OK)
            fprintf(stderr, "%s: %s\n", err.message, schema.data);
        CHECK(status == TD_OK && json_parse(buf_view(&schema), &tree, NULL) == TD_OK);
        if (status == TD_OK)
            CHECK(generate(session, &options, &text, &result) == TD_OK);
        bool good = status == TD_OK && text_is_valid(tree, buf_view(&text));
        bool fits = options.grammar && least_bytes(options.grammar) <= tokens_max;
        whole += good;
        cut += !good && !fits;
        if (!good && fits)
            fprintf(stderr, "schema %s\ntext %s\n", schema.data, text.data);
        json_free(tree);
        td_grammar_free(options.grammar);
    }
    printf("%d of %d texts valid (at most %u tokens, temperature %g), %d cannot be so short\n",
           whole, count, tokens_max, temperature, cut);
    CHECK(whole + cut == count);
    buf_deinit(&schema);
    buf_deinit(&text);
    td_session_free(session);
}

static void test_a_thousand_random_schemas_give_valid_texts(void)
{
    rng_init(&rng, 1);
    check_schemas(400, 1, SCHEMAS);
}

static void test_greedy_texts_are_valid_too(void)
{
    rng_init(&rng, 2);
    check_schemas(400, 0, 100);
}

/* Few tokens: a text that can be completed in them is complete. */
static void test_a_tight_limit_still_gives_whole_texts(void)
{
    rng_init(&rng, 3);
    check_schemas(60, 1, 200);
}

static enum td_status generate_with(const char *gbnf, struct td_generate_options *options,
                                    struct buf *text, struct td_generate_result *result)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    CHECK(td_grammar_parse(str_from(gbnf), &options->grammar, &err) == TD_OK);
    CHECK(td_session_new(model, NULL, &session, &err) == TD_OK);
    enum td_status status = generate(session, options, text, result);
    td_session_free(session);
    td_grammar_free(options->grammar);
    return status;
}

static void test_the_answer_ends_where_nothing_can_follow(void)
{
    struct td_generate_options options = {.sampling = td_sampling_default(), .tokens_max = 50};
    struct td_generate_result result;
    struct buf text;
    buf_init(&text, 1 << 16);
    options.sampling.seed_set = true;
    options.ignore_eos = true;
    CHECK(generate_with("root ::= \"STOP\" | \"abc\"", &options, &text, &result) == TD_OK);
    CHECK(str_equal(buf_view(&text), STR("STOP")) || str_equal(buf_view(&text), STR("abc")));
    CHECK(result.finish == TD_FINISH_STOP && result.completion_tokens <= 4);
    options.ignore_eos = false;
    CHECK(generate_with("root ::= \"a\"{3} \"b\"*", &options, &text, &result) == TD_OK);
    CHECK(text.len >= 3 && memcmp(text.data, "aaa", 3) == 0);
    CHECK(strspn(text.data + 3, "b") == text.len - 3);
    buf_deinit(&text);
}

/* Each allowed token is drawn with its share of the allowed probability: two single letters in the
 * ratio of their probabilities. */
static void test_draws_keep_the_proportions_of_the_model(void)
{
    static const int32_t prompt[] = {1, 40};
    static float logits[TINY_VOCAB];
    struct td_session *session = NULL;
    struct td_generate_options options = {.sampling = td_sampling_default(), .tokens_max = 4};
    struct td_generate_result result;
    struct buf text;
    buf_init(&text, 1 << 16);
    REQUIRE(td_session_new(model, NULL, &session, NULL) == TD_OK);
    REQUIRE(td_session_forward(session, prompt, 2, logits, 1, NULL) == TD_OK);
    double p = exp((double)logits[4 + 'p']), q = exp((double)logits[4 + 'q']);
    REQUIRE(td_grammar_parse(STR("root ::= [pq]"), &options.grammar, NULL) == TD_OK);
    int count = 0, draws = 3000;
    options.sampling.seed_set = true;
    for (int i = 0; i < draws; i++) {
        options.sampling.seed = (uint64_t)i;
        CHECK(generate(session, &options, &text, &result) == TD_OK);
        count += text.len == 1 && text.data[0] == 'p';
    }
    double share = p / (p + q), deviation = sqrt(share * (1 - share) / draws);
    CHECK(fabs(count / (double)draws - share) < 4 * deviation + 1e-9);
    td_grammar_free(options.grammar);
    td_session_free(session);
    buf_deinit(&text);
}

/* Logits of the whole distribution are reported, also for a token that was drawn the second
 * time. */
static bool check_stats(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)text;
    double *worst = ctx;
    for (size_t i = 0; token && i < token->top_count; i++)
        if (token->top[i].id == token->id)
            *worst = fmax(*worst, fabs((double)(token->top[i].logprob - token->stats.logprob)));
    if (token)
        CHECK(token->top_count == 20 && isfinite(token->stats.logprob));
    return true;
}

static void test_statistics_are_those_of_the_unconstrained_model(void)
{
    static const int32_t prompt[] = {1, 40};
    struct td_session *session = NULL;
    struct td_generate_options options = {
        .sampling = td_sampling_default(), .tokens_max = 40, .top_logprobs = 20};
    double worst = 0;
    options.sampling.seed_set = true;
    REQUIRE(td_session_new(model, NULL, &session, NULL) == TD_OK);
    REQUIRE(td_grammar_parse(STR("root ::= [a-z]{40}"), &options.grammar, NULL) == TD_OK);
    CHECK(td_generate(session, prompt, 2, &options, check_stats, &worst, NULL, NULL) == TD_OK);
    CHECK(worst < 1e-5);
    td_grammar_free(options.grammar);
    td_session_free(session);
}

static void test_biases_of_unknown_tokens_are_refused(void)
{
    static const int32_t prompt[] = {1, 40};
    struct td_session *session = NULL;
    struct td_logit_bias bias = {TINY_VOCAB, 1};
    struct td_generate_options options = {.sampling = td_sampling_default(), .tokens_max = 4};
    struct td_error err = {0};
    options.sampling.biases = &bias;
    options.sampling.bias_count = 1;
    REQUIRE(td_session_new(model, NULL, &session, NULL) == TD_OK);
    CHECK(td_generate(session, prompt, 2, &options, NULL, NULL, NULL, &err) == TD_INVALID);
    CHECK(strstr(err.message, "logit_bias") != NULL);
    td_session_free(session);
}

/* The same with a real vocabulary: TANDEM_NANO, or the model of the source tree. */
static void test_a_trained_model_follows_schemas(void)
{
    const char *path = getenv("TANDEM_NANO");
    struct td_model *tiny = model, *nano = NULL;
    if (td_model_open(path ? path : TANDEM_NANO_DEFAULT, NULL, &nano, NULL) != TD_OK) {
        SKIP("a trained model follows schemas", "no nano.gguf");
        return;
    }
    model = nano;
    rng_init(&rng, 4);
    check_schemas(300, 1, 60);
    model = tiny;
    td_model_close(nano);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_a_thousand_random_schemas_give_valid_texts);
    RUN(test_greedy_texts_are_valid_too);
    RUN(test_a_tight_limit_still_gives_whole_texts);
    RUN(test_the_answer_ends_where_nothing_can_follow);
    RUN(test_draws_keep_the_proportions_of_the_model);
    RUN(test_statistics_are_those_of_the_unconstrained_model);
    RUN(test_biases_of_unknown_tokens_are_refused);
    RUN(test_a_trained_model_follows_schemas);
    td_model_close(model);
    return test_finish();
}
