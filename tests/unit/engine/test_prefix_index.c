/* Shared beginnings: a found text is exactly what was computed, no scope sees the pages of another,
 * writing never changes pages that others hold, and pages are freed when the pool needs them. */
#include "engine/forward/forward.h"
#include "engine/forward/prefix_index.h"

#include "test.h"
#include "tiny_model.h"

enum { LENGTH = 300, PAGES = 24 };

static struct td_model *model;
static struct thread_pool *threads;
static struct kv_pool *pool;
static struct workspace *workspace;
static struct prefix_index *prefixes;
static const struct prefix_scope nobody, somebody = {{1}};
static int32_t ids[LENGTH];

static void open_all(void)
{
    struct td_error err = {0};
    struct rng rng;
    const struct workspace_options options = {.row_max = 64};
    threads = thread_pool_new(2);
    REQUIRE(kv_pool_new(model, TD_KV_F16, PAGES, &pool, &err) == TD_OK);
    REQUIRE(workspace_new(model, &options, threads, &workspace, &err) == TD_OK);
    prefixes = prefix_index_new(pool);
    REQUIRE(prefixes != NULL);
    rng_init(&rng, 11);
    for (int i = 0; i < LENGTH; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
}

static void close_all(void)
{
    prefix_index_free(prefixes);
    CHECK(pool->used_count == 0 && pool->free_count == PAGES);
    kv_pool_free(pool);
    workspace_free(workspace);
    thread_pool_free(threads);
}

static struct sequence open_sequence(void)
{
    struct sequence sequence;
    CHECK(sequence_init(&sequence, pool, 0, NULL) == TD_OK);
    return sequence;
}

/* Runs tokens up to `end` of a text, with the last one's logits. */
static enum td_status run(struct sequence *sequence, const int32_t *text, uint32_t end,
                          float *logits)
{
    while (sequence->length < end) {
        uint32_t rest = end - sequence->length, count = rest < 64 ? rest : 64;
        struct segment segment = {.sequence = sequence,
                                  .ids = text + sequence->length,
                                  .count = count,
                                  .logit_rows = count == rest};
        enum td_status status = forward_run(workspace, &segment, 1, logits, NULL);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

/* Reads a text, publishes it and leaves it. */
static void leave(const int32_t *text, uint32_t length, const struct prefix_scope *scope)
{
    float logits[TINY_VOCAB];
    struct sequence sequence = open_sequence();
    CHECK(run(&sequence, text, length, logits) == TD_OK);
    prefix_publish(prefixes, &sequence, scope, true);
    sequence_deinit(&sequence);
}

static void alone(const int32_t *text, uint32_t length, float *logits)
{
    struct sequence sequence = open_sequence();
    CHECK(run(&sequence, text, length, logits) == TD_OK);
    sequence_deinit(&sequence);
}

static void test_a_shared_beginning_of_any_length_gives_the_same_bits(void)
{
    static const uint32_t lengths[] = {1, 2, 63, 64, 65, 100, 127, 128, 129, 192, 200};
    open_all();
    leave(ids, 200, &nobody);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int32_t text[LENGTH];
        float expected[TINY_VOCAB], got[TINY_VOCAB];
        memcpy(text, ids, sizeof text);
        text[lengths[i]] = (ids[lengths[i]] + 1) % TINY_VOCAB; /* it goes another way from here */
        alone(text, 250, expected);
        struct sequence sequence = open_sequence();
        CHECK(prefix_find(prefixes, &sequence, &nobody, text, 250) == lengths[i]);
        CHECK(prefix_attach(prefixes, &sequence, &nobody, text, 250) == lengths[i]);
        CHECK(sequence_common_prefix(&sequence, NULL, text, 250) == lengths[i]);
        CHECK(run(&sequence, text, 250, got) == TD_OK);
        CHECK(memcmp(expected, got, sizeof got) == 0);
        sequence_deinit(&sequence);
    }
    /* nobody has written into what is shared */
    float expected[TINY_VOCAB], got[TINY_VOCAB];
    alone(ids, 201, expected);
    struct sequence sequence = open_sequence();
    CHECK(prefix_attach(prefixes, &sequence, &nobody, ids, 201) == 200);
    CHECK(run(&sequence, ids, 201, got) == TD_OK && memcmp(expected, got, sizeof got) == 0);
    sequence_deinit(&sequence);
    close_all();
}

static void test_a_second_turn_finds_all_of_the_first(void)
{
    open_all();
    for (uint32_t length = 50; length < 250; length += 50) {
        leave(ids, length, &nobody);
        struct sequence next = open_sequence();
        CHECK(prefix_attach(prefixes, &next, &nobody, ids, LENGTH) == length);
        sequence_deinit(&next);
    }
    CHECK(pool->used_count == 4); /* 200 tokens; half-full pages that others continue are gone */
    close_all();
}

static void test_another_scope_sees_nothing(void)
{
    open_all();
    leave(ids, 200, &somebody);
    struct sequence sequence = open_sequence();
    CHECK(prefix_attach(prefixes, &sequence, &nobody, ids, 200) == 0);
    CHECK(prefix_attach(prefixes, &sequence, &somebody, ids, 150) == 150);
    sequence_deinit(&sequence);
    leave(ids, 200, &nobody); /* the same text twice, but not shared */
    CHECK(pool->used_count == 8);
    close_all();
}

static void test_texts_that_run_together_keep_one_copy(void)
{
    float logits[TINY_VOCAB];
    open_all();
    struct sequence first = open_sequence(), second = open_sequence();
    CHECK(run(&first, ids, 130, logits) == TD_OK && run(&second, ids, 140, logits) == TD_OK);
    CHECK(pool->used_count == 6);
    prefix_publish(prefixes, &first, &nobody, false);
    CHECK(pool->used_count == 6 && first.published == 2);
    prefix_publish(prefixes, &second, &nobody, false);
    CHECK(pool->used_count == 4 && second.pages[1] == first.pages[1]);
    sequence_truncate(&second, 100); /* going back and another way does not touch the first */
    CHECK(second.published == 1);
    CHECK(run(&second, ids, 128, logits) == TD_OK && second.pages[1] != first.pages[1]);
    sequence_deinit(&first);
    sequence_deinit(&second);
    CHECK(pool->used_count == 2 && prefix_available(prefixes) == PAGES);
    close_all();
}

/* The least recently used text goes first, from its end; pages in use stay. */
static void test_pages_come_back_when_room_is_wanted(void)
{
    float logits[TINY_VOCAB];
    int32_t other[LENGTH];
    open_all();
    for (int i = 0; i < LENGTH; i++)
        other[i] = (ids[i] + 7) % TINY_VOCAB;
    struct sequence sequence = open_sequence(), held = open_sequence();
    leave(other, 300, &nobody); /* 5 pages each */
    leave(ids, 300, &nobody);
    CHECK(prefix_attach(prefixes, &held, &nobody, other, 128) == 128);
    CHECK(prefix_available(prefixes) == PAGES - 2);
    struct sequence large = open_sequence();
    int32_t third[TINY_CONTEXT] = {9};
    CHECK(run(&large, third, TINY_CONTEXT, logits) == TD_OK); /* 8 pages */
    leave(third + 1, TINY_CONTEXT - 1, &nobody); /* 8 pages again: more than the 6 free ones */
    struct sequence look = open_sequence();
    CHECK(prefix_find(prefixes, &look, &nobody, other, 300) == 192);
    CHECK(prefix_find(prefixes, &look, &nobody, ids, 300) == 300);
    CHECK(run(&sequence, third, TINY_CONTEXT, logits) == TD_OK);
    CHECK(prefix_find(prefixes, &look, &nobody, other, 300) == 128); /* held */
    struct sequence full = open_sequence();
    CHECK(run(&full, third, 6 * 64, logits) == TD_OK);
    CHECK(prefix_available(prefixes) == 0);
    CHECK(run(&held, other, 129, logits) == TD_BUSY && held.length == 128);
    CHECK(prefix_find(prefixes, &look, &nobody, ids, 300) == 0);
    sequence_deinit(&look);
    sequence_deinit(&held);
    sequence_deinit(&large);
    sequence_deinit(&full);
    sequence_deinit(&sequence);
    close_all();
}

/* Without room for a copy the sequence continues in the half-full page itself: no other uses it. */
static void test_the_last_page_can_be_gone_on_with_in_a_full_pool(void)
{
    float logits[TINY_VOCAB], expected[TINY_VOCAB];
    int32_t third[TINY_CONTEXT] = {9};
    open_all();
    alone(ids, 101, expected);
    leave(ids, 100, &nobody);
    struct sequence sequence = open_sequence(), large[3];
    CHECK(prefix_attach(prefixes, &sequence, &nobody, ids, 101) == 100);
    for (int i = 0; i < 3; i++) {
        large[i] = open_sequence();
        CHECK(run(&large[i], third, i == 2 ? TINY_CONTEXT - 128 : TINY_CONTEXT, logits) == TD_OK);
    }
    CHECK(prefix_available(prefixes) == 0);
    CHECK(run(&sequence, ids, 101, logits) == TD_OK);
    CHECK(memcmp(logits, expected, sizeof logits) == 0);
    for (int i = 0; i < 3; i++)
        sequence_deinit(&large[i]);
    sequence_deinit(&sequence);
    close_all();
}

/* Random texts over a small alphabet, attached, extended, left: every result against one alone. */
static void test_random_sharing_never_changes_a_result(void)
{
    struct rng rng;
    rng_init(&rng, 23);
    open_all();
    size_t shared = 0;
    for (int round = 0; round < 60; round++) {
        int32_t text[LENGTH];
        float expected[TINY_VOCAB], got[TINY_VOCAB];
        uint32_t length = 2 + (uint32_t)rng_below(&rng, 250), way = (uint32_t)rng_below(&rng, 3);
        for (uint32_t i = 0; i < length; i++) /* three texts, which part at 40, 90, 140 ... */
            text[i] = (int32_t)((i / 50 + (i % 50 >= 40) * way) % 7 + i % 50);
        const struct prefix_scope *scope = rng_below(&rng, 4) ? &nobody : &somebody;
        alone(text, length, expected);
        struct sequence sequence = open_sequence();
        shared += prefix_attach(prefixes, &sequence, scope, text, length - 1);
        CHECK(run(&sequence, text, length, got) == TD_OK);
        CHECK(memcmp(expected, got, sizeof got) == 0);
        prefix_publish(prefixes, &sequence, scope, rng_below(&rng, 2));
        sequence_deinit(&sequence);
        CHECK(prefix_available(prefixes) == PAGES);
    }
    CHECK(shared > 60 * 50);
    close_all();
}

/* A page that others use begins as a free one, with what lay there before. So their half-full pages
 * go, too, and nothing of the forgotten text is left anywhere. */
static void test_forgetting_a_scope_leaves_the_whole_pages_of_others(void)
{
    static const struct prefix_scope other = {{2}};
    static const uint8_t zeros[64];
    int32_t text[LENGTH];
    open_all();
    for (int i = 0; i < LENGTH; i++)
        text[i] = (ids[i] + 1) % TINY_VOCAB;
    leave(ids, 200, &somebody);
    leave(text, 200, &other);
    leave(ids, 100, &nobody); /* of none: whose it was is not known */
    prefix_forget(prefixes, &somebody);
    struct sequence sequence = open_sequence();
    CHECK(prefix_find(prefixes, &sequence, &somebody, ids, 200) == 0);
    CHECK(prefix_find(prefixes, &sequence, &nobody, ids, 200) == 0);
    CHECK(prefix_find(prefixes, &sequence, &other, text, 200) == 192);
    CHECK(pool->used_count == 3);
    for (uint32_t i = 0; i < pool->free_count; i++) {
        const uint8_t *page = pool->block + pool->free_pages[i] * pool->page_bytes;
        for (size_t at = 0; at + sizeof zeros <= pool->page_bytes; at += sizeof zeros)
            REQUIRE(memcmp(page + at, zeros, sizeof zeros) == 0);
    }
    float expected[TINY_VOCAB], got[TINY_VOCAB];
    alone(text, 201, expected);
    CHECK(prefix_attach(prefixes, &sequence, &other, text, 201) == 192);
    CHECK(run(&sequence, text, 201, got) == TD_OK && memcmp(expected, got, sizeof got) == 0);
    sequence_deinit(&sequence);
    prefix_forget(prefixes, NULL);
    CHECK(pool->used_count == 0);
    close_all();
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    RUN(test_a_shared_beginning_of_any_length_gives_the_same_bits);
    RUN(test_a_second_turn_finds_all_of_the_first);
    RUN(test_another_scope_sees_nothing);
    RUN(test_texts_that_run_together_keep_one_copy);
    RUN(test_pages_come_back_when_room_is_wanted);
    RUN(test_the_last_page_can_be_gone_on_with_in_a_full_pool);
    RUN(test_random_sharing_never_changes_a_result);
    RUN(test_forgetting_a_scope_leaves_the_whole_pages_of_others);
    td_model_close(model);
    return test_finish();
}
