/* Which conversation a request belongs to.
 *
 * Clients send the whole conversation with each request and no name for it, so the name is made
 * from how it begins. There are two, because two things can go wrong. The key is a quick hash for
 * the table of classes: a client that later adds a system message or a user's name must not lose
 * the class that its conversation has. The digest is for the values behind pseudonyms: nobody may
 * aim at another user's conversation, so it is a SHA-256 over caller, user, system message and
 * question. */
#include "exchange/private/conversation_id.h"

#include "base/hash.h"
#include "base/str.h"
#include "privacy/pseudonym/vault_store.h"
#include "privacy/scan/conversation.h"

#include <assert.h>
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

/* The first question; the first message where nobody asks. */
static size_t first_question(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_USER)
            return i;
    return 0;
}

uint64_t conversation_id_key(const struct td_request *request)
{
    assert(request);
    /* The caller belongs to it: otherwise one client could raise the class of all who begin with
     * "hi". */
    uint64_t key = hash_text(str_from(request->caller), HASH_FNV1A64_BASIS);
    return request->message_count
               ? hash_words(request->messages[first_question(request)].content, key)
               : key;
}

/* Answers and further questions are of later turns; instructions may stand anywhere. */
static bool goes_on(const struct td_request *request)
{
    size_t first = first_question(request);
    for (size_t i = 0; i < request->message_count; i++) {
        enum td_role role = request->messages[i].role;
        if (i != first && role != TD_ROLE_SYSTEM && role != TD_ROLE_DEVELOPER)
            return true;
    }
    return false;
}

enum td_data_class conversation_id_raise(struct conversation_classes *classes,
                                         const struct td_request *request, bool masked,
                                         enum td_data_class seen)
{
    const struct conversation conversation = {
        .key = conversation_id_key(request) ^ (masked ? MASKED_KEY : 0),
        .owner = request->caller,
        .goes_on = goes_on(request),
    };
    return classes ? conversation_classes_raise(classes, &conversation, seen) : seen;
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
