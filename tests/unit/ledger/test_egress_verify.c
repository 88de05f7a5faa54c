/* Exported egress logs that somebody made: every hash and every signature in them is right, because
 * a forger makes them anew. What is found is what does not belong together. */
#include "egress_fixture.h"

enum { ROWS = 6 };

/* The honest chain, and one of the same length that says something else. */
static struct egress_chain honest[ROWS + 2], other[ROWS + 2];
static struct buf honest_rows, other_rows;

static void make_rows(struct egress_chain chain[static ROWS + 2], struct buf *rows, uint64_t from)
{
    chain[0] = (struct egress_chain){0, EGRESS_NO_HASH};
    buf_init(rows, 1u << 20);
    for (size_t i = 0; i <= ROWS; i++) {
        struct egress_entry entry = entry_of(from + i);
        chain[i + 1] = chain[i];
        CHECK(egress_line_write(&entry, &chain[i + 1], rows, NULL) == TD_OK);
    }
}

static void key_of(char owner, uint8_t seed[static CRYPTO_SIGN_KEY_BYTES],
                   char hex[static EGRESS_KEY_HEX + 1])
{
    uint8_t public_key[CRYPTO_SIGN_KEY_BYTES];
    memset(seed, owner, CRYPTO_SIGN_KEY_BYTES);
    CHECK(crypto_sign_public(seed, public_key, NULL) == TD_OK);
    crypto_hex(public_key, sizeof public_key, hex);
}

/* A head in four characters: its day, how many rows it counts, what it says (h: the honest chain,
 * and no line is announced; n: it announces the honest next one; o: the other chain; x: it
 * announces the other next one), and who signs. */
static void put_head(struct buf *out, const char *what)
{
    const int count = what[1] - '0';
    struct egress_head head = {.next = EGRESS_NO_HASH};
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES];
    snprintf(head.date, sizeof head.date, "2026-11-0%c", what[0]);
    head.chain = what[2] == 'o' ? other[count] : honest[count];
    if (what[2] == 'n' || what[2] == 'x')
        memcpy(head.next, (what[2] == 'n' ? honest : other)[count + 1].hash, sizeof head.next);
    key_of(what[3], seed, head.key);
    CHECK(egress_head_write(&head, seed, out, NULL) == TD_OK);
}

static void put_heads(struct buf *out, const char *what)
{
    for (; *what; what += what[4] ? 5 : 4)
        put_head(out, what);
}

static void put_rows(struct buf *out, const char *what)
{
    uint64_t count = (uint64_t)(what[0] - '0');
    const struct buf *rows = what[1] == 'o' ? &other_rows : &honest_rows;
    if (count > 0)
        buf_append_str(out, str_slice(buf_view(rows), 0, line_at(rows, count + 1)));
    buf_append_str(out, str_from(what + 2)); /* what comes after them */
}

static const char *public_key_line(char owner)
{
    static char line[EGRESS_KEY_HEX + 32];
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES];
    char hex[EGRESS_KEY_HEX + 1];
    key_of(owner, seed, hex);
    snprintf(line, sizeof line, "{\"public_key\":\"%s\"}\n", hex);
    return line;
}

static void test_what_does_not_belong_together_is_found(void)
{
    static const struct {
        char key;                 /* whose public key it names; 0 = none */
        const char *heads, *rows; /* as above */
        char kept_key;
        const char *kept;    /* heads kept elsewhere */
        const char *problem; /* NULL = it is sound */
        uint64_t bad_row;
        int left; /* -1: one row was announced and not written, 1: one is not signed yet */
    } cases[] = {
        {'A', "12hA 25hA", "5h", 0, "", NULL, 0, 0},
        {0, "12hA 25hA", "5h", 0, "", NULL, 0, 0},
        {'A', "12hA 25hA", "5h", 'A', "12hA 25hA", NULL, 0, 0},
        {'A', "", "0h", 0, "", NULL, 0, 0},
        {'A', "10hA", "0h", 0, "", NULL, 0, 0},
        {'A', "12hA 22hA 35hA", "5h", 0, "", NULL, 0, 0}, /* a day without transfers */
        /* How it ends. */
        {'A', "12hA 25nA", "6h", 0, "", NULL, 0, 1},
        {'A', "12hA 25nA", "5h", 0, "", NULL, 0, -1},
        {'A', "10nA", "0h", 0, "", NULL, 0, -1},
        {'A', "10nA", "1h", 0, "", NULL, 0, 1},
        {'A', "12hA 25hA", "6h", 0, "", "no signed head covers", 6, 0},
        {'A', "12hA 24nA", "6h", 0, "", "no signed head covers", 5, 0},
        {'A', "12hA 25xA", "6h", 0, "", "no signed head covers", 6, 0},
        {'A', "", "1h", 0, "", "no signed head covers", 1, 0},
        {'A', "10xA", "1h", 0, "", "no signed head covers", 1, 0},
        {'A', "12hA 25hA", "4h", 0, "", "it is missing", 5, 0},
        {'A', "12hA 25hA", "1h", 0, "", "it is missing", 2, 0},
        {'A', "12hA 25hA", "0h", 0, "", "it is missing", 1, 0},
        {'A', "12hA 25nA", "4h", 0, "", "it is missing", 5, 0},
        /* Heads over another chain, and the other chain under the heads. */
        {'A', "12oA 25hA", "5h", 0, "", "the head of 2026-11-01 signed", 2, 0},
        {'A', "12hA 25oA", "5h", 0, "", "the head of 2026-11-02 signed", 5, 0},
        {'A', "12hA 25hA", "5o", 0, "", "the head of 2026-11-01 signed", 2, 0},
        {'A', "12oA 25oA", "5h", 0, "", "signed", 2, 0},
        /* Heads out of order. */
        {'A', "12hA 15hA", "5h", 0, "", "does not continue", 0, 0},
        {'A', "22hA 15hA", "5h", 0, "", "does not continue", 0, 0},
        {'A', "12hA 25hA 34hA", "5h", 0, "", "does not continue", 0, 0},
        {'A', "15hA 25hA 32hA", "5h", 0, "", "head 3", 0, 0},
        /* Keys. */
        {'B', "12hA 25hA", "5h", 0, "", "another key", 0, 0},
        {'B', "12hB 25hA", "5h", 0, "", "another key", 0, 0},
        {0, "12hA 25hB", "5h", 0, "", "another key", 0, 0},
        {'A', "12hA 25hA", "5h", 'B', "", "not the expected one", 0, 0},
        {0, "12hA 25hA", "5h", 'B', "", "was signed by", 0, 0},
        {0, "", "0h", 'B', "", NULL, 0, 0},
        {'A', "12hA 25hA", "5h", 0, "12hB", "not the expected one", 0, 0},
        {0, "12hA 25hA", "5h", 0, "12hB", "was signed by", 0, 0},
        {'A', "12hA 25hA", "5h", 'A', "12hB", "another key", 0, 0},
        {'A', "12hA 25hA", "5h", 0, "12hA 25hB", "another key", 0, 0},
        /* Heads kept elsewhere: each row that they count is there, as it was. */
        {'A', "12hA 25hA", "5h", 0, "11hA", NULL, 0, 0},
        {'A', "12hA 25hA", "5h", 0, "13hA 13hA 14hA", NULL, 0, 0}, /* several of a day */
        {'A', "12hA 25hA", "5h", 0, "14nA 25hA", NULL, 0, 0},
        {'A', "12hA 25hA", "5h", 0, "13oA", "the kept head of 2026-11-01 signed", 3, 0},
        {'A', "12hA 25hA", "5h", 0, "11hA 25oA", "the kept head of 2026-11-02 signed", 5, 0},
        {'A', "12hA 25hA", "5h", 0, "11hA 26hA", "the kept head of 2026-11-02 counts 6", 6, 0},
        {'A', "12hA", "2h", 0, "14hA 26hA", "the kept head of 2026-11-01 counts 4", 3, 0},
        {'A', "", "0h", 0, "11hA", "the kept head", 1, 0},
        {'A', "12hA 25hA", "5h", 0, "14hA 13hA", "kept head 2: it counts fewer", 0, 0},
        /* Lines that are none of it. */
        {'A', "12hA 25hA", "5h\n", 0, "", "not a line", 6, 0},
        {'A', "12hA 25hA", "5hnote\n", 0, "", "not a line", 6, 0},
        {'A', "12hA 25hA", "3hnote\n", 0, "", "not a line", 4, 0},
        {'A', "12hA 25hA", "5h{\"seq\":6", 0, "", "has no end", 6, 0},
        {'A', "12hA 25hA", "5h{\"seq\":6}\n", 0, "", "not a line", 6, 0},
        {'A', "12hA 25hA", "0hnote\n", 0, "", "not a line", 1, 0},
        {'A', "12hA 25hA", "5h{\"date\":\"2026-11-03\"}\n", 0, "", "not a head", 0, 0},
        {'A', "", "0h{\"public_key\":\"12\"}\n", 0, "", "64 hex digits", 0, 0},
        {'A', "", "0h{\"public_key\":\"12\",}\n", 0, "", "not a line", 1, 0},
    };
    const char *path = fixture_path("made.jsonl");
    make_rows(honest, &honest_rows, 0);
    make_rows(other, &other_rows, 100);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf file, kept_heads;
        uint8_t seed[CRYPTO_SIGN_KEY_BYTES];
        char kept_key[EGRESS_KEY_HEX + 1];
        struct egress_verdict verdict;
        buf_init(&file, 1u << 20);
        buf_init(&kept_heads, 1u << 20);
        if (cases[i].key)
            buf_append_str(&file, str_from(public_key_line(cases[i].key)));
        put_heads(&file, cases[i].heads);
        put_rows(&file, cases[i].rows);
        put_heads(&kept_heads, cases[i].kept);
        write_whole(path, buf_view(&file));
        key_of(cases[i].kept_key, seed, kept_key);
        const struct egress_kept kept = {cases[i].kept_key ? kept_key : NULL,
                                         buf_view(&kept_heads)};
        CHECK(egress_verify(path, &kept, &verdict, NULL) == TD_OK);
        bool right =
            verdict.sound == !cases[i].problem && verdict.bad_row == cases[i].bad_row &&
            (verdict.sound ? !verdict.problem[0] : !!strstr(verdict.problem, cases[i].problem)) &&
            verdict.unsigned_rows == (cases[i].left > 0) &&
            verdict.unwritten_rows == (cases[i].left < 0);
        if (!right)
            printf("case %zu: row %d: %s\n", i, (int)verdict.bad_row, verdict.problem);
        CHECK(right);
        if (verdict.sound) {
            CHECK(verdict.entry_count == (uint64_t)(cases[i].rows[0] - '0'));
            CHECK(verdict.head_count == (strlen(cases[i].heads) + 1) / 5);
        } else if (verdict.bad_row > 0) {
            CHECK(strncmp(verdict.problem, "row ", 4) == 0);
        }
        buf_deinit(&file);
        buf_deinit(&kept_heads);
    }
    buf_deinit(&honest_rows);
    buf_deinit(&other_rows);
}

/* More heads than are made room for at first, and more rows than are read at once. */
static void test_a_log_of_years_is_read_whole(void)
{
    enum { DAYS = 300, A_DAY = 10 };
    const char *path = fixture_path("years.jsonl");
    struct egress_chain chain = {0, EGRESS_NO_HASH};
    struct egress_verdict verdict;
    struct buf heads, rows;
    uint8_t seed[CRYPTO_SIGN_KEY_BYTES];
    buf_init(&heads, 1u << 24);
    buf_init(&rows, 1u << 24);
    for (unsigned day = 0; day < DAYS; day++) {
        struct egress_head head = {.next = EGRESS_NO_HASH};
        for (unsigned i = 0; i < A_DAY; i++) {
            struct egress_entry entry = entry_of(chain.count);
            CHECK(egress_line_write(&entry, &chain, &rows, NULL) == TD_OK);
        }
        snprintf(head.date, sizeof head.date, "2%03u-01-01", day);
        key_of('A', seed, head.key);
        head.chain = chain;
        CHECK(egress_head_write(&head, seed, &heads, NULL) == TD_OK);
    }
    CHECK(rows.len > 1u << 20); /* what is read at once */
    buf_append_str(&heads, buf_view(&rows));
    write_whole(path, buf_view(&heads));
    CHECK(egress_verify(path, NULL, &verdict, NULL) == TD_OK && verdict.sound);
    CHECK(verdict.entry_count == DAYS * A_DAY && verdict.head_count == DAYS);
    heads.data[heads.len - 40] ^= 1;
    write_whole(path, buf_view(&heads));
    CHECK(egress_verify(path, NULL, &verdict, NULL) == TD_OK && !verdict.sound);
    CHECK(verdict.bad_row == DAYS * A_DAY);
    buf_deinit(&heads);
    buf_deinit(&rows);
}

int main(void)
{
    fixture_begin();
    RUN(test_what_does_not_belong_together_is_found);
    RUN(test_a_log_of_years_is_read_whole);
    fixture_end();
    return test_finish();
}
