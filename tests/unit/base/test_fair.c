/* Shares by weight, whoever asks how much. */
#include "base/thread/fair.h"
#include "test.h"

#include <math.h>

/* Serves `rounds` turns among owners who always have something waiting. */
static void serve(struct fair *fair, const uint32_t *weights, int count, int rounds, double *got)
{
    for (int i = 0; i < rounds; i++) {
        struct fair_owner *least = NULL;
        for (int o = 0; o < count; o++) {
            struct fair_owner *owner = fair_join(fair, (uint64_t)o + 1, weights[o]);
            owner->jobs = 1;
            if (!least || owner->served < least->served)
                least = owner;
        }
        double amount = 10 + (i * 7919) % 90;
        got[least->key - 1] += amount;
        fair_serve(fair, least, amount);
    }
}

static void test_what_owners_get_is_as_their_weights(void)
{
    struct fair fair = {0};
    const uint32_t weights[] = {1, 1, 2, 6};
    double got[4] = {0}, all = 0;
    serve(&fair, weights, 4, 5000, got);
    for (int i = 0; i < 4; i++)
        all += got[i];
    for (int i = 0; i < 4; i++)
        CHECK(fabs(got[i] / all - weights[i] / 10.0) < 0.01);
}

static void test_who_rested_has_saved_nothing_up(void)
{
    struct fair fair = {0};
    const uint32_t equal[] = {1, 1};
    double got[2] = {0};
    struct fair_owner *first = fair_join(&fair, 1, 1);
    first->jobs = 1;
    for (int i = 0; i < 1000; i++)
        fair_serve(&fair, first, 50);
    serve(&fair, equal, 2, 1000, got);
    CHECK(fabs(got[0] / got[1] - 1) < 0.02);
}

static void test_a_correction_counts_for_its_owner(void)
{
    struct fair fair = {0};
    struct fair_owner *one = fair_join(&fair, 1, 2);
    fair_serve(&fair, one, 100);
    CHECK(fabs(one->served - 50) < 1e-9);
    fair_correct(one, -40);
    CHECK(fabs(one->served - 30) < 1e-9);
    CHECK(fair_find(&fair, 1) == one && fair_find(&fair, 2) == NULL);
}

static void test_more_owners_than_places_all_get_something(void)
{
    struct fair fair = {0};
    for (uint64_t key = 1; key <= FAIR_OWNERS_MAX; key++)
        fair_join(&fair, key, 1)->jobs = 1;
    struct fair_owner *shared = fair_join(&fair, 1000, 1), *again = fair_join(&fair, 1001, 1);
    CHECK(shared == again && shared == &fair.owners[FAIR_OWNERS_MAX - 1]);
    fair.owners[5].jobs = 0; /* it rests: its place is a newcomer's */
    struct fair_owner *newcomer = fair_join(&fair, 1000, 1);
    CHECK(newcomer == &fair.owners[5] && newcomer->key == 1000 && fair_find(&fair, 6) == NULL);
}

int main(void)
{
    RUN(test_what_owners_get_is_as_their_weights);
    RUN(test_who_rested_has_saved_nothing_up);
    RUN(test_a_correction_counts_for_its_owner);
    RUN(test_more_owners_than_places_all_get_something);
    return test_finish();
}
