/* What the record of transfers costs and what it shows: a line with its head; bytes flipped and
 * ends cut off at random places, how many of them are found; and the verification of 1,000,000
 * lines. Those are written by the log's own line writer and one head is signed over them, so that
 * they take seconds to make. */
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_verify.h"
#include "row.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APPENDS 2000
#define DAYS 10
#define DAY_MS UINT64_C(86400000)
#define CHANGES 200 /* of each kind in each file */
#define ROWS 1000000
#define VERIFY_MAX_S 5

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
        entry.wall_ms += i * DAYS / APPENDS * DAY_MS;
        if (egress_log_append(log, &entry, &err) != TD_OK)
            fail("append", &err);
    }
    printf("egress append with signed head %8.1f us\n",
           (clock_monotonic_ms(NULL) - begin) * 1000 / APPENDS);
    egress_log_close(log);
}

static bool is_sound(const char *path)
{
    struct egress_verdict verdict;
    struct td_error err = {0};
    if (egress_verify(path, NULL, &verdict, &err) != TD_OK)
        fail("verify", &err);
    return verdict.sound;
}

static void put(int fd, const char *data, size_t len, size_t at)
{
    struct td_error err = {.message = "the file cannot be written"};
    if (pwrite(fd, data, len, (off_t)at) != (ssize_t)len)
        fail("change", &err);
}

/* A file of the log that is changed and put right again. */
struct changed {
    const char *folder, *name;
    struct td_str whole;
    int fd;
    struct rng rng;
};

/* A byte becomes another one. */
static bool flip_is_found(struct changed *file)
{
    size_t at = rng_below(&file->rng, file->whole.len);
    char other = (char)(file->whole.data[at] ^ (char)(1 + rng_below(&file->rng, 255)));
    put(file->fd, &other, 1, at);
    bool found = !is_sound(file->folder);
    put(file->fd, file->whole.data + at, 1, at);
    return found;
}

static bool cut_is_found(struct changed *file, size_t at)
{
    struct td_error err = {.message = "the file cannot be cut"};
    if (ftruncate(file->fd, (off_t)at) != 0)
        fail("change", &err);
    bool found = !is_sound(file->folder);
    put(file->fd, file->whole.data + at, file->whole.len - at, at);
    return found;
}

static bool cut_anywhere_is_found(struct changed *file)
{
    return cut_is_found(file, rng_below(&file->rng, file->whole.len));
}

/* Where what is left looks whole. */
static bool cut_between_lines_is_found(struct changed *file)
{
    size_t at = rng_below(&file->rng, file->whole.len);
    while (at > 0 && file->whole.data[at - 1] != '\n')
        at--;
    return cut_is_found(file, at);
}

static void count_found(struct changed *file, const char *what,
                        bool (*is_found)(struct changed *file))
{
    char row[96], figure[32];
    int found = 0;
    for (int i = 0; i < CHANGES; i++)
        found += is_found(file);
    snprintf(row, sizeof row, "%s, %s: found", file->name, what);
    snprintf(figure, sizeof figure, "%d of %d", found, CHANGES);
    row_print(row, figure, "all", found == CHANGES);
}

static void measure_changes(const char *folder, const char *name)
{
    char path[96];
    struct buf whole;
    struct td_error err = {.message = "it is not there"};
    buf_init(&whole, 64u << 20);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct changed file = {.folder = folder, .name = name, .fd = open(path, O_RDWR)};
    if (file.fd < 0 || buf_read_file(&whole, path, &err) != TD_OK)
        fail(path, &err);
    file.whole = buf_view(&whole);
    rng_init(&file.rng, 1);
    count_found(&file, "a byte changed", flip_is_found);
    count_found(&file, "cut anywhere", cut_anywhere_is_found);
    count_found(&file, "cut between two lines", cut_between_lines_is_found);
    close(file.fd);
    buf_deinit(&whole);
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
    struct egress_head head = {.date = "2026-11-22", .chain = chain, .next = EGRESS_NO_HASH};
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

/* Seconds. */
static double verify_million(const char *path)
{
    struct egress_verdict verdict;
    struct td_error err = {0};
    double begin = clock_monotonic_ms(NULL);
    if (egress_verify(path, NULL, &verdict, &err) != TD_OK)
        fail("verify", &err);
    if (!verdict.sound || verdict.entry_count != ROWS)
        fail("verify", &(struct td_error){.message = "rows that are sound were not found so"});
    return (clock_monotonic_ms(NULL) - begin) / 1000;
}

int main(void)
{
    char folder[] = "/tmp/tandem-bench-egress-XXXXXX", path[64], command[64];
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/log", folder);
    measure_appends(path);
    measure_changes(path, "entries.jsonl");
    measure_changes(path, "heads.jsonl");
    snprintf(path, sizeof path, "%s/million.jsonl", folder);
    write_million(path);
    row_print_most("1,000,000 rows verified", verify_million(path), "s", VERIFY_MAX_S);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}
