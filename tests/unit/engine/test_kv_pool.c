/* Pages of keys and values: what is freed and overwritten is gone to its last byte, and its
 * neighbours keep theirs. */
#include "engine/forward/kv_pool.h"

#include "test.h"
#include "tiny_model.h"

enum { PAGES = 9 };

static const enum td_kv_type types[] = {TD_KV_F16, TD_KV_Q8_0, TD_KV_F32, TD_KV_Q4_0,
                                        TD_KV_Q4_0_F16};

static struct kv_pool *new_pool(const struct td_model *model, enum td_kv_type type)
{
    struct kv_pool *pool = NULL;
    return kv_pool_new(model, type, PAGES, &pool, NULL) == TD_OK ? pool : NULL;
}

static uint8_t *bytes_of(const struct kv_pool *pool, uint32_t page)
{
    return pool->block + page * pool->page_bytes;
}

static size_t count_other(const struct kv_pool *pool, uint32_t page, uint8_t wanted)
{
    size_t other = 0;
    for (size_t i = 0; i < pool->page_bytes; i++)
        other += bytes_of(pool, page)[i] != wanted;
    return other;
}

/* Every set of freed pages: edges are shared with pages that are free and with pages that are
 * not. */
static void check_wiping(struct kv_pool *pool)
{
    for (unsigned freed = 0; freed < 1u << PAGES; freed++) {
        uint32_t pages[PAGES];
        for (uint32_t i = 0; i < PAGES; i++) {
            pages[i] = kv_page_take(pool);
            REQUIRE(pages[i] != KV_NO_PAGE);
            memset(bytes_of(pool, pages[i]), 0xA5, pool->page_bytes);
        }
        for (uint32_t i = 0; i < PAGES; i++)
            if (freed >> i & 1)
                kv_page_release(pool, pages[i]);
        kv_pool_wipe_free(pool);
        for (uint32_t i = 0; i < PAGES; i++) {
            bool is_free = freed >> i & 1;
            CHECK(count_other(pool, pages[i], is_free ? 0 : 0xA5) == 0);
            if (!is_free)
                kv_page_release(pool, pages[i]);
        }
    }
}

static void test_a_freed_page_keeps_nothing_and_its_neighbours_everything(void)
{
    struct td_model *model = tiny_model(1);
    bool has_edges = false;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct kv_pool *pool = new_pool(model, types[t]);
        REQUIRE(pool);
        has_edges |= pool->page_bytes % 4096 != 0;
        check_wiping(pool);
        kv_pool_free(pool);
    }
    CHECK(has_edges);
    td_model_close(model);
}

static void test_a_page_is_free_after_its_last_reference_only(void)
{
    struct td_model *model = tiny_model(2);
    struct kv_pool *pool = new_pool(model, TD_KV_F16);
    REQUIRE(pool);
    uint32_t page = kv_page_take(pool);
    kv_page_retain(pool, page);
    memset(bytes_of(pool, page), 0xA5, pool->page_bytes);
    kv_page_release(pool, page);
    CHECK(pool->used_count == 1 && pool->free_count == PAGES - 1);
    kv_pool_wipe_free(pool);
    CHECK(count_other(pool, page, 0xA5) == 0);
    for (uint32_t i = 1; i < PAGES; i++) {
        uint32_t other = kv_page_take(pool);
        CHECK(other != page && other != KV_NO_PAGE);
    }
    CHECK(kv_page_take(pool) == KV_NO_PAGE);
    kv_page_release(pool, page);
    CHECK(kv_page_take(pool) == page);
    kv_pool_free(pool);
    td_model_close(model);
}

static void test_a_copy_is_the_whole_page_and_no_more(void)
{
    struct td_model *model = tiny_model(3);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct kv_pool *pool = new_pool(model, types[t]);
        REQUIRE(pool);
        uint32_t pages[3];
        for (uint32_t i = 0; i < 3; i++) {
            pages[i] = kv_page_take(pool);
            memset(bytes_of(pool, pages[i]), (int)(i + 1), pool->page_bytes);
        }
        kv_page_copy(pool, pages[1], pages[0]);
        CHECK(count_other(pool, pages[0], 1) == 0);
        CHECK(count_other(pool, pages[1], 1) == 0);
        CHECK(count_other(pool, pages[2], 3) == 0);
        kv_page_copy(pool, pages[1], pages[2]);
        CHECK(count_other(pool, pages[0], 1) == 0);
        CHECK(count_other(pool, pages[1], 3) == 0);
        kv_pool_free(pool);
    }
    td_model_close(model);
}

int main(void)
{
    RUN(test_a_freed_page_keeps_nothing_and_its_neighbours_everything);
    RUN(test_a_page_is_free_after_its_last_reference_only);
    RUN(test_a_copy_is_the_whole_page_and_no_more);
    return test_finish();
}
