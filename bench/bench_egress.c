/* What the record of transfers costs: a line with its head, and the verification of 1,000,000 lines.
 * The lines are written by the log's own line writer and one head is signed over them, so that a
 * million of them take seconds to make. */
#include "base/clock.h"
#include "ledger/egress_line.h"
#include "ledger/egress_read.h"

#include <stdio.h>
#include <stdlib.h>

#define APPENDS 2000
#define ROWS 1000000

static struct egress_entry entry_of(uint64_t number)
{
    return (struct egress_entry){.wall_ms = 1795000000000ull + number,
                                 .exchange = "ex_0123456789abcdef01234567",
                                 .purpose = "attempt",
                                 .tier = "cloud",
                                 .place = "cloud",
                                 .host = "api.example.com:443",
                                 .data_class = "public",
                                 .payload = {"{\"model\":\"x\"}", 13}};
}

static void fail(const char *what, const struct td_error *err)
{
    fprintf(stderr, "bench_egress: %s: %s\n", what, err->message);
    exit(1);
}

static void measure_appends(const char *folder)
{
    struct egress_log *log = NULL;
    struct td_error err = {0};
    if (egress_log_open(folder, &log, &err) != TD_OK)
        fail("open", &err);
    double begin = clock_monotonic_ms(NULL);
    for (uint64_t i = 0; i < APPENDS; i++) {
        struct egress_entry entry = entry_of(i);
        if (egress_log_append(log, &entry, &err) != TD_OK)
            fail("append", &err);
    }
    printf("egress append with signed head %8.1f us\n",
           (clock_monotonic_ms(NULL) - begin) * 1000 / APPENDS);
    egress_log_close(log);
}

static void write_million(const char *path)
{
    struct td_error err = {0};
    struct egress_chain chain = {0, EGRESS_NO_HASH};
    struct buf line;
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {1}, public_key[CRYPTO_SIGN_KEY_BYTES];
    char entries[512];
    snprintf(entries, sizeof entries, "%s.entries", path);
    FILE *out = fopen(entries, "wb");
    if (!out)
        fail("cannot write", &err);
    buf_init(&line, EGRESS_LINE_BYTES_MAX);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct egress_entry entry = entry_of(i);
        buf_clear(&line);
        if (egress_line_write(&entry, &chain, &line, &err) != TD_OK)
            fail("line", &err);
        fwrite(line.data, 1, line.len, out);
    }
    fclose(out);
    struct egress_head head = {.date = "2026-11-22", .chain = chain};
    buf_clear(&line);
    if (crypto_sign_public(seed, public_key, &err) != TD_OK)
        fail("key", &err);
    crypto_hex(public_key, sizeof public_key, head.key);
    if (egress_head_write(&head, seed, &line, &err) != TD_OK)
        fail("head", &err);
    out = fopen(path, "wb");
    if (!out)
        fail("cannot write", &err);
    fwrite(line.data, 1, line.len, out);
    fclose(out);
    buf_deinit(&line);
    char command[1200];
    snprintf(command, sizeof command, "cat %s >> %s && rm %s", entries, path, entries);
    if (system(command) != 0)
        fail("cannot join the files", &err);
}

int main(void)
{
    char folder[] = "/tmp/tandem-bench-egress-XXXXXX", path[64], command[64];
    struct egress_verdict verdict;
    struct td_error err = {0};
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/log", folder);
    measure_appends(path);
    snprintf(path, sizeof path, "%s/million.jsonl", folder);
    write_million(path);
    double begin = clock_monotonic_ms(NULL);
    if (egress_verify(path, NULL, &verdict, &err) != TD_OK)
        fail("verify", &err);
    double ms = clock_monotonic_ms(NULL) - begin;
    printf("egress verify %llu rows %s  %.2f s\n", (unsigned long long)verdict.entry_count,
           verdict.sound ? "sound" : verdict.problem, ms / 1000);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || !verdict.sound;
}
