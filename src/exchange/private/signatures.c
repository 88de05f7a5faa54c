/* A table of hashes in sets of four; in a full set the one that was not used for longest goes. What
 * was forgotten is scanned, and then mostly counts as a key: its request stays on the device.
 *
 * The hash is of the text as both alphabets of base64 have it, without padding, because Google's
 * clients send it back in the other one. Servers read both.
 *
 * Rejected: to believe a member by its name, or by how its text looks. Then every caller could send
 * a key, or any text in base64, past the scan. */
#include "exchange/private/signatures.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#include <pthread.h>
#include <stdlib.h>

#define SETS 8192u /* 32768 signatures, a megabyte */
#define WAYS 4u
#define HASH_BYTES 16
/* A shorter one is no secret's length, and what looks like none is scanned to no harm. */
#define TEXT_BYTES_MIN 32
#define TEXT_BYTES_MAX ((size_t)1 << 20)
/* Of one request: some hundred turns of an agent with several calls each. */
#define FOUND_MAX 2048
/* As deep as base/json/json.h reads. */
#define DEPTH_MAX 64

struct known {
    uint8_t hash[HASH_BYTES];
    uint64_t used; /* 0 = empty */
    enum td_data_class data_class;
};

struct signatures {
    pthread_mutex_t mutex;
    uint8_t key[KEYED_KEY_BYTES];
    uint64_t clock;
    struct known table[SETS * WAYS];
};

struct signatures *signatures_new(void)
{
    struct signatures *signatures = calloc(1, sizeof *signatures);
    if (signatures && crypto_random(signatures->key, sizeof signatures->key, NULL) == TD_OK) {
        pthread_mutex_init(&signatures->mutex, NULL);
        return signatures;
    }
    free(signatures);
    return NULL;
}

void signatures_free(struct signatures *signatures)
{
    if (!signatures)
        return;
    pthread_mutex_destroy(&signatures->mutex);
    free(signatures);
}

/* --- what may be one --- */

static bool is_named(const char *name)
{
    static const char *const names[] = {"thought_signature", "signature", "data",
                                        "encrypted_content"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* In either alphabet; '=' only at the end. */
static bool is_base64(struct td_str text)
{
    while (text.len > 0 && text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.data[i]) && !memchr("+/-_", text.data[i], 4))
            return false;
    return text.len > 0;
}

typedef void take_fn(void *ctx, struct td_str text);

/* Calls `take` with each text below the value that may be one. */
static void walk(const struct json *value, int depth, take_fn *take, void *ctx)
{
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    if (depth > DEPTH_MAX)
        return;
    if (json_kind_of(value) == JSON_KIND_ARRAY)
        for (size_t i = 0; i < json_count(value); i++)
            walk(json_at(value, i), depth + 1, take, ctx);
    if (json_kind_of(value) != JSON_KIND_OBJECT)
        return;
    while (json_next(value, &iterator, &name, &member)) {
        struct td_str text = json_text(member);
        if (json_kind_of(member) != JSON_KIND_TEXT)
            walk(member, depth + 1, take, ctx);
        else if (text.len >= TEXT_BYTES_MIN && text.len <= TEXT_BYTES_MAX && is_named(name) &&
                 is_base64(text))
            take(ctx, text);
    }
}

/* --- the table --- */

/* False without memory. */
static bool hash_text(const struct signatures *signatures, const char *caller, struct td_str text,
                      uint8_t out[static HASH_BYTES])
{
    uint8_t mac[KEYED_MAC_BYTES];
    struct td_str owner = str_from(caller);
    struct buf buf;
    buf_init(&buf, SIZE_MAX / 2);
    buf_append(&buf, &owner.len, sizeof owner.len); /* so that "ab","c" and "a","bc" differ */
    buf_append_str(&buf, owner);
    while (text.data[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        buf_append_char(&buf, text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' : text.data[i]);
    bool ok = !buf.failed;
    if (ok)
        keyed_mac(signatures->key, buf.data, buf.len, mac);
    if (ok)
        memcpy(out, mac, HASH_BYTES);
    buf_deinit(&buf);
    return ok;
}

static struct known *set_of(struct signatures *signatures, const uint8_t hash[static HASH_BYTES])
{
    uint32_t number;
    memcpy(&number, hash, sizeof number);
    return &signatures->table[number % SETS * WAYS];
}

/* NULL: it is not known. */
static struct known *find_locked(struct signatures *signatures,
                                 const uint8_t hash[static HASH_BYTES])
{
    struct known *set = set_of(signatures, hash);
    for (size_t i = 0; i < WAYS; i++) {
        if (!set[i].used || memcmp(set[i].hash, hash, HASH_BYTES) != 0)
            continue;
        set[i].used = ++signatures->clock;
        return &set[i];
    }
    return NULL;
}

static void put_locked(struct signatures *signatures, const uint8_t hash[static HASH_BYTES],
                       enum td_data_class data_class)
{
    struct known *found = find_locked(signatures, hash), *set = set_of(signatures, hash);
    if (found) {
        if (data_class > found->data_class)
            found->data_class = data_class;
        return;
    }
    found = set;
    for (size_t i = 1; i < WAYS; i++)
        if (set[i].used < found->used)
            found = &set[i];
    *found = (struct known){.used = ++signatures->clock, .data_class = data_class};
    memcpy(found->hash, hash, HASH_BYTES);
}

/* --- answers --- */

struct note {
    struct signatures *signatures;
    const char *caller;
    enum td_data_class sent;
};

static void take_answered(void *ctx, struct td_str text)
{
    const struct note *note = ctx;
    uint8_t hash[HASH_BYTES];
    if (!hash_text(note->signatures, note->caller, text, hash))
        return;
    pthread_mutex_lock(&note->signatures->mutex);
    put_locked(note->signatures, hash, note->sent);
    pthread_mutex_unlock(&note->signatures->mutex);
}

void signatures_note(struct signatures *signatures, const char *caller, enum td_data_class sent,
                     const struct json *raw_delta)
{
    struct note note = {signatures, caller, sent};
    if (signatures && raw_delta)
        walk(raw_delta, 0, take_answered, &note);
}

/* --- requests --- */

struct search {
    struct signatures *signatures;
    struct td_request *request;
    struct td_str *found; /* [FOUND_MAX], NULL = nothing yet */
    size_t count;
};

static void take_asked(void *ctx, struct td_str text)
{
    struct search *search = ctx;
    uint8_t hash[HASH_BYTES];
    if (search->count == FOUND_MAX ||
        !hash_text(search->signatures, search->request->caller, text, hash))
        return;
    pthread_mutex_lock(&search->signatures->mutex);
    const struct known *known = find_locked(search->signatures, hash);
    bool is_known = known != NULL;
    enum td_data_class data_class = known ? known->data_class : TD_CLASS_PUBLIC;
    pthread_mutex_unlock(&search->signatures->mutex);
    if (is_known && !search->found)
        search->found = calloc(FOUND_MAX, sizeof *search->found);
    if (!is_known || !search->found)
        return;
    search->found[search->count++] = text;
    if (data_class > search->request->data_class)
        search->request->data_class = data_class;
}

void signatures_find(struct signatures *signatures, struct td_request *request, struct td_str **out)
{
    ASSERT(request && out);
    struct search search = {.signatures = signatures, .request = request};
    const struct json *messages = request_value(request, REQUEST_MESSAGES);
    for (size_t i = 0; signatures && i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_ASSISTANT)
            walk(json_at(messages, i), 0, take_asked, &search);
    *out = search.found;
    request->signatures = search.found;
    request->signature_count = search.count;
}
