/* Egress logs to look at: their lines, heads and files. */
#ifndef TESTS_EGRESS_FIXTURE_H
#define TESTS_EGRESS_FIXTURE_H

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_log.h"
#include "ledger/egress/egress_verify.h"
#include "ledger_fixture.h"

#define DAY_MS 86400000ull
#define START_MS 1795000000000ull

static inline struct egress_entry entry_of(uint64_t number)
{
    static const struct egress_replaced replaced[] = {{"PERSON", 2}, {"EMAIL_ADDRESS", 1}};
    return (struct egress_entry){.wall_ms = START_MS + number * 1000,
                                 .exchange = "ex_0123456789abcdef01234567",
                                 .purpose = "attempt",
                                 .tier = "cloud \"quoted\"",
                                 .place = "cloud",
                                 .host = "api.example.com:443",
                                 .data_class = "public",
                                 .payload = STR("{\"messages\":[]}"),
                                 .replaced = replaced,
                                 .replaced_count = 2};
}

/* Makes a folder with `count` transfers; a new day begins after each `a_day`. */
static inline const char *make_log(const char *name, uint64_t count, uint64_t a_day)
{
    struct egress_log *log = NULL;
    const char *folder = fixture_path(name);
    CHECK(egress_log_open(folder, &log, NULL) == TD_OK);
    for (uint64_t i = 0; log && i < count; i++) {
        struct egress_entry entry = entry_of(i);
        entry.wall_ms += i / a_day * DAY_MS;
        CHECK(egress_log_append(log, &entry, NULL) == TD_OK);
    }
    egress_log_close(log);
    return folder;
}

static inline const char *file_in(const char *folder, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline struct buf read_whole(const char *path)
{
    struct buf bytes;
    buf_init(&bytes, 1u << 24);
    CHECK(buf_read_file(&bytes, path, NULL) == TD_OK);
    return bytes;
}

static inline void write_whole(const char *path, struct td_str bytes)
{
    FILE *file = fopen(path, "wb");
    bool written = file && (bytes.len == 0 || fwrite(bytes.data, 1, bytes.len, file) == bytes.len);
    CHECK(written && fclose(file) == 0);
}

static inline bool opens(const char *folder)
{
    struct egress_log *log = NULL;
    struct td_error err = {0};
    enum td_status status = egress_log_open(folder, &log, &err);
    egress_log_close(log);
    CHECK(status == TD_OK || (status == TD_CORRUPT && strstr(err.message, "move the folder away")));
    return status == TD_OK;
}

static inline size_t line_at(const struct buf *bytes, size_t number)
{
    size_t at = 0;
    while (--number)
        at = str_find(buf_view(bytes), STR("\n"), at) + 1;
    return at;
}

/* Signs a head with the log's own key, which a forger does not have. */
static inline struct td_str sign_head(const char *folder, const struct egress_head *given,
                                      struct buf *out)
{
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES], public_key[CRYPTO_SIGN_KEY_BYTES];
    struct buf hex = read_whole(file_in(folder, "key"));
    struct egress_head head = *given;
    CHECK(crypto_unhex(str_slice(buf_view(&hex), 0, EGRESS_KEY_HEX), seed, sizeof seed) &&
          crypto_sign_public(seed, public_key, NULL) == TD_OK);
    crypto_hex(public_key, sizeof public_key, head.key);
    size_t begin = out->len;
    CHECK(egress_head_write(&head, seed, out, NULL) == TD_OK);
    buf_deinit(&hex);
    return str_slice(buf_view(out), begin, out->len);
}

static inline struct egress_head head_at(const struct buf *heads, size_t number)
{
    struct egress_head head = {0};
    size_t at = line_at(heads, number);
    size_t end = str_find(buf_view(heads), STR("\n"), at);
    CHECK(egress_head_read(str_slice(buf_view(heads), at, end), &head, NULL) == TD_OK);
    return head;
}

#endif
