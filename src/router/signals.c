#include "router/signals.h"

#include "base/json.h"
#include "base/str.h"

#include <stdint.h>

/* Markers are looked for in the user's last message only, and only in its first bytes: quoted
 * documents further down should not move a decision, and the pass stays a few microseconds. */
#define MARKER_BYTES_MAX 4096

static const char *const code_markers[] = {
    "```", "#include", "def ",    "function(", "();",   "=> ",       "SELECT ", "</",
    "fn ", "public ",  "import ", "console.",  "void ", "Traceback", "nullptr", "std::",
};
static const char *const maths_markers[] = {
    "\\frac",           "\\int",  "\\sum",   "prove that", "equation",   "integral", "derivative",
    "probability that", "solve ", "theorem", "how many ",  "percent of",
};
static const char *const question_words[] = {
    "what", "who", "whom",  "whose", "when", "where", "why",  "how",   "which",  "is",
    "are",  "can", "could", "do",    "does", "did",   "will", "would", "should",
};

static bool contains_any(struct td_str text, const char *const *markers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_find(text, str_from(markers[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A digit, an operator, a digit, with optional spaces between: "12 * 7". A date's dashes and a
 * phone number's are not arithmetic, so minus does not count. */
static bool has_arithmetic(struct td_str text)
{
    for (size_t i = 1; i + 1 < text.len; i++) {
        if (!strchr("+*/=^", text.data[i]) || text.data[i] == '\0')
            continue;
        size_t before = i, after = i + 1;
        while (before > 0 && text.data[before - 1] == ' ')
            before--;
        while (after < text.len && text.data[after] == ' ')
            after++;
        if (before > 0 && after < text.len && is_digit(text.data[before - 1]) &&
            is_digit(text.data[after]))
            return true;
    }
    return false;
}

static bool is_question(struct td_str text)
{
    text = str_trim(text);
    if (text.len > 0 && text.data[text.len - 1] == '?')
        return true;
    size_t end = 0;
    while (end < text.len && text.data[end] != ' ' && text.data[end] != '\'')
        end++;
    struct td_str word = str_slice(text, 0, end);
    for (size_t i = 0; i < sizeof question_words / sizeof *question_words; i++)
        if (str_equal_nocase(word, str_from(question_words[i])))
            return true;
    return false;
}

static struct td_str last_user_text(const struct td_request *request)
{
    for (size_t i = request->message_count; i > 0; i--)
        if (request->messages[i - 1].role == TD_ROLE_USER)
            return request->messages[i - 1].content;
    return (struct td_str){NULL, 0};
}

static unsigned capabilities_needed(const struct td_request *request)
{
    const struct json *body = request->body;
    unsigned needs = 0;
    if (json_count(json_get(body, "tools")) > 0 || json_count(json_get(body, "functions")) > 0)
        needs |= CAPABILITY_TOOLS;
    const struct json *choice = json_get(body, "tool_choice");
    struct td_str named = json_text(choice);
    if (json_count(json_get(body, "functions")) > 0 || json_kind_of(choice) == JSON_KIND_OBJECT ||
        str_equal(named, STR("required")))
        needs |= CAPABILITY_TOOL_CHOICE;
    struct td_str format = json_text(json_get(json_get(body, "response_format"), "type"));
    if (request->format == TD_FORMAT_JSON || (format.len > 0 && !str_equal(format, STR("text"))))
        needs |= CAPABILITY_SCHEMA | (request->grammar ? 0 : CAPABILITY_WHOLE_SCHEMA);
    if (request->format == TD_FORMAT_GRAMMAR)
        needs |= CAPABILITY_GRAMMAR;
    if (request->adapter_count > 0)
        needs |= CAPABILITY_ADAPTERS;
    if (request->completion)
        needs |= CAPABILITY_COMPLETION | (request->completion->ids ? CAPABILITY_PROMPT_IDS : 0);
    return needs;
}

void signals_extract(const struct td_request *request, struct signals *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < request->message_count; i++) {
        size_t len = request->messages[i].content.len;
        bytes = len > SIZE_MAX - bytes ? SIZE_MAX : bytes + len;
    }
    struct td_str text = last_user_text(request);
    struct td_str head = str_slice(text, 0, MARKER_BYTES_MAX);
    *out = (struct signals){
        .data_class = request->data_class,
        .mode = request->mode,
        .prompt_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
        .message_count =
            request->message_count > UINT32_MAX ? UINT32_MAX : (uint32_t)request->message_count,
        .tokens_max = request->tokens_max,
        .prompt_only = request->completion && request->completion->prompt_only,
        .needs = capabilities_needed(request),
        .code = contains_any(head, code_markers, sizeof code_markers / sizeof *code_markers),
        .maths = has_arithmetic(head) ||
                 contains_any(head, maths_markers, sizeof maths_markers / sizeof *maths_markers),
        .question = is_question(text),
    };
}
