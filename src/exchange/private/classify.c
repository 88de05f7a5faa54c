#include "exchange/private/classify.h"

#include "base/json.h"
#include "base/str.h"
#include "privacy/scan/privacy.h"

#include <math.h>
#include <stdio.h>

/* As deep as base/json.h reads. */
#define DEPTH_MAX 64
#define NAME_BYTES_MAX 64 /* of a name that is said again before every element of its list */

/* --- the request as one reading --- */

static bool is_said(const char *key)
{
    return strcmp(key, "text") == 0 || strcmp(key, "refusal") == 0;
}

/* The texts of a content, or of a prompt. */
static void read_texts(struct reading *reading, const struct json *content)
{
    if (json_kind_of(content) == JSON_KIND_TEXT)
        reading_add(reading, json_text(content), READING_LINE);
    if (json_kind_of(content) != JSON_KIND_ARRAY)
        return;
    size_t first = reading->count;
    for (size_t i = 0; i < json_count(content); i++) {
        void *iterator = NULL;
        const char *key;
        const struct json *member;
        while (json_next(json_at(content, i), &iterator, &key, &member))
            if (is_said(key) && json_kind_of(member) == JSON_KIND_TEXT)
                reading_add(reading, json_text(member),
                            reading->count > first ? READING_GOES_ON : READING_LINE);
    }
}

/* What is said, one message behind the other: an answer is to the question before it. A message that is not,
 * byte for byte, what stands in the body is read as well. */
static void read_conversation(struct reading *reading, const struct td_request *request)
{
    const struct json *messages = json_get(request->body, "messages");
    bool list = json_kind_of(messages) == JSON_KIND_ARRAY;
    size_t said = list ? json_count(messages) : 0;
    for (size_t i = 0; i < request->message_count || i < said; i++) {
        size_t first = reading->count;
        read_texts(reading, i == 0 && request->completion
                                ? json_get(request->body, "prompt")
                                : json_get(json_at(messages, i), "content"));
        if (i < request->message_count &&
            !str_equal(reading_since(reading, first), request->messages[i].content))
            reading_add(reading, request->messages[i].content, READING_LINE);
    }
}

static void read_number(struct reading *reading, const struct json *value, enum reading_link link)
{
    char text[64];
    double number = json_number(value, 0);
    if (json_kind_of(value) == JSON_KIND_INT)
        snprintf(text, sizeof text, "%lld", (long long)json_int(value, 0));
    else /* a card may come as a number, a place with its decimals */
        snprintf(text, sizeof text,
                 fabs(number) < 1e18 && number == floor(number) ? "%.0f" : "%.15g", number);
    reading_add_fixed(reading, str_from(text), link);
}

struct members {
    struct reading *reading;
    const struct td_request *body_of; /* the object is its body; else NULL */
    bool message;                     /* it is one of the body's messages */
    bool content;                     /* it is a part of what is said, which is read */
};

static void read_value(const struct members *of, const struct json *value, struct td_str name,
                       int depth);

/* Is the member not sent, or read with the conversation? */
static bool is_left_out(const struct members *of, const char *key, const struct json *value)
{
    if (of->body_of && strcmp(key, "tandem") == 0)
        return true; /* our own options */
    return of->content && is_said(key) && json_kind_of(value) == JSON_KIND_TEXT;
}

static void read_members(const struct members *of, const struct json *object, int depth)
{
    bool completion = of->body_of && of->body_of->completion;
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (json_next(object, &iterator, &key, &member)) {
        enum json_kind kind = json_kind_of(member);
        bool content = (of->message && strcmp(key, "content") == 0) ||
                       (completion && strcmp(key, "prompt") == 0);
        bool messages = of->body_of && !completion && strcmp(key, "messages") == 0;
        const struct members within = {.reading = of->reading,
                                       .message = messages && kind == JSON_KIND_ARRAY,
                                       .content = content && kind == JSON_KIND_ARRAY};
        if (is_left_out(of, key, member))
            continue;
        reading_add_fixed(of->reading, str_from(key), READING_LINE);
        if (!content || kind != JSON_KIND_TEXT)
            read_value(&within, member, str_from(key), depth + 1);
        if (of->body_of && (kind == JSON_KIND_ARRAY || kind == JSON_KIND_OBJECT))
            reading_pause(of->reading);
    }
}

/* A list's elements are each what the list's name says. */
static void read_elements(const struct members *of, const struct json *list, struct td_str name,
                          int depth)
{
    const struct members plain = {.reading = of->reading};
    if (name.len > NAME_BYTES_MAX)
        name = str_slice(name, name.len - NAME_BYTES_MAX, name.len);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *element = json_at(list, i);
        bool object = json_kind_of(element) == JSON_KIND_OBJECT;
        if (i > 0 && !object && json_kind_of(element) != JSON_KIND_ARRAY && name.len > 0)
            reading_say(of->reading, name);
        read_value(object ? of : &plain, element, name, depth + 1);
    }
}

/* Everything else of a body: names, tool calls, schemas. name: what stands before it on its line. */
static void read_value(const struct members *of, const struct json *value, struct td_str name,
                       int depth)
{
    enum reading_link link = name.len > 0 ? READING_VALUE : READING_LINE;
    if (depth > DEPTH_MAX) {
        of->reading->failed = true; /* what cannot be looked at stays */
        return;
    }
    switch (json_kind_of(value)) {
    case JSON_KIND_TEXT:
        reading_add(of->reading, json_text(value), link);
        break;
    case JSON_KIND_INT:
    case JSON_KIND_DOUBLE:
        read_number(of->reading, value, link);
        break;
    case JSON_KIND_ARRAY:
        read_elements(of, value, name, depth);
        break;
    case JSON_KIND_OBJECT:
        read_members(of, value, depth);
        break;
    default:
        break;
    }
}

void classify_read(const struct td_request *request, struct reading *reading)
{
    const struct members body = {.reading = reading, .body_of = request};
    read_conversation(reading, request);
    reading_pause(reading);
    for (size_t i = 0; !request->body && i < request->stop_count; i++)
        reading_add_fixed(reading, request->stops[i], READING_LINE);
    read_value(&body, request->body, STR(""), 0);
}

enum td_data_class classify_request(const struct privacy_scanner *scanner,
                                    const struct td_request *request, struct privacy_tally *found)
{
    struct reading reading;
    reading_init(&reading);
    classify_read(request, &reading);
    enum td_data_class data_class = privacy_classify_reading(scanner, &reading, found);
    reading_deinit(&reading);
    return data_class;
}

enum td_data_class classify_higher(enum td_data_class a, enum td_data_class b)
{
    return a > b ? a : b;
}
