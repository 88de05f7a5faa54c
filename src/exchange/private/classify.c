/* The request as one text for the scanner.
 *
 * What is said comes first, one message after the other, because an answer often only makes sense
 * after its question ("what is your number?" - "4111..."). Then come the members: names,
 * tool calls, schemas, each value after the name of its member. What cannot be read whole is a
 * failed reading, and a failed reading counts as restricted.
 *
 * Each text remembers whether it stands in instructions: in a system message, or among what
 * describes the tools. Of a schema these are names, titles and descriptions. Values in it (an enum,
 * a default, an example) may be anybody's data. */
#include "exchange/private/classify.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "privacy/scan/privacy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* As deep as base/json/json.h reads. */
#define DEPTH_MAX 64
#define NAME_BYTES_MAX 64 /* of a name that is said again before every element of its list */

/* --- the request as one reading --- */

/* The texts of one message: those of its parts, or its content. */
struct said {
    const struct td_str *texts;
    size_t count;
};

static struct said said_in(const struct td_request *request, size_t i)
{
    if (request->parts && request->parts[i].count > 0)
        return (struct said){request->parts[i].texts, request->parts[i].count};
    return (struct said){&request->messages[i].content, 1};
}

/* What is said, one message after the other, because an answer belongs to the question before it.
 * Where the content of a message differs from the text of its parts, both are read. */
static void read_conversation(struct reading *reading, const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++) {
        const struct said said = said_in(request, i);
        const enum td_role role = request->messages[i].role;
        size_t first = reading->count;
        if (role == TD_ROLE_SYSTEM || role == TD_ROLE_DEVELOPER)
            reading->from = READING_SYSTEM;
        for (size_t t = 0; t < said.count; t++)
            if (said.count > 1 || said.texts[t].len > 0)
                reading_add(reading, said.texts[t], t > 0 ? READING_GOES_ON : READING_LINE);
        if (!str_equal(reading_since(reading, first), request->messages[i].content))
            reading_add(reading, request->messages[i].content, READING_LINE);
        reading->from = READING_REQUEST;
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

/* A walk over one value, whatever it means. What is said stands in the value as well, in the same
 * order and as the very same text in memory: it was read already, and its member with it. */
struct walk {
    const struct td_request *request;
    struct reading *reading;
    struct said said; /* what is still to be met of the message that the value belongs to */
    bool tools;       /* the value describes tools */
};

static void read_value(struct walk *walk, const struct json *value, struct td_str name, int depth);

static bool was_said(struct walk *walk, const struct json *value)
{
    struct td_str text = json_text(value);
    if (!text.data || walk->said.count == 0 || walk->said.texts->data != text.data ||
        walk->said.texts->len != text.len)
        return false;
    walk->said.texts++;
    walk->said.count--;
    return true;
}

static bool is_one_of(const char *key, const char *const *names)
{
    while (*names && strcmp(*names, key) != 0)
        names++;
    return *names != NULL;
}

/* Of a member, and of its value: do they describe a tool? */
static enum reading_from described(const struct walk *walk, const char *key,
                                   const struct json *value)
{
    static const char *const describing[] = {"description", "name", "title", NULL};
    bool text = value && json_kind_of(value) == JSON_KIND_TEXT;
    return walk->tools && (!value || (text && is_one_of(key, describing))) ? READING_TOOLS
                                                                           : READING_REQUEST;
}

static void read_members(struct walk *walk, const struct json *object, int depth)
{
    static const char *const data[] = {"enum", "const", "default", "example", "examples", NULL};
    struct reading *reading = walk->reading;
    const bool tools = walk->tools;
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (json_next(object, &iterator, &key, &member)) {
        if (was_said(walk, member))
            continue;
        reading->from = described(walk, key, NULL);
        reading_add_fixed(reading, str_from(key), READING_LINE);
        reading->from = described(walk, key, member);
        walk->tools = tools && !is_one_of(key, data);
        read_value(walk, member, str_from(key), depth + 1);
        walk->tools = tools;
        reading->from = READING_REQUEST;
    }
}

/* A list's elements are each what the list's name says. */
static void read_elements(struct walk *walk, const struct json *list, struct td_str name, int depth)
{
    if (name.len > NAME_BYTES_MAX)
        name = str_slice(name, name.len - NAME_BYTES_MAX, name.len);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *element = json_at(list, i);
        bool object = json_kind_of(element) == JSON_KIND_OBJECT;
        if (i > 0 && !object && json_kind_of(element) != JSON_KIND_ARRAY && name.len > 0)
            reading_say(walk->reading, name);
        read_value(walk, element, name, depth + 1);
    }
}

/* name: what stands before the value on its line. */
static void read_value(struct walk *walk, const struct json *value, struct td_str name, int depth)
{
    enum reading_link link = name.len > 0 ? READING_VALUE : READING_LINE;
    if (depth > DEPTH_MAX) {
        walk->reading->failed = true; /* what cannot be looked at stays */
        return;
    }
    switch (json_kind_of(value)) {
    case JSON_KIND_TEXT:
        if (request_is_opaque(walk->request, json_text(value)))
            break; /* nothing to read in it; its class is the policy's, or was known before */
        reading_add(walk->reading, json_text(value), link);
        break;
    case JSON_KIND_INT:
    case JSON_KIND_DOUBLE:
        read_number(walk->reading, value, link);
        break;
    case JSON_KIND_ARRAY:
        read_elements(walk, value, name, depth);
        break;
    case JSON_KIND_OBJECT:
        read_members(walk, value, depth);
        break;
    default:
        break;
    }
}

/* Each element is walked with what its own message said. */
static void read_messages(struct reading *reading, const struct td_request *request,
                          const struct request_member *member)
{
    for (size_t i = 0; i < json_count(member->value); i++) {
        const struct json *element = json_at(member->value, i);
        struct walk walk = {.request = request, .reading = reading};
        if (i < request->message_count)
            walk.said = said_in(request, i);
        read_value(&walk, element, str_from(member->name), 2);
    }
}

static void read_member(struct reading *reading, const struct td_request *request,
                        const struct request_member *member)
{
    enum json_kind kind = json_kind_of(member->value);
    struct walk walk = {
        .request = request, .reading = reading, .tools = member->kind == REQUEST_TOOLS};
    if (member->kind == REQUEST_PROMPT && request->message_count > 0)
        walk.said = said_in(request, 0);
    if (was_said(&walk, member->value))
        return;
    reading_add_fixed(reading, str_from(member->name), READING_LINE);
    if (member->kind == REQUEST_MESSAGES && kind == JSON_KIND_ARRAY)
        read_messages(reading, request, member);
    else
        read_value(&walk, member->value, str_from(member->name), 1);
    if (kind == JSON_KIND_ARRAY || kind == JSON_KIND_OBJECT)
        reading_pause(reading);
}

void classify_read(const struct td_request *request, struct reading *reading)
{
    read_conversation(reading, request);
    reading_pause(reading);
    for (size_t i = 0; request->member_count == 0 && i < request->stop_count; i++)
        reading_add_fixed(reading, request->stops[i], READING_LINE);
    for (size_t i = 0; i < request->member_count; i++)
        read_member(reading, request, &request->members[i]);
}

enum td_data_class classify_request(const struct privacy_scanner *scanner,
                                    const struct td_request *request, struct privacy_tally *found)
{
    struct reading reading;
    reading_init(&reading);
    classify_read(request, &reading);
    struct td_str caller = {NULL, 0};
    if (!request->keep_nothing && request->caller)
        caller = str_from(request->caller);
    enum td_data_class data_class = privacy_classify_reading(scanner, &reading, caller, found);
    reading_deinit(&reading);
    return data_class;
}

enum td_data_class classify_higher(enum td_data_class a, enum td_data_class b)
{
    return a > b ? a : b;
}
