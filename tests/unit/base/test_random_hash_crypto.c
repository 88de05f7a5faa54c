/* Known answers for hashes, generators and digests. */
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/crypto/rng.h"
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

static void test_fnv1a64_known_answers(void)
{
    CHECK(hash_fnv1a64("", 0, HASH_FNV1A64_BASIS) == UINT64_C(0xcbf29ce484222325));
    CHECK(hash_fnv1a64("a", 1, HASH_FNV1A64_BASIS) == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(hash_fnv1a64("foobar", 6, HASH_FNV1A64_BASIS) == UINT64_C(0x85944171f73967e8));
    CHECK(hash_fnv1a64("bar", 3, hash_fnv1a64("foo", 3, HASH_FNV1A64_BASIS)) ==
          UINT64_C(0x85944171f73967e8));
}

/* Also while numbers are drawn ahead, and in a child process, which has its parent's memory. */
static void test_random_numbers_do_not_come_twice(void)
{
    enum { DRAWS = 300 };
    uint64_t drawn[2 * DRAWS];
    int ends[2];
    for (size_t i = 0; i < DRAWS; i++)
        REQUIRE(crypto_random(&drawn[i], sizeof drawn[i], NULL) == TD_OK);
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        uint64_t own[DRAWS / 2];
        for (size_t i = 0; i < DRAWS / 2; i++)
            if (crypto_random(&own[i], sizeof own[i], NULL) != TD_OK)
                _exit(1);
        _exit(write(ends[1], own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
    }
    for (size_t i = DRAWS; i < DRAWS + DRAWS / 2; i++)
        CHECK(crypto_random(&drawn[i], sizeof drawn[i], NULL) == TD_OK);
    ssize_t bytes = (ssize_t)(DRAWS / 2 * sizeof drawn[0]);
    REQUIRE(read(ends[0], drawn + DRAWS + DRAWS / 2, (size_t)bytes) == bytes);
    REQUIRE(waitpid(child, NULL, 0) == child);
    close(ends[0]);
    close(ends[1]);
    for (size_t i = 0; i < 2 * DRAWS; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(drawn[i] != drawn[j]);
}

/* xoshiro256** from the state {1, 2, 3, 4}: the authors' reference output. */
static void test_rng_known_answer(void)
{
    struct rng rng = {{1, 2, 3, 4}};
    uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (int i = 0; i < 4; i++)
        CHECK(rng_u64(&rng) == expected[i]);
}

static void test_rng_repeats_from_its_seed_and_stays_in_bounds(void)
{
    struct rng a, b;
    rng_init(&a, 42);
    rng_init(&b, 42);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        CHECK(rng_u64(&a) == rng_u64(&b));
        double x = rng_double(&a);
        CHECK(x >= 0 && x < 1);
        sum += x;
        rng_double(&b);
        CHECK(rng_below(&a, 7) < 7);
        rng_below(&b, 7);
    }
    CHECK(sum > 4800 && sum < 5200); /* mean 5000, standard deviation 29 */
    CHECK(rng_below(&a, 1) == 0);
}

static void test_sha256_known_answer(void)
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    char hex[2 * CRYPTO_SHA256_BYTES + 1];
    crypto_sha256("abc", 3, digest);
    crypto_hex(digest, sizeof digest, hex);
    CHECK(strcmp(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0);
    CHECK(crypto_equal("abc", "abc", 3) && !crypto_equal("abc", "abd", 3));
    uint8_t a[16] = {0}, b[16] = {0};
    CHECK(crypto_random(a, sizeof a, NULL) == TD_OK && crypto_random(b, sizeof b, NULL) == TD_OK);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

static void test_words_hash_sees_every_bit_and_the_length(void)
{
    uint8_t bytes[64] = {0};
    for (size_t len = 0; len <= 40; len++) {
        uint64_t whole = hash_words64(bytes, len);
        CHECK(hash_words64(bytes, len + 1) != whole);
        for (size_t bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK(hash_words64(bytes, len) != whole);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    /* The top bits of two words do not cancel each other. */
    uint64_t none = hash_words64(bytes, 32);
    bytes[7] = bytes[15] = 0x80;
    CHECK(hash_words64(bytes, 32) != none);
    CHECK(hash_words64(bytes + 1, 31) != hash_words64(bytes, 31)); /* also from odd addresses */
}

/* Of what one purpose draws, another one draws its usual share. */
static void test_draws_by_an_id_are_even_and_know_nothing_of_one_another(void)
{
    enum { DRAWS = 20000, PARTS = 10 };
    int parts[PARTS] = {0}, both = 0;
    for (int i = 0; i < DRAWS; i++) {
        char id[40];
        snprintf(id, sizeof id, "ex_%024x", (unsigned)i);
        double one = hash_draw(id, "explore"), other = hash_draw(id, "shadow");
        CHECK(one >= 0 && one < 1 && one == hash_draw(id, "explore"));
        parts[(int)(one * PARTS)]++;
        both += one < 0.1 && other < 0.1;
    }
    for (int i = 0; i < PARTS; i++) /* 2,000 and five standard deviations of 42 */
        CHECK(abs(parts[i] - DRAWS / PARTS) < 212);
    CHECK(abs(both - DRAWS / 100) < 71); /* 200, and five of 14.1 */
}

int main(void)
{
    RUN(test_fnv1a64_known_answers);
    RUN(test_random_numbers_do_not_come_twice);
    RUN(test_rng_known_answer);
    RUN(test_rng_repeats_from_its_seed_and_stays_in_bounds);
    RUN(test_sha256_known_answer);
    RUN(test_words_hash_sees_every_bit_and_the_length);
    RUN(test_draws_by_an_id_are_even_and_know_nothing_of_one_another);
    return test_finish();
}
