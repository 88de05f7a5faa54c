/* An egress ledger, from any bytes: a line that follows must also be read, nothing that was not
 * signed is a head, and a head says in one way only how the lines before it end. Then the bytes as
 * an exported file: as they are, where any row would be somebody's signature forged; and with every
 * row's hash and every head's signature put right, so that what lies behind them is reached. In a
 * file that is sound then, no byte can be another one, and no last row can be missing that a head
 * covers. */
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS_MAX 64
#define TAIL STR(",\"previous\":\"")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {1};
static char key[EGRESS_KEY_HEX + 1];

static void read_lines(struct td_str bytes)
{
    struct td_str line;
    struct egress_chain chain = {0, EGRESS_NO_HASH}, read;
    struct egress_head head;
    while (str_next(&bytes, '\n', &line)) {
        if (egress_line_follow(line, &chain, NULL) == TD_OK &&
            (!egress_line_read(line, &read) || read.count != chain.count))
            abort();
        if (egress_head_read(line, &head, NULL) != TD_OK)
            continue;
        enum egress_end end = egress_head_compare(&head, &chain, head.pending);
        if (!head.date[0] || line.data[line.len - 1] != '}' ||
            (end == EGRESS_END_CUT) != (chain.count < head.chain.count) ||
            (end != EGRESS_END_CUT && end != EGRESS_END_FORGED &&
             chain.count > head.chain.count + 1))
            abort();
    }
}

static void hash_hex(struct td_str bytes, char out[EGRESS_HASH_HEX + 1])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(bytes.data, bytes.len, digest);
    crypto_hex(digest, sizeof digest, out);
}

/* The row with the hashes that it must have, which become chain's. */
static void seal_row(struct td_str line, struct egress_chain *chain, struct buf *out)
{
    size_t begin = out->len, body = str_find(line, TAIL, 0);
    buf_append_str(out, str_slice(line, 0, body));
    buf_printf(out, ",\"previous\":\"%s\"", chain->hash);
    hash_hex(str_slice(buf_view(out), begin, out->len), chain->hash);
    buf_printf(out, ",\"hash\":\"%s\"}\n", chain->hash);
    chain->count++;
}

/* A head with the line's date, over the row that its count names by one digit. Where its date ends
 * in an odd digit it announces the row behind, or one that is not there. */
static void seal_head(struct td_str line, const struct egress_chain *after, size_t rows,
                      struct buf *out)
{
    const struct td_str date = STR("{\"date\":\""), count = STR("\"count\":");
    struct egress_head head = {0};
    struct td_str day = str_slice(line, date.len, date.len + EGRESS_DATE_BYTES);
    size_t at = str_find(line, count, 0);
    if (rows == 0 || at == SIZE_MAX || at + count.len >= line.len)
        return;
    memcpy(head.date, day.data, day.len);
    size_t row = (unsigned char)(line.data[at + count.len] - '1') % rows;
    head.chain = after[row];
    memcpy(head.next,
           day.data[day.len - 1] % 2 == 0 ? EGRESS_NO_HASH : after[(row + 1) % rows].hash,
           sizeof head.next);
    memcpy(head.key, key, sizeof key);
    if (egress_head_write(&head, seed, out, NULL) != TD_OK)
        abort();
}

static bool is_head(struct td_str line)
{
    return str_starts_with(line, STR("{\"date\":"));
}

/* The same lines in the same order, put right. */
static void seal(struct td_str bytes, struct buf *out)
{
    static struct egress_chain after[ROWS_MAX];
    struct egress_chain chain = {0, EGRESS_NO_HASH};
    struct td_str line, rest = bytes;
    struct buf rows;
    size_t count = 0;
    buf_init(&rows, 1u << 20);
    while (str_next(&rest, '\n', &line) && count < ROWS_MAX)
        if (egress_is_entry(line)) {
            seal_row(line, &chain, &rows);
            after[count++] = chain;
        }
    struct td_str sealed, all = buf_view(&rows);
    for (size_t row = 0; str_next(&bytes, '\n', &line);) {
        if (is_head(line)) {
            seal_head(line, after, count, out);
        } else if (!egress_is_entry(line)) {
            buf_append_str(out, line);
            buf_append_char(out, '\n');
        } else if (row++ < count && str_next(&all, '\n', &sealed)) {
            buf_append_str(out, sealed);
            buf_append_char(out, '\n');
        }
    }
    buf_deinit(&rows);
}

static bool is_sound(struct td_str bytes, struct egress_verdict *verdict)
{
    char path[64];
    struct td_error err = {0};
    snprintf(path, sizeof path, "/dev/shm/fuzz_egress_%d", (int)getpid());
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes.data, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
        abort();
    const struct egress_kept kept = {.key = key};
    enum td_status status = egress_verify(path, &kept, verdict, &err);
    unlink(path);
    if (status != TD_OK ? !*err.message : !verdict->sound && !*verdict->problem)
        abort();
    return status == TD_OK && verdict->sound;
}

/* Another byte at a place that the input chooses, and an end without its last row if a head covers
 * it. */
static void change(struct buf *file, uint64_t chosen, uint64_t unsigned_rows)
{
    size_t at = (size_t)(chosen % file->len), end = file->len - 1;
    char kept = file->data[at];
    struct egress_verdict verdict;
    file->data[at] = (char)(kept ^ (char)(1 + (chosen >> 32) % 255));
    if (is_sound(buf_view(file), &verdict))
        abort();
    file->data[at] = kept;
    while (end > 0 && file->data[end - 1] != '\n')
        end--;
    struct td_str last = str_slice(buf_view(file), end, file->len);
    if (egress_is_entry(last) && unsigned_rows == 0 &&
        is_sound(str_slice(buf_view(file), 0, end), &verdict))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str bytes = {(const char *)data, size};
    uint8_t public_key[CRYPTO_SIGN_KEY_BYTES];
    struct buf file;
    struct egress_verdict verdict;
    if (!key[0]) {
        if (crypto_sign_public(seed, public_key, NULL) != TD_OK)
            abort();
        crypto_hex(public_key, sizeof public_key, key);
    }
    read_lines(bytes);
    if (is_sound(bytes, &verdict) && (verdict.head_count > 0 || verdict.entry_count > 0))
        abort();
    buf_init(&file, 1u << 20);
    seal(bytes, &file);
    if (!file.failed && file.len > 0 && is_sound(buf_view(&file), &verdict))
        change(&file, hash_words64(data, size), verdict.unsigned_rows);
    buf_deinit(&file);
    return 0;
}
