/* Clusters of questions: found, named, and the same whatever the order. */
#include "quant/measure/clusters.h"

#include "base/core/str.h"
#include "test.h"

#define MANY 400

static char lines[MANY][128];

/* Of 20 questions: one about refunds, nine about the weather, nine about music, one about nothing
 * that comes again. */
static size_t make(size_t count, struct td_str *texts)
{
    static const char *const towns[] = {"Paris", "Oslo", "Rome", "Lima", "Cairo", "Quito", "Bern"};
    size_t refunds = 0;
    for (size_t i = 0; i < count; i++) {
        const char *town = towns[i % 7];
        if (i % 20 == 3)
            snprintf(lines[i], sizeof lines[i], "please refund my broken order number %zu", i);
        else if (i % 20 == 5)
            snprintf(lines[i], sizeof lines[i], "q%zux z%zuy w%zuv", i * 7, i * 11, i * 13);
        else if (i % 2)
            snprintf(lines[i], sizeof lines[i], "what will the weather be like in %s", town);
        else
            snprintf(lines[i], sizeof lines[i], "play some quiet jazz music from %s", town);
        refunds += i % 20 == 3;
        texts[i] = str_from(lines[i]);
    }
    return refunds;
}

static void test_a_small_cluster_is_found_and_named(void)
{
    struct td_str texts[MANY];
    struct clusters clusters;
    struct td_error err = {0};
    size_t refunds = make(MANY, texts);
    REQUIRE(clusters_find(&similarity_plain, texts, MANY, &clusters, &err) == TD_OK);
    CHECK(clusters.count == 3);
    unsigned cluster = clusters.of[3];
    REQUIRE(cluster != CLUSTERS_NONE);
    CHECK(clusters.sizes[cluster] == refunds);
    CHECK(strstr(clusters.names[cluster], "refund") != NULL ||
          strstr(clusters.names[cluster], "order") != NULL);
    for (size_t i = 0; i < MANY; i++)
        CHECK((clusters.of[i] == cluster) == (i % 20 == 3));
    CHECK(clusters.of[5] == CLUSTERS_NONE);
    CHECK(strstr(clusters.names[clusters.of[1]], "weather") != NULL);
    clusters_deinit(&clusters);
}

static void test_the_order_of_the_lines_does_not_matter(void)
{
    struct td_str texts[MANY], back[MANY];
    struct clusters a, b;
    struct td_error err = {0};
    make(MANY, texts);
    for (size_t i = 0; i < MANY; i++)
        back[i] = texts[MANY - 1 - i];
    REQUIRE(clusters_find(&similarity_plain, texts, MANY, &a, &err) == TD_OK);
    REQUIRE(clusters_find(&similarity_plain, back, MANY, &b, &err) == TD_OK);
    CHECK(a.count == b.count);
    for (size_t c = 0; c < a.count && c < b.count; c++)
        CHECK(a.sizes[c] == b.sizes[c] && strcmp(a.names[c], b.names[c]) == 0);
    clusters_deinit(&a);
    clusters_deinit(&b);
}

static void test_few_and_empty_texts_are_no_cluster(void)
{
    const struct td_str texts[] = {STR(""), STR("   "), STR("hello there"), STR("")};
    struct clusters clusters;
    struct td_error err = {0};
    REQUIRE(clusters_find(&similarity_plain, texts, 4, &clusters, &err) == TD_OK);
    CHECK(clusters.count == 0 && clusters.of[2] == CLUSTERS_NONE);
    clusters_deinit(&clusters);
    REQUIRE(clusters_find(&similarity_plain, texts, 0, &clusters, &err) == TD_OK);
    CHECK(clusters.count == 0);
    clusters_deinit(&clusters);
}

int main(void)
{
    RUN(test_a_small_cluster_is_found_and_named);
    RUN(test_the_order_of_the_lines_does_not_matter);
    RUN(test_few_and_empty_texts_are_no_cluster);
    return test_finish();
}
