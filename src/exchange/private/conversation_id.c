/* Which conversation a request belongs to.
 *
 * Clients send the whole conversation with each request and no name for it, so the name is made
 * from how it begins. There are two, because two things can go wrong. The keys are quick hashes for
 * the table of classes: a client that later adds a system message or a user's name must not lose
 * the class that its conversation has. The digest is for the values behind pseudonyms: nobody may
 * aim at another user's conversation, so it is a SHA-256 over caller, user, system message and
 * question.
 *
 * Many conversations of one caller open alike ("hi"), so there are two keys. The opening is what
 * users said before the first answer. The conversation is the opening and that answer. Each class
 * is stored for both, so the opening has the highest class of all conversations that began with it.
 * A conversation has its own class when it is known: when we gave its first answer, or met it while
 * nothing that began with its opening had a class. Any other one, such as one with a changed first
 * answer, has the opening's class. A request without an answer has the class of each opening that
 * it begins with and goes on from. What only opens a conversation has nothing but its own class.
 *
 * Rejected: a key for each turn, which says exactly what a class was given to. Clients cut long
 * histories and edit them, and would lose the class. */
#include "exchange/private/conversation_id.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/conversation.h"

#include <string.h>

/* Tells the two classes of a conversation apart. */
#define MASKED_KEY UINT64_C(0x9e3779b97f4a7c15)

static uint64_t hash_text(struct td_str text, uint64_t basis)
{
    uint64_t len = text.len; /* so that "ab","c" and "a","bc" differ */
    basis = hash_fnv1a64(&len, sizeof len, basis);
    return text.len ? hash_fnv1a64(text.data, text.len, basis) : basis;
}

/* White space says nothing: parts are joined by it, and clients trim. */
uint64_t conversation_id_hear(uint64_t basis, struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != ' ' && (text.data[i] < '\t' || text.data[i] > '\r'))
            basis = hash_fnv1a64_byte(basis, (uint8_t)text.data[i]);
    return basis;
}

/* The first question; the first message where nobody asks. */
static size_t first_question(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_USER)
            return i;
    return 0;
}

/* Goes over the messages before the first answer. */
struct opening {
    const struct td_request *request;
    size_t next;  /* the message that comes next */
    size_t count; /* of users' texts so far */
    uint64_t key;
};

static struct opening opening_begin(const struct td_request *request)
{
    /* The caller belongs to it: otherwise one client could raise the class of all who begin with
     * "hi". */
    return (struct opening){.request = request,
                            .next = request->message_count ? first_question(request) : 0,
                            .key = hash_text(str_from(request->caller), HASH_FNV1A64_BASIS)};
}

/* Takes the next text of a user; false at the first answer, or at the end. */
static bool opening_take(struct opening *opening)
{
    const struct td_request *request = opening->request;
    for (; opening->next < request->message_count; opening->next++) {
        const struct td_message *message = &request->messages[opening->next];
        if (message->role == TD_ROLE_ASSISTANT || message->role == TD_ROLE_TOOL)
            break;
        if (message->role != TD_ROLE_USER && opening->count > 0)
            continue; /* instructions may stand anywhere */
        if (opening->count++ > 0)
            opening->key = hash_fnv1a64_byte(opening->key, 0); /* of one text it is that text's */
        opening->key = conversation_id_hear(opening->key, message->content);
        opening->next++;
        return true;
    }
    return false;
}

static uint64_t answered_key(uint64_t opening, uint64_t heard)
{
    return hash_fnv1a64(&heard, sizeof heard, opening);
}

struct conversation_keys conversation_id_keys(const struct td_request *request)
{
    ASSERT(request);
    struct opening opening = opening_begin(request);
    while (opening_take(&opening))
        ;
    struct conversation_keys keys = {
        .opening = opening.key,
        .answered = opening.next<request->message_count, .begins_between = opening.count> 1};
    if (keys.answered)
        keys.conversation = answered_key(
            opening.key,
            conversation_id_hear(CONVERSATION_ID_SILENCE, request->messages[opening.next].content));
    return keys;
}

static struct conversation named(const struct td_request *request, uint64_t key, bool masked)
{
    return (struct conversation){.key = key ^ (masked ? MASKED_KEY : 0), .owner = request->caller};
}

/* Of openings that the request goes on from without an answer. */
static enum td_data_class class_of_openings(struct conversation_classes *classes,
                                            const struct td_request *request, bool masked)
{
    enum td_data_class highest = TD_CLASS_PUBLIC;
    struct opening opening = opening_begin(request);
    for (bool more = opening_take(&opening); more;) {
        const struct conversation before = named(request, opening.key, masked);
        more = opening_take(&opening);
        enum td_data_class found =
            more ? conversation_classes_find(classes, &before) : TD_CLASS_PUBLIC;
        highest = found > highest ? found : highest;
    }
    return highest;
}

/* What the conversation gets from others that opened alike: nothing, if it is known. */
static enum td_data_class class_of_opening(struct conversation_classes *classes,
                                           const struct td_request *request,
                                           const struct conversation_keys *keys, bool masked)
{
    const struct conversation plain = named(request, keys->conversation, false),
                              own = named(request, keys->conversation, masked),
                              opening = named(request, keys->opening, false),
                              rest = named(request, keys->opening, true);
    if (conversation_classes_has_met(classes, &plain) ||
        conversation_classes_find(classes, &own) > TD_CLASS_PUBLIC)
        return TD_CLASS_PUBLIC;
    const enum td_data_class of_plain = conversation_classes_find(classes, &opening),
                             of_rest = conversation_classes_find(classes, &rest);
    if (of_plain == TD_CLASS_PUBLIC && of_rest == TD_CLASS_PUBLIC && !masked)
        conversation_classes_meet(classes, &plain);
    return masked ? of_rest : of_plain;
}

enum td_data_class conversation_id_raise(struct conversation_classes *classes,
                                         const struct td_request *request,
                                         const struct conversation_keys *keys, bool masked,
                                         enum td_data_class seen)
{
    if (!classes)
        return seen;
    const enum td_data_class before =
        keys->answered         ? class_of_opening(classes, request, keys, masked)
        : keys->begins_between ? class_of_openings(classes, request, masked)
                               : TD_CLASS_PUBLIC;
    seen = before > seen ? before : seen;
    if (keys->answered) {
        struct conversation conversation = named(request, keys->conversation, masked);
        conversation.goes_on = true;
        seen = conversation_classes_raise(classes, &conversation, seen);
    }
    const struct conversation opening = named(request, keys->opening, masked);
    (void)conversation_classes_raise(classes, &opening, seen);
    return seen;
}

uint64_t conversation_id_next(const struct conversation_keys *keys, uint64_t heard)
{
    return keys->answered ? keys->conversation : answered_key(keys->opening, heard);
}

void conversation_id_answer(struct conversation_classes *classes, const struct td_request *request,
                            const struct conversation_keys *keys, uint64_t heard,
                            const enum td_data_class found[2])
{
    if (!classes || keys->answered)
        return;
    const uint64_t key = answered_key(keys->opening, heard);
    const struct conversation plain = named(request, key, false),
                              masked = named(request, key, true);
    conversation_classes_meet(classes, &plain);
    (void)conversation_classes_raise(classes, &plain, found[0]);
    (void)conversation_classes_raise(classes, &masked, found[1]);
}

static void digest_text(struct crypto_sha256 *hash, struct td_str text)
{
    uint64_t len = text.len; /* so that "ab","c" and "a","bc" differ */
    crypto_sha256_feed(hash, &len, sizeof len);
    crypto_sha256_feed(hash, text.data, text.len);
}

void conversation_id_owner(const char *tenant, const char *user,
                           uint8_t owner[static CRYPTO_SHA256_BYTES])
{
    uint8_t both[2 * CRYPTO_SHA256_BYTES], whole[CRYPTO_SHA256_BYTES];
    crypto_sha256(user ? user : "", user ? strlen(user) : 0, owner);
    if (!tenant)
        return;
    memcpy(both, owner, CRYPTO_SHA256_BYTES);
    crypto_sha256(tenant, strlen(tenant), both + CRYPTO_SHA256_BYTES);
    crypto_sha256(both, sizeof both, whole);
    memcpy(owner + VAULT_OWNER_USER_BYTES, whole, CRYPTO_SHA256_BYTES - VAULT_OWNER_USER_BYTES);
}

void conversation_id_digest(const struct td_request *request,
                            uint8_t key[static CRYPTO_SHA256_BYTES],
                            uint8_t owner[static CRYPTO_SHA256_BYTES])
{
    struct crypto_sha256 *hash = crypto_sha256_begin();
    conversation_id_owner(request->tenant, request->user, owner);
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
