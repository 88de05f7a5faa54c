/* A scanner of JSON that keeps one value at a time, and what a value is compared with.
 *
 * Every doubt is for the answer: true and false, a word of an enumeration, a small number (which
 * may be counted) and a long text say something. A text or a number is invented when the request
 * asks to extract and none of its words, or its digits, stands in the messages. Rejected: comparing
 * each value with its member's schema, because null is right where the text does not have the
 * member. It is only wrong when nothing else was found. */
#include "exchange/limits/answer_values.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 63
#define SEARCHED_BYTES_MAX ((size_t)256 << 10) /* of the messages; longer ones are not searched */
#define SEARCHED_VALUES_MAX 16                 /* if none of so many is found, the rest is not */
#define WORDS_MAX 4                            /* of a value */
#define COUNTED_MAX 12                         /* numbers that are counted, and written as words */
#define ENUM_DEPTH_MAX 32
#define ENUM_VALUES_MAX 4096

/* --- what the request says --- */

/* Calls fn with each text of the user's, of tools and of the application until it returns true. */
static bool any_text(const struct td_request *request, bool (*fn)(struct td_str, struct td_str),
                     struct td_str what)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role != TD_ROLE_ASSISTANT &&
            fn(request->messages[i].content, what))
            return true;
    return false;
}

static bool is_letter(unsigned char c)
{
    return c >= 0x80 || ascii_is_alnum(c);
}

/* Whether `what` begins a word of the text; ASCII case does not count. */
static bool has_word(struct td_str text, struct td_str what)
{
    int first = ascii_lower((unsigned char)what.data[0]);
    for (size_t at = 0; at + what.len <= text.len; at++)
        if (ascii_lower((unsigned char)text.data[at]) == first &&
            (at == 0 || !is_letter((unsigned char)text.data[at - 1])) &&
            str_equal_nocase(str_slice(text, at, at + what.len), what))
            return true;
    return false;
}

/* Whether a number of the text begins with these digits. 1,200 and 1 200 are 1200. */
static bool has_digits(struct td_str text, struct td_str digits)
{
    for (size_t at = 0; at < text.len; at++) {
        if (text.data[at] != digits.data[0] ||
            (at > 0 && ascii_is_digit((unsigned char)text.data[at - 1])))
            continue;
        size_t i = at, found = 0;
        while (i < text.len && found < digits.len) {
            if (text.data[i] == digits.data[found])
                found++;
            else if (!strchr(",. '", text.data[i]) || !text.data[i])
                break;
            i++;
        }
        if (found == digits.len)
            return true;
    }
    return false;
}

static bool asks_to_extract(const struct td_request *request)
{
    static const char *const stems[] = {"extract",
                                        "extrah",
                                        "extraer",
                                        "extrai",
                                        "parse",
                                        "pull out",
                                        "from the text",
                                        "in the text",
                                        "from this text",
                                        "in this text",
                                        "from the following",
                                        "entnimm",
                                        "aus dem text"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (any_text(request, has_word, str_from(stems[i])))
            return true;
    return false;
}

static size_t text_bytes(const struct td_request *request)
{
    size_t bytes = 0;
    for (size_t i = 0; i < request->message_count && bytes <= SEARCHED_BYTES_MAX; i++)
        bytes += request->messages[i].content.len;
    return bytes;
}

/* Whether a `const` or `enum` of the schema has the text. */
static bool is_listed(const struct json *schema, struct td_str text, unsigned depth, size_t *left)
{
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    if (depth == ENUM_DEPTH_MAX || *left == 0)
        return true; /* who knows */
    for (size_t i = 0; i < json_count(schema); i++) {
        const struct json *item = json_at(schema, i);
        --*left;
        if (item && (str_equal(json_text(item), text) || is_listed(item, text, depth + 1, left)))
            return true;
        if (*left == 0)
            return true;
    }
    if (json_kind_of(schema) != JSON_KIND_OBJECT)
        return false;
    while (json_next(schema, &iterator, &key, &value))
        if ((strcmp(key, "const") == 0 && str_equal(json_text(value), text)) ||
            is_listed(value, text, depth + 1, left))
            return true;
    return false;
}

/* A word that the schema offers, or that of the tool whose call is the answer. */
static bool is_offered(const struct td_request *request, struct td_str text)
{
    size_t left = ENUM_VALUES_MAX;
    const struct json *schema =
        request->format == TD_FORMAT_JSON ? request->schema : request_value(request, REQUEST_TOOLS);
    return is_listed(schema, text, 0, &left);
}

/* --- one value --- */

/* How models write that there is nothing. */
static bool is_placeholder(struct td_str text)
{
    static const char *const words[] = {"",
                                        "n/a",
                                        "na",
                                        "none",
                                        "null",
                                        "nil",
                                        "unknown",
                                        "undefined",
                                        "not specified",
                                        "not given",
                                        "not mentioned",
                                        "not provided",
                                        "not found",
                                        "not available",
                                        "unspecified",
                                        "string",
                                        "-",
                                        "?"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal_nocase(text, str_from(words[i])))
            return true;
    return false;
}

static bool has_any_word(const struct td_request *request, struct td_str text)
{
    size_t words = 0, longest = 0;
    for (size_t at = 0; at < text.len && words < WORDS_MAX;) {
        size_t end = at;
        while (end < text.len && is_letter((unsigned char)text.data[end]))
            end++;
        struct td_str word = str_slice(text, at, end);
        bool is_number = word.len > 1 && ascii_is_digit((unsigned char)word.data[0]);
        longest = word.len > longest ? word.len : longest;
        if (word.len >= 4 || is_number) { /* shorter ones stand in every text */
            words++;
            if (any_text(request, has_word, word))
                return true;
        }
        at = end + (end == at);
    }
    return words == 0 && (longest == 0 || any_text(request, has_word, text));
}

static void judge_text(struct answer_values *values)
{
    bool whole = values->value_len <= ANSWER_VALUE_BYTES;
    struct td_str text =
        str_trim((struct td_str){values->value, whole ? values->value_len : ANSWER_VALUE_BYTES});
    if (whole && is_placeholder(text) && (text.len == 0 || !is_offered(values->request, text))) {
        values->empty_count++;
        return;
    }
    if (!values->extracts || !whole || is_offered(values->request, text))
        values->says = true;
    else if (values->invented_count < SEARCHED_VALUES_MAX && has_any_word(values->request, text))
        values->says = true;
    else
        values->invented_count++;
}

/* 0 is how a number says nothing; alone it may be a result. */
static void judge_number(struct answer_values *values, struct td_str text, double number)
{
    char digits[ANSWER_VALUE_BYTES];
    size_t len = 0;
    if (number == 0)
        return;
    for (size_t i = 0; i < text.len && text.data[i] != 'e' && text.data[i] != 'E'; i++)
        if (ascii_is_digit((unsigned char)text.data[i]) && (len > 0 || text.data[i] != '0'))
            digits[len++] = text.data[i];
    bool has_point = memchr(text.data, '.', text.len) != NULL;
    while (has_point && len > 1 && digits[len - 1] == '0')
        len--;
    bool is_counted = fabs(number) <= COUNTED_MAX && floor(number) == number;
    if (!values->extracts || is_counted || len == 0)
        values->says = true;
    else if (values->invented_count < SEARCHED_VALUES_MAX &&
             any_text(values->request, has_digits, (struct td_str){digits, len}))
        values->says = true;
    else
        values->invented_count++;
}

/* true, null, 12.5. What is none of these is no JSON, and not judged. */
static void judge_bare(struct answer_values *values)
{
    struct td_str text = {values->value, values->value_len};
    double number;
    values->value_len = 0;
    if (text.len == 0)
        return;
    if (text.len > ANSWER_VALUE_BYTES || str_equal(text, STR("true")) ||
        str_equal(text, STR("false")))
        values->says = true;
    else if (str_equal(text, STR("null")))
        values->empty_count++;
    else if (str_to_double(text, &number))
        judge_number(values, text, number);
}

/* --- reading --- */

static void keep(struct answer_values *values, char c)
{
    if (values->value_len < ANSWER_VALUE_BYTES)
        values->value[values->value_len++] = c;
    else
        values->value_len = ANSWER_VALUE_BYTES + 1;
}

static void keep_code(struct answer_values *values, uint32_t code)
{
    char bytes[4];
    size_t len = utf8_encode(code, bytes);
    for (size_t i = 0; i < len; i++)
        keep(values, bytes[i]);
}

/* escape: 1 after the backslash, 2 to 5 in \uXXXX. */
static void read_escape(struct answer_values *values, char c)
{
    if (values->escape == 1 && c != 'u') {
        keep(values, strchr("\"\\/", c) && c ? c : ' ');
        values->escape = 0;
        return;
    }
    if (values->escape > 1)
        values->escaped = values->escaped << 4 | (uint32_t)(ascii_hex_value((unsigned char)c) & 15);
    else
        values->escaped = 0;
    if (++values->escape < 6)
        return;
    keep_code(values, values->escaped);
    values->escape = 0;
}

static void read_in_string(struct answer_values *values, char c)
{
    if (values->escape) {
        read_escape(values, c);
    } else if (c == '\\') {
        values->escape = 1;
    } else if (c != '"') {
        keep(values, c);
    } else {
        values->in_string = false;
        if (!values->is_key)
            judge_text(values);
        values->value_len = 0;
    }
}

static void open_container(struct answer_values *values, bool is_object)
{
    if (++values->depth > DEPTH_MAX) {
        values->says = true;
        return;
    }
    uint64_t bit = UINT64_C(1) << values->depth;
    values->objects = is_object ? values->objects | bit : values->objects & ~bit;
    values->is_key = is_object;
    values->is_fresh = true;
}

static void close_container(struct answer_values *values)
{
    /* A call without arguments is a whole one. */
    bool is_call = values->request->format != TD_FORMAT_JSON && values->depth <= 1;
    values->empty_count += values->is_fresh && !is_call;
    if (values->depth > 0)
        values->depth--;
    values->is_fresh = values->is_key = false;
}

static void read_char(struct answer_values *values, char c)
{
    bool is_space = ascii_is_space((unsigned char)c);
    if (values->in_string) {
        read_in_string(values, c);
        return;
    }
    if (is_space || (c && strchr(",:{}[]\"", c)))
        judge_bare(values);
    if (is_space || values->says)
        return;
    if (c == '}' || c == ']') {
        close_container(values);
        return;
    }
    values->is_fresh = false;
    if (c == '"')
        values->in_string = true;
    else if (c == '{' || c == '[')
        open_container(values, c == '{');
    else if (c == ',')
        values->is_key = values->objects >> values->depth & 1;
    else if (c == ':')
        values->is_key = false;
    else
        keep(values, c);
}

void answer_values_init(struct answer_values *values, const struct td_request *request)
{
    ASSERT(values != NULL);
    *values = (struct answer_values){.request = request};
    values->extracts =
        request && text_bytes(request) <= SEARCHED_BYTES_MAX && asks_to_extract(request);
}

void answer_values_add(struct answer_values *values, struct td_str text)
{
    for (size_t i = 0; i < text.len && answer_values_open(values); i++)
        read_char(values, text.data[i]);
}

enum answer_fault answer_values_judge(const struct answer_values *values)
{
    struct answer_values whole = *values;
    if (!answer_values_open(values))
        return ANSWER_SOUND;
    if (!whole.in_string)
        judge_bare(&whole);
    return whole.says                 ? ANSWER_SOUND
           : whole.invented_count > 0 ? ANSWER_INVENTED
           : whole.empty_count > 0    ? ANSWER_EMPTY
                                      : ANSWER_SOUND;
}

const char *answer_fault_text(enum answer_fault fault)
{
    return fault == ANSWER_INVENTED ? "what it gives as extracted is not in the request"
                                    : "every value is null or empty";
}

bool answer_values_open(const struct answer_values *values)
{
    return values->request && !values->says;
}
