/* One line of the egress log to the byte, and how the last line and the last head fit together. */
#include "egress_fixture.h"

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* The line as a reader elsewhere sees it, without its hash. */
static void check_line(const struct egress_entry *entry, const struct egress_chain *before,
                       const char *expected)
{
    struct buf line;
    struct egress_chain chain = *before;
    struct td_error err = {0};
    buf_init(&line, EGRESS_LINE_BYTES_MAX);
    REQUIRE(egress_line_write(entry, &chain, &line, &err) == TD_OK);
    const struct td_str whole = buf_view(&line);
    size_t len = strlen(expected), tail = strlen(",\"hash\":\"\"}\n") + EGRESS_HASH_HEX;
    if (whole.len != len + tail || memcmp(whole.data, expected, len) != 0)
        fprintf(stderr, "expected %s\n  got    " STR_FMT, expected, STR_ARG(whole));
    CHECK(whole.len == len + tail && memcmp(whole.data, expected, len) == 0);
    CHECK(chain.count == before->count + 1);
    CHECK(str_ends_with(str_slice(whole, 0, whole.len - 3), str_from(chain.hash)));
    struct egress_chain follower = *before;
    struct td_str without_break = str_slice(whole, 0, whole.len - 1);
    CHECK(egress_line_follow(without_break, &follower, &err) == TD_OK);
    CHECK(follower.count == chain.count && strcmp(follower.hash, chain.hash) == 0);
    CHECK(egress_line_follow(without_break, &follower, &err) == TD_CORRUPT); /* it comes once */
    buf_deinit(&line);
}

static void test_a_line_says_all_that_left_and_nulls_what_there_is_none_of(void)
{
    static const char *const certified[] = {"iso27001", "hds", NULL};
    static const struct egress_replaced replaced[] = {{"PERSON", 2}, {"EMAIL_ADDRESS", 1}};
    const struct egress_chain first = {0, EGRESS_NO_HASH};
    struct egress_chain later = {41, EGRESS_NO_HASH};
    memset(later.hash, 'a', EGRESS_HASH_HEX);
    const struct egress_entry least = {.wall_ms = 0,
                                       .purpose = "attempt",
                                       .tier = "t",
                                       .data_class = "public",
                                       .payload = STR("")};
    check_line(&least, &first,
               "{\"seq\":1,\"time\":\"1970-01-01T00:00:00.000Z\",\"exchange\":null,"
               "\"purpose\":\"attempt\",\"tier\":\"t\",\"place\":null,\"region\":null,"
               "\"certified\":[],\"host\":null,\"bytes\":0,\"sha256\":\"" EMPTY_SHA256
               "\",\"class\":\"public\",\"replaced\":{},\"previous\":\"" EGRESS_NO_HASH "\"");
    const struct egress_entry full = {.wall_ms = 86400001,
                                      .exchange = "ex_1",
                                      .purpose = "shadow",
                                      .tier = "a \"b\"",
                                      .place = "cloud",
                                      .region = "eu",
                                      .certified = certified,
                                      .host = "h:443",
                                      .data_class = "sensitive",
                                      .payload = STR(""),
                                      .replaced = replaced,
                                      .replaced_count = 2};
    check_line(&full, &later,
               "{\"seq\":42,\"time\":\"1970-01-02T00:00:00.001Z\",\"exchange\":\"ex_1\","
               "\"purpose\":\"shadow\",\"tier\":\"a \\\"b\\\"\",\"place\":\"cloud\","
               "\"region\":\"eu\",\"certified\":[\"iso27001\",\"hds\"],\"host\":\"h:443\","
               "\"bytes\":0,\"sha256\":\"" EMPTY_SHA256
               "\",\"class\":\"sensitive\",\"replaced\":{\"PERSON\":2,\"EMAIL_ADDRESS\":1},"
               "\"previous\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"");
}

static void test_as_many_types_as_a_line_holds_are_written(void)
{
    struct egress_replaced replaced[EGRESS_REPLACED_MAX + 1];
    for (size_t i = 0; i <= EGRESS_REPLACED_MAX; i++)
        replaced[i] = (struct egress_replaced){"T", 1};
    for (size_t count = EGRESS_REPLACED_MAX - 1; count <= EGRESS_REPLACED_MAX + 1; count++) {
        struct egress_chain chain = {7, EGRESS_NO_HASH};
        struct buf line;
        struct egress_entry entry = entry_of(0);
        entry.replaced = replaced;
        entry.replaced_count = count;
        buf_init(&line, EGRESS_LINE_BYTES_MAX);
        enum td_status status = egress_line_write(&entry, &chain, &line, NULL);
        CHECK(status == (count <= EGRESS_REPLACED_MAX ? TD_OK : TD_LIMIT));
        CHECK(chain.count == (status == TD_OK ? 8u : 7u)); /* a refused one moves nothing */
        buf_deinit(&line);
    }
}

static void test_the_last_head_and_the_last_line_fit_or_do_not(void)
{
    enum { A = 'a', B = 'b', NONE = '0' };
    static const struct {
        uint64_t head_count;
        char head, next; /* each a hash of that digit */
        uint64_t count;
        char hash;
        enum egress_end end;
    } cases[] = {
        {0, NONE, NONE, 0, NONE, EGRESS_END_SIGNED},
        {0, NONE, A, 0, NONE, EGRESS_END_UNWRITTEN},
        {0, NONE, A, 1, A, EGRESS_END_UNSIGNED},
        {0, NONE, A, 1, B, EGRESS_END_FORGED},
        {0, NONE, NONE, 1, A, EGRESS_END_FORGED},
        {0, NONE, NONE, 1, NONE, EGRESS_END_FORGED},
        {5, A, NONE, 5, A, EGRESS_END_SIGNED},
        {5, A, B, 5, A, EGRESS_END_UNWRITTEN},
        {5, A, NONE, 5, B, EGRESS_END_FORGED},
        {5, A, B, 5, B, EGRESS_END_FORGED},
        {5, A, B, 6, B, EGRESS_END_UNSIGNED},
        {5, A, B, 6, A, EGRESS_END_FORGED},
        {5, A, B, 7, B, EGRESS_END_FORGED},
        {5, A, NONE, 4, A, EGRESS_END_CUT},
        {5, A, B, 4, B, EGRESS_END_CUT},
        {5, A, B, 0, NONE, EGRESS_END_CUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct egress_head head = {.chain = {.count = cases[i].head_count}};
        struct egress_chain chain = {.count = cases[i].count};
        memset(head.chain.hash, cases[i].head, EGRESS_HASH_HEX);
        memset(head.next, cases[i].next, EGRESS_HASH_HEX);
        memset(chain.hash, cases[i].hash, EGRESS_HASH_HEX);
        CHECK(egress_head_compare(&head, &chain, EGRESS_NO_HASH) == cases[i].end);
    }
}

/* A line is written whole or not at all, however little room there is. */
static void test_a_line_that_does_not_fit_moves_nothing(void)
{
    const struct egress_chain before = {41, EGRESS_NO_HASH};
    const struct egress_entry entry = entry_of(0);
    struct egress_chain chain = before;
    struct buf line;
    buf_init(&line, EGRESS_LINE_BYTES_MAX);
    REQUIRE(egress_line_write(&entry, &chain, &line, NULL) == TD_OK);
    const size_t whole = line.len;
    buf_deinit(&line);
    for (size_t most = 1; most <= whole; most++) {
        chain = before;
        buf_init(&line, most);
        enum td_status status = egress_line_write(&entry, &chain, &line, NULL);
        CHECK(status == (most < whole ? TD_LIMIT : TD_OK));
        CHECK(chain.count == (most < whole ? 41u : 42u));
        CHECK((strcmp(chain.hash, EGRESS_NO_HASH) == 0) == (most < whole));
        buf_deinit(&line);
    }
}

/* --- what somebody else wrote --- */

#define HEX64(digit) \
    digit digit digit digit digit digit digit digit digit digit digit digit digit digit digit digit
#define HASH_A HEX64("aaaa")
#define HASH_B HEX64("bbbb")

/* Adds the right hash, which needs no key. */
static void seal(struct buf *out, const char *body, const char *end)
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    char hex[EGRESS_HASH_HEX + 1];
    crypto_sha256(body, strlen(body), digest);
    crypto_hex(digest, sizeof digest, hex);
    buf_printf(out, "%s,\"hash\":\"%s%s", body, hex, end);
}

/* Number and `previous` are what ties a line to the one before it: a right hash is not enough. */
static void test_only_the_next_line_with_the_right_previous_follows(void)
{
#define NEXT ",\"previous\":\"" HASH_A "\""
    static const struct {
        const char *body, *end; /* before the hash and after it */
        bool follows;
    } cases[] = {
        {"{\"seq\":6" NEXT, "\"}", true},
        {"{\"seq\":6,\"tier\":\"t\"" NEXT, "\"}", true},
        {"{\"seq\":5" NEXT, "\"}", false}, /* the same one again */
        {"{\"seq\":7" NEXT, "\"}", false}, /* one is missing */
        {"{\"seq\":0" NEXT, "\"}", false},
        {"{\"seq\":-6" NEXT, "\"}", false},
        {"{\"seq\":6x" NEXT, "\"}", false},
        {"{\"seq\":6 " NEXT, "\"}", false},
        {"{\"seq\":" NEXT, "\"}", false},
        {"{\"seq\":18446744073709551622" NEXT, "\"}", false}, /* 6 beyond the largest number */
        {"{\"sec\":6" NEXT, "\"}", false},
        {" {\"seq\":6" NEXT, "\"}", false},
        {"{\"seq\":6,\"previous\":\"" HASH_B "\"", "\"}", false},
        {"{\"seq\":6,\"previouz\":\"" HASH_A "\"", "\"}", false},
        {"{\"seq\":6,\"previous\":\"" HASH_A "a\"", "\"}", false},
        {"{\"seq\":6" NEXT ",\"tier\":\"t\"", "\"}", false}, /* it has to be the last one */
        {"{\"seq\":6", "\"}", false},
        {"{\"seq\":6,\"previous\":\"\"", "\"}", false},
        {"", "\"}", false},
        {"{\"seq\":6" NEXT, "\"} ", false},
        {"{\"seq\":6" NEXT, "0\"}", false},
        {"{\"seq\":6" NEXT, "\"}}", false},
        {"{\"seq\":6" NEXT, "\"", false},
        {"{\"seq\":6" NEXT, "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct egress_chain chain = {5, HASH_A}, read;
        struct buf line;
        buf_init(&line, 1u << 12);
        seal(&line, cases[i].body, cases[i].end);
        enum td_status status = egress_line_follow(buf_view(&line), &chain, NULL);
        if ((status == TD_OK) != cases[i].follows)
            printf("case %zu: %s%s\n", i, cases[i].body, cases[i].end);
        CHECK(status == (cases[i].follows ? TD_OK : TD_CORRUPT));
        CHECK(chain.count == (cases[i].follows ? 6u : 5u)); /* a refused one moves nothing */
        CHECK((strcmp(chain.hash, HASH_A) != 0) == cases[i].follows);
        CHECK(!cases[i].follows || (egress_line_read(buf_view(&line), &read) && read.count == 6));
        buf_deinit(&line);
    }
#undef NEXT
}

/* The same bytes in another case, one less, or one more, are another line. */
static void test_a_line_is_followed_to_the_byte(void)
{
    const struct egress_chain before = {41, HASH_A};
    const struct egress_entry entry = entry_of(0);
    struct egress_chain chain = before;
    struct buf line, other;
    buf_init(&line, EGRESS_LINE_BYTES_MAX);
    buf_init(&other, EGRESS_LINE_BYTES_MAX);
    REQUIRE(egress_line_write(&entry, &chain, &line, NULL) == TD_OK);
    const struct td_str whole = str_slice(buf_view(&line), 0, line.len - 1);
    for (size_t at = 0; at < whole.len; at++)
        for (int change = 0; change < 4; change++) {
            buf_clear(&other);
            buf_append_str(&other, str_slice(whole, 0, at));
            if (change < 2)
                buf_append_char(&other, (char)(whole.data[at] ^ (change ? 1 : 'a' ^ 'A')));
            if (change == 2)
                buf_append_char(&other, whole.data[at]);
            buf_append_str(&other, str_slice(whole, change == 2 ? at : at + 1, whole.len));
            chain = before;
            CHECK(egress_line_follow(buf_view(&other), &chain, NULL) == TD_CORRUPT);
            CHECK(egress_line_follow(str_slice(whole, 0, at), &chain, NULL) == TD_CORRUPT);
            CHECK(chain.count == before.count && strcmp(chain.hash, before.hash) == 0);
        }
    buf_deinit(&other);
    buf_deinit(&line);
}

/* Adds a signature of `key`, its own. */
static void sign(struct buf *out, const char *body, const char *end)
{
    static const uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {1, 2, 3};
    uint8_t key[CRYPTO_SIGN_KEY_BYTES], signature[CRYPTO_SIGNATURE_BYTES];
    char hex[2 * CRYPTO_SIGNATURE_BYTES + 1];
    CHECK(crypto_sign_public(seed, key, NULL) == TD_OK);
    crypto_hex(key, sizeof key, hex);
    buf_printf(out, "%s,\"key\":\"%s\"", body, hex);
    CHECK(crypto_sign_once(seed, buf_view(out), signature, NULL) == TD_OK);
    crypto_hex(signature, sizeof signature, hex);
    buf_printf(out, ",\"signature\":\"%s%s", hex, end);
}

/* Whoever has the key has signed each of these: what is no head is none for all that. */
static void test_a_head_says_day_count_and_hashes_and_all_of_it_is_signed(void)
{
#define COUNT "\"count\":7"
#define HASHES ",\"hash\":\"" HASH_A "\",\"next\":\"" HASH_B "\""
#define DAY "{\"date\":\"2026-11-17\","
    static const struct {
        const char *body, *end;
        bool good;
    } cases[] = {
        {DAY COUNT HASHES, "\"}", true},
        {DAY "\"count\":0" HASHES, "\"}", true},
        {DAY "\"count\":-1" HASHES, "\"}", false},
        {DAY "\"count\":\"7\"" HASHES, "\"}", false},
        {DAY "\"number\":7" HASHES, "\"}", false},
        {"{\"date\":\"2026-11-7\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"2026-11-170\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"2026/11-17\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"2026-11 17\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"x026-11-17\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"2026-11-1x\"," COUNT HASHES, "\"}", false},
        {"{\"date\":2026," COUNT HASHES, "\"}", false},
        {"{" COUNT HASHES, "\"}", false},
        {DAY COUNT ",\"hash\":\"" HASH_A "\"", "\"}", false},
        {DAY COUNT ",\"next\":\"" HASH_A "\"", "\"}", false},
        {DAY COUNT ",\"hash\":\"" HASH_A "a\",\"next\":\"" HASH_B "\"", "\"}", false},
        {DAY COUNT ",\"hash\":\"\",\"next\":\"" HASH_B "\"", "\"}", false},
        {DAY COUNT ",\"hash\":\"" HEX64("AAAA") "\",\"next\":\"" HASH_B "\"", "\"}", false},
        {DAY COUNT ",\"hash\":\"" HASH_A "\",\"next\":\"" HEX64("aaag") "\"", "\"}", false},
        {DAY COUNT ",\"hash\":\"" HASH_A "\",\"next\":\"" HEX64("/aaa") "\"", "\"}", false},
        {DAY COUNT HASHES, "\",\"count\":9}", false}, /* what follows is not signed */
        {DAY COUNT HASHES, "\"} ", false},
        {DAY COUNT HASHES, "00\"}", false},
        {DAY COUNT HASHES, "\"", false},
        {DAY COUNT HASHES, "", false},
        {"{\"x\":\"2026-11-17\"," COUNT HASHES, "\"}", false},
        {"{\"date\":\"2026-11-17\",,", "\"}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct egress_head head;
        struct buf line;
        buf_init(&line, 1u << 12);
        sign(&line, cases[i].body, cases[i].end);
        enum td_status status = egress_head_read(buf_view(&line), &head, NULL);
        if ((status == TD_OK) != cases[i].good)
            printf("case %zu: %s%s\n", i, cases[i].body, cases[i].end);
        CHECK(status == (cases[i].good ? TD_OK : TD_CORRUPT));
        if (status == TD_OK) {
            CHECK(strcmp(head.date, "2026-11-17") == 0 && head.chain.count == (i == 0 ? 7u : 0u));
            CHECK(strcmp(head.chain.hash, HASH_A) == 0 && strcmp(head.next, HASH_B) == 0);
        }
        buf_deinit(&line);
    }
#undef COUNT
#undef HASHES
#undef DAY
}

int main(void)
{
    fixture_begin();
    RUN(test_a_line_says_all_that_left_and_nulls_what_there_is_none_of);
    RUN(test_as_many_types_as_a_line_holds_are_written);
    RUN(test_the_last_head_and_the_last_line_fit_or_do_not);
    RUN(test_a_line_that_does_not_fit_moves_nothing);
    RUN(test_only_the_next_line_with_the_right_previous_follows);
    RUN(test_a_line_is_followed_to_the_byte);
    RUN(test_a_head_says_day_count_and_hashes_and_all_of_it_is_signed);
    fixture_end();
    return test_finish();
}
