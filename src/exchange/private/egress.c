#include "exchange/private/egress.h"

#include "base/hash.h"
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

void egress_read(const struct td_request *request, struct reading *reading)
{
    const struct members body = {.reading = reading, .body_of = request};
    read_conversation(reading, request);
    reading_pause(reading);
    for (size_t i = 0; !request->body && i < request->stop_count; i++)
        reading_add_fixed(reading, request->stops[i], READING_LINE);
    read_value(&body, request->body, STR(""), 0);
}

enum td_data_class egress_classify(const struct privacy_scanner *scanner,
                                   const struct td_request *request, struct privacy_tally *found)
{
    struct reading reading;
    reading_init(&reading);
    egress_read(request, &reading);
    enum td_data_class data_class = privacy_classify_reading(scanner, &reading, found);
    reading_deinit(&reading);
    return data_class;
}

/* --- which conversation it is --- */

static uint64_t hash_text(struct td_str text, uint64_t basis)
{
    uint64_t len = text.len; /* so that "ab","c" and "a","bc" differ */
    basis = hash_fnv1a64(&len, sizeof len, basis);
    return text.len ? hash_fnv1a64(text.data, text.len, basis) : basis;
}

/* White space says nothing: parts are joined by it, and clients trim. */
static uint64_t hash_words(struct td_str text, uint64_t basis)
{
    for (size_t i = 0, begin = 0; i <= text.len; i++) {
        if (i < text.len && text.data[i] != ' ' && (text.data[i] < '\t' || text.data[i] > '\r'))
            continue;
        if (i > begin)
            basis = hash_fnv1a64(text.data + begin, i - begin, basis);
        begin = i + 1;
    }
    return basis;
}

uint64_t egress_conversation_key(const struct td_request *request)
{
    /* The caller too: else one client could raise the class of all who begin with "hi". */
    uint64_t key = hash_text(str_from(request->caller), HASH_FNV1A64_BASIS);
    size_t first = 0;
    while (first < request->message_count && request->messages[first].role != TD_ROLE_USER)
        first++;
    if (first == request->message_count)
        first = 0; /* nobody asks */
    return request->message_count ? hash_words(request->messages[first].content, key) : key;
}

static void digest_text(struct crypto_sha256 *hash, struct td_str text)
{
    uint64_t len = text.len; /* so that "ab","c" and "a","bc" differ */
    crypto_sha256_feed(hash, &len, sizeof len);
    crypto_sha256_feed(hash, text.data, text.len);
}

void egress_owner_digest(const char *user, uint8_t owner[static CRYPTO_SHA256_BYTES])
{
    struct td_str text = str_from(user ? user : "");
    crypto_sha256(text.data ? text.data : "", text.len, owner);
}

void egress_conversation_digest(const struct td_request *request,
                                uint8_t key[static CRYPTO_SHA256_BYTES],
                                uint8_t owner[static CRYPTO_SHA256_BYTES])
{
    struct crypto_sha256 *hash = crypto_sha256_begin();
    egress_owner_digest(request->user, owner);
    memset(key, 0, CRYPTO_SHA256_BYTES);
    if (!hash)
        return;
    digest_text(hash, str_from(request->caller));
    digest_text(hash, str_from(request->user));
    bool has_system = false, has_user = false;
    for (size_t i = 0; i < request->message_count && !has_user; i++) {
        enum td_role role = request->messages[i].role;
        bool system = role == TD_ROLE_SYSTEM || role == TD_ROLE_DEVELOPER;
        has_user = role == TD_ROLE_USER;
        if (has_user || (system && !has_system))
            digest_text(hash, request->messages[i].content);
        has_system |= system;
    }
    crypto_sha256_end(hash, key);
}
