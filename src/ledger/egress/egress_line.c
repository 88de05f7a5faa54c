/* Writes and reads the lines of the egress log. Lines are written by hand and their chained members
 * read by position, because hash and signature cover the bytes as they stand: a JSON library that
 * orders or escapes differently would break the chain. */
#include "ledger/egress/egress_line.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <stdio.h>

#define PREVIOUS ",\"previous\":\""
#define HASH ",\"hash\":\""
#define SIGNATURE ",\"signature\":\""
#define SEQ "{\"seq\":"
/* The bytes after the hashed ones: the hash and the end of the object. */
#define TAIL_BYTES (sizeof HASH - 1 + EGRESS_HASH_HEX + 2)

static void put_text(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ",\"%s\":", name);
    if (text)
        json_write_text(str_from(text), out);
    else
        buf_append_str(out, STR("null"));
}

static void put_certified(struct buf *out, const char *const *certified)
{
    buf_append_str(out, STR(",\"certified\":["));
    for (size_t i = 0; certified && certified[i]; i++) {
        if (i)
            buf_append_char(out, ',');
        json_write_text(str_from(certified[i]), out);
    }
    buf_append_char(out, ']');
}

static void put_replaced(struct buf *out, const struct egress_entry *entry)
{
    buf_append_str(out, STR(",\"replaced\":{"));
    for (size_t i = 0; i < entry->replaced_count; i++) {
        if (i)
            buf_append_char(out, ',');
        json_write_text(str_from(entry->replaced[i].type), out);
        buf_printf(out, ":%u", entry->replaced[i].count);
    }
    buf_append_char(out, '}');
}

static void hash_hex(struct td_str bytes, char out[EGRESS_HASH_HEX + 1])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(bytes.data, bytes.len, digest);
    crypto_hex(digest, sizeof digest, out);
}

enum td_status egress_line_write(const struct egress_entry *entry, struct egress_chain *chain,
                                 struct buf *out, struct td_error *err)
{
    ASSERT(entry != NULL && chain != NULL && out != NULL);
    ASSERT(entry->replaced != NULL || entry->replaced_count == 0);
    if (entry->replaced_count > EGRESS_REPLACED_MAX)
        return error_set(err, TD_LIMIT,
                         "%zu types were replaced; the egress ledger holds at most %d",
                         entry->replaced_count, EGRESS_REPLACED_MAX);
    char time[25], hash[EGRESS_HASH_HEX + 1];
    size_t begin = out->len;
    clock_format_iso8601(entry->wall_ms, time);
    buf_printf(out, SEQ "%llu,\"time\":\"%s\"", (unsigned long long)chain->count + 1, time);
    put_text(out, "exchange", entry->exchange);
    put_text(out, "purpose", entry->purpose);
    put_text(out, "tier", entry->tier);
    put_text(out, "place", entry->place);
    put_text(out, "region", entry->region);
    put_certified(out, entry->certified);
    put_text(out, "host", entry->host);
    hash_hex(entry->payload, hash);
    buf_printf(out, ",\"bytes\":%zu,\"sha256\":\"%s\"", entry->payload.len, hash);
    put_text(out, "class", entry->data_class);
    put_replaced(out, entry);
    buf_printf(out, PREVIOUS "%s\"", chain->hash);
    if (out->failed)
        return error_set(err, TD_LIMIT, "a line of the egress ledger is over %d bytes",
                         EGRESS_LINE_BYTES_MAX);
    hash_hex(str_slice(buf_view(out), begin, out->len), hash);
    buf_printf(out, HASH "%s\"}\n", hash);
    if (out->failed)
        return error_set(err, TD_LIMIT, "a line of the egress ledger is over %d bytes",
                         EGRESS_LINE_BYTES_MAX);
    chain->count++;
    memcpy(chain->hash, hash, sizeof hash);
    return TD_OK;
}

static bool is_hex(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (ascii_is_upper(text.data[i]) || !ascii_is_hex(text.data[i]))
            return false;
    return true;
}

/* Reads the digits after `prefix`, which must begin the line and be followed by a comma. */
static bool read_count(struct td_str line, struct td_str prefix, uint64_t *out)
{
    if (!str_starts_with(line, prefix))
        return false;
    size_t end = str_find(str_slice(line, 0, prefix.len + 21), STR(","), prefix.len);
    return end != SIZE_MAX && str_to_u64(str_slice(line, prefix.len, end), out);
}

bool egress_line_read(struct td_str line, struct egress_chain *out)
{
    if (line.len < sizeof SEQ + TAIL_BYTES || !read_count(line, STR(SEQ), &out->count) ||
        !str_ends_with(line, STR("\"}")))
        return false;
    struct td_str tail = str_slice(line, line.len - TAIL_BYTES, line.len);
    struct td_str hash = str_slice(tail, sizeof HASH - 1, sizeof HASH - 1 + EGRESS_HASH_HEX);
    if (!str_starts_with(tail, STR(HASH)) || !is_hex(hash))
        return false;
    memcpy(out->hash, hash.data, hash.len);
    out->hash[hash.len] = '\0';
    return true;
}

/* The `previous` member of a line; {NULL, 0} when it has none. */
static struct td_str previous_of(struct td_str line)
{
    const size_t needed = sizeof PREVIOUS - 1 + EGRESS_HASH_HEX + 1 + TAIL_BYTES;
    if (line.len < needed)
        return (struct td_str){NULL, 0};
    struct td_str part = str_slice(line, line.len - needed, line.len - TAIL_BYTES - 1);
    if (!str_starts_with(part, STR(PREVIOUS)))
        return (struct td_str){NULL, 0};
    return str_slice(part, sizeof PREVIOUS - 1, part.len);
}

enum td_status egress_line_follow(struct td_str line, struct egress_chain *chain,
                                  struct td_error *err)
{
    ASSERT(chain != NULL);
    struct egress_chain next;
    char hash[EGRESS_HASH_HEX + 1];
    struct td_str previous = previous_of(line);
    if (!egress_line_read(line, &next) || !previous.len)
        return error_set(err, TD_CORRUPT, "it is not a line of an egress ledger");
    hash_hex(str_slice(line, 0, line.len - TAIL_BYTES), hash);
    if (strcmp(hash, next.hash) != 0)
        return error_set(err, TD_CORRUPT, "its hash does not match its bytes");
    if (next.count != chain->count + 1)
        return error_set(err, TD_CORRUPT, "it has number %llu: the lines between are missing",
                         (unsigned long long)next.count);
    if (!str_equal(previous, str_from(chain->hash)))
        return error_set(err, TD_CORRUPT, "its `previous` is not the hash of the line before it");
    *chain = next;
    return TD_OK;
}

enum td_status egress_head_sign(const struct egress_head *head, const struct crypto_signer *signer,
                                struct buf *out, struct td_error *err)
{
    uint8_t signature[CRYPTO_SIGNATURE_BYTES];
    char hex[2 * CRYPTO_SIGNATURE_BYTES + 1];
    size_t begin = out->len;
    buf_printf(out, "{\"date\":\"%s\",\"count\":%llu,\"hash\":\"%s\",\"next\":\"%s\"", head->date,
               (unsigned long long)head->chain.count, head->chain.hash, head->next);
    if (head->pending[0])
        buf_printf(out, ",\"pending\":\"%s\"", head->pending);
    buf_printf(out, ",\"key\":\"%s\"", head->key);
    enum td_status status =
        out->failed
            ? error_set(err, TD_NO_MEMORY, "no memory for a head of the egress ledger")
            : crypto_signer_sign(signer, str_slice(buf_view(out), begin, out->len), signature, err);
    if (status != TD_OK)
        return status;
    crypto_hex(signature, sizeof signature, hex);
    buf_printf(out, SIGNATURE "%s\"}\n", hex);
    return out->failed ? error_set(err, TD_NO_MEMORY, "no memory for a head of the egress ledger")
                       : TD_OK;
}

enum td_status egress_head_write(const struct egress_head *head,
                                 const uint8_t seed[static CRYPTO_SIGN_KEY_BYTES], struct buf *out,
                                 struct td_error *err)
{
    struct crypto_signer *signer;
    enum td_status status = crypto_signer_new(seed, &signer, err);
    if (status == TD_OK)
        status = egress_head_sign(head, signer, out, err);
    crypto_signer_free(signer);
    return status;
}

static bool copy_hex(const struct json *value, char *out, size_t digits)
{
    struct td_str text = json_text(value);
    if (text.len != digits || !is_hex(text))
        return false;
    memcpy(out, text.data, digits);
    out[digits] = '\0';
    return true;
}

static bool is_date(struct td_str text)
{
    if (text.len != EGRESS_DATE_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (i == 4 || i == 7 ? text.data[i] != '-' : !ascii_is_digit(text.data[i]))
            return false;
    return true;
}

static bool fill_head(const struct json *root, struct egress_head *out)
{
    struct td_str date = json_text(json_get(root, "date"));
    int64_t count = json_int(json_get(root, "count"), -1);
    *out = (struct egress_head){0};
    if (!is_date(date) || count < 0)
        return false;
    memcpy(out->date, date.data, date.len);
    out->chain.count = (uint64_t)count;
    const struct json *pending = json_get(root, "pending");
    if (pending && !copy_hex(pending, out->pending, EGRESS_HASH_HEX))
        return false;
    return copy_hex(json_get(root, "hash"), out->chain.hash, EGRESS_HASH_HEX) &&
           copy_hex(json_get(root, "next"), out->next, EGRESS_HASH_HEX) &&
           copy_hex(json_get(root, "key"), out->key, sizeof out->key - 1);
}

/* The signature must end the line, so that nothing in a head is unsigned. */
static bool read_signature(struct td_str line, size_t at, uint8_t out[CRYPTO_SIGNATURE_BYTES])
{
    struct td_str rest = str_slice(line, at + sizeof SIGNATURE - 1, line.len);
    return str_ends_with(rest, STR("\"}")) &&
           crypto_unhex(str_slice(rest, 0, rest.len - 2), out, CRYPTO_SIGNATURE_BYTES);
}

enum td_status egress_head_read(struct td_str line, struct egress_head *out, struct td_error *err)
{
    struct json *root = NULL;
    uint8_t key[CRYPTO_SIGN_KEY_BYTES], signature[CRYPTO_SIGNATURE_BYTES];
    size_t signed_bytes = str_find(line, STR(SIGNATURE), 0);
    if (signed_bytes == SIZE_MAX || !read_signature(line, signed_bytes, signature) ||
        json_parse(line, &root, NULL) != TD_OK || !fill_head(root, out)) {
        json_free(root);
        return error_set(err, TD_CORRUPT, "it is not a head of an egress ledger");
    }
    json_free(root);
    if (!crypto_unhex(str_from(out->key), key, sizeof key) ||
        !crypto_sign_verify(key, str_slice(line, 0, signed_bytes), signature))
        return error_set(err, TD_CORRUPT, "the head of %s has a signature that is not its key's",
                         out->date);
    return TD_OK;
}

uint64_t egress_head_rows(const struct egress_head *head)
{
    bool announces = strcmp(head->next, EGRESS_NO_HASH) != 0;
    return head->chain.count + (announces && head->pending[0]);
}

enum egress_end egress_head_compare(const struct egress_head *head,
                                    const struct egress_chain *chain, const char *pending)
{
    bool announces = strcmp(head->next, EGRESS_NO_HASH) != 0;
    bool may_miss = !head->pending[0] || strcmp(head->pending, pending) == 0;
    if (chain->count < head->chain.count)
        return EGRESS_END_CUT;
    if (chain->count == head->chain.count && strcmp(chain->hash, head->chain.hash) == 0)
        return !announces ? EGRESS_END_SIGNED : may_miss ? EGRESS_END_UNWRITTEN : EGRESS_END_CUT;
    if (chain->count == head->chain.count + 1 && announces && strcmp(chain->hash, head->next) == 0)
        return EGRESS_END_UNSIGNED;
    return EGRESS_END_FORGED;
}
