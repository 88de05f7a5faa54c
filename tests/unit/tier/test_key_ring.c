/* Several keys of one tier: their shares, and the rest of one. */
#include "base/crypto/secret.h"
#include "test.h"
#include "tier/key_ring.h"

static const struct tier_key three[] = {{"a", NULL, 3}, {"b", NULL, 1}, {"c", NULL, 0}};

static void test_keys_are_used_by_weight(void)
{
    struct key_ring *ring = key_ring_new(three, 3);
    int counts[3] = {0}, in_a_row = 0, most_in_a_row = 0;
    size_t before = SIZE_MAX;
    REQUIRE(ring && key_ring_count(ring) == 3);
    for (int i = 0; i < 1000; i++) {
        size_t key = key_ring_pick(ring, 0, 0);
        in_a_row = key == before ? in_a_row + 1 : 1;
        most_in_a_row = in_a_row > most_in_a_row ? in_a_row : most_in_a_row;
        before = key;
        counts[key]++;
    }
    CHECK(counts[0] == 600 && counts[1] == 200 && counts[2] == 200);
    CHECK(most_in_a_row <= 2);
    key_ring_free(ring);
}

static void test_one_that_rests_is_left_out_and_comes_back(void)
{
    struct key_ring *ring = key_ring_new(three, 3);
    REQUIRE(ring);
    key_ring_rest(ring, 0, 1000, 0);
    for (int i = 0; i < 10; i++)
        CHECK(key_ring_pick(ring, 0, 999) != 0);
    int count = 0;
    for (int i = 0; i < 10; i++)
        count += key_ring_pick(ring, 0, 1000) == 0;
    CHECK(count == 6);
    key_ring_rest(ring, 0, 10, 1000); /* a shorter one does not end a longer one */
    key_ring_rest(ring, 0, 5000, 1000);
    key_ring_rest(ring, 0, 10, 1000);
    CHECK(key_ring_pick(ring, 6, 2000) == SIZE_MAX);
    key_ring_free(ring);
}

static void test_when_all_rest_the_first_to_wake_is_tried_once(void)
{
    struct key_ring *ring = key_ring_new(three, 3);
    REQUIRE(ring);
    key_ring_rest(ring, 0, 3000, 0);
    key_ring_rest(ring, 1, 1000, 0);
    key_ring_rest(ring, 2, 2000, 0);
    CHECK(key_ring_pick(ring, 0, 10) == 1);
    CHECK(key_ring_pick(ring, 2, 10) == SIZE_MAX);
    CHECK(key_ring_pick(ring, 7, 10000) == SIZE_MAX);
    key_ring_free(ring);
}

static void test_no_key_is_a_ring_of_one(void)
{
    struct key_ring *ring = key_ring_new(NULL, 0);
    REQUIRE(ring && key_ring_count(ring) == 1);
    key_ring_rest(ring, 0, 1000, 0);
    CHECK(key_ring_pick(ring, 0, 0) == 0 && key_ring_at(ring, 0)->secret == NULL);
    CHECK(key_ring_pick(ring, 1, 0) == SIZE_MAX);
    key_ring_free(ring);
    key_ring_free(NULL);
}

static void test_only_what_is_about_a_key_lets_it_rest(void)
{
    CHECK(key_ring_rest_of(429, 5000) == 5000 && key_ring_rest_of(429, 0) > 0);
    CHECK(key_ring_rest_of(429, UINT64_MAX) == 3600000);
    CHECK(key_ring_rest_of(401, 0) > key_ring_rest_of(403, 0) && key_ring_rest_of(403, 0) > 0);
    CHECK(key_ring_rest_of(402, 0) > 0);
    CHECK(!key_ring_rest_of(500, 5000) && !key_ring_rest_of(0, 0) && !key_ring_rest_of(400, 0));
}

int main(void)
{
    RUN(test_keys_are_used_by_weight);
    RUN(test_one_that_rests_is_left_out_and_comes_back);
    RUN(test_when_all_rest_the_first_to_wake_is_tried_once);
    RUN(test_no_key_is_a_ring_of_one);
    RUN(test_only_what_is_about_a_key_lets_it_rest);
    return test_finish();
}
