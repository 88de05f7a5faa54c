#include "exchange/egress.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* As deep as base/json.h reads. */
#define DEPTH_MAX 64

static enum td_data_class highest(enum td_data_class a, enum td_data_class b)
{
    return a > b ? a : b;
}

/* A card number may come as a number: it is scanned as the digits that it is sent as. */
enum td_data_class egress_classify_number(const struct json *value, struct privacy_tally *tally)
{
    char text[64];
    double number = json_number(value, 0);
    if (json_kind_of(value) == JSON_KIND_INT)
        snprintf(text, sizeof text, "%lld", (long long)json_int(value, 0));
    else
        snprintf(text, sizeof text, fabs(number) < 1e18 ? "%.0f" : "%.17g", number);
    return privacy_classify(str_from(text), tally);
}

static enum td_data_class classify_json(const struct json *value, struct privacy_tally *tally,
                                        int depth);

/* Is this the very text that was scanned as the message's content? What is not, byte for byte, is
 * scanned where it stands. */
static bool is_content(const struct json *value, const struct td_message *message)
{
    return json_kind_of(value) == JSON_KIND_TEXT && str_equal(json_text(value), message->content);
}

static enum td_data_class classify_message(const struct json *value,
                                           const struct td_message *message, int depth)
{
    enum td_data_class found = TD_CLASS_PUBLIC;
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    if (json_kind_of(value) != JSON_KIND_OBJECT)
        return classify_json(value, NULL, depth);
    while (json_next(value, &iterator, &key, &member)) {
        found = highest(found, privacy_classify(str_from(key), NULL));
        if (strcmp(key, "content") != 0 || !is_content(member, message))
            found = highest(found, classify_json(member, NULL, depth + 1));
    }
    return found;
}

/* The body's messages, whose contents are scanned already. */
static enum td_data_class classify_messages(const struct td_request *request,
                                            const struct json *messages)
{
    enum td_data_class found = TD_CLASS_PUBLIC;
    if (json_kind_of(messages) != JSON_KIND_ARRAY)
        return classify_json(messages, NULL, 1);
    for (size_t i = 0; i < json_count(messages); i++) {
        const struct json *message = json_at(messages, i);
        found = highest(found, i < request->message_count
                                   ? classify_message(message, &request->messages[i], 2)
                                   : classify_json(message, NULL, 2));
    }
    return found;
}

static enum td_data_class classify_json(const struct json *value, struct privacy_tally *tally,
                                        int depth)
{
    enum td_data_class found = TD_CLASS_PUBLIC;
    if (depth > DEPTH_MAX)
        return TD_CLASS_RESTRICTED; /* what cannot be looked at stays */
    switch (json_kind_of(value)) {
    case JSON_KIND_TEXT:
        return privacy_classify(json_text(value), tally);
    case JSON_KIND_INT:
    case JSON_KIND_DOUBLE:
        return egress_classify_number(value, tally);
    case JSON_KIND_ARRAY:
        for (size_t i = 0; i < json_count(value); i++)
            found = highest(found, classify_json(json_at(value, i), tally, depth + 1));
        return found;
    case JSON_KIND_OBJECT: {
        void *iterator = NULL;
        const char *key;
        const struct json *member;
        while (json_next(value, &iterator, &key, &member)) {
            found = highest(found, privacy_classify(str_from(key), tally));
            found = highest(found, classify_json(member, tally, depth + 1));
        }
        return found;
    }
    default:
        return found;
    }
}

enum td_data_class egress_classify(const struct td_request *request, struct privacy_tally *tally)
{
    enum td_data_class found = TD_CLASS_PUBLIC;
    for (size_t i = 0; i < request->message_count; i++)
        found = highest(found, privacy_classify(request->messages[i].content, tally));
    /* And what else stands in the body: names, tool calls, schemas. The messages' findings are
     * counted above, so that only the other members add to the counts. */
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (json_next(request->body, &iterator, &key, &member)) {
        found = highest(found, privacy_classify(str_from(key), tally));
        if (request->completion && strcmp(key, "prompt") == 0 &&
            is_content(member, &request->messages[0]))
            continue;
        found = highest(found, strcmp(key, "messages") == 0 ? classify_messages(request, member)
                                                            : classify_json(member, tally, 1));
    }
    return found;
}

static uint64_t hash_text(struct td_str text, uint64_t basis)
{
    uint64_t len = text.len; /* so that "ab","c" and "a","bc" differ */
    basis = hash_fnv1a64(&len, sizeof len, basis);
    return text.len ? hash_fnv1a64(text.data, text.len, basis) : basis;
}

uint64_t egress_conversation_key(const struct td_request *request)
{
    /* The caller too: else one client could raise the class of all who begin with "hi". */
    uint64_t key = hash_text(str_from(request->caller), HASH_FNV1A64_BASIS);
    key = hash_text(str_from(request->user), key);
    bool has_system = false;
    for (size_t i = 0; i < request->message_count; i++) {
        enum td_role role = request->messages[i].role;
        if (role == TD_ROLE_USER)
            return hash_text(request->messages[i].content, key);
        if (!has_system && (role == TD_ROLE_SYSTEM || role == TD_ROLE_DEVELOPER)) {
            has_system = true;
            key = hash_text(request->messages[i].content, key);
        }
    }
    return key;
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
