/* A tree of pages, kept in one array with a node for each page of the pool, so that it needs no
 * memory of its own while it runs. Children of a node are compared token by token: prompts share
 * long beginnings and then differ, so there are few children. A clock of uses finds the page that
 * was unused longest when the pool needs one. */
#include "engine/forward/prefix_index.h"

#include "base/core/assertion.h"

#include <stdlib.h>
#include <string.h>

/* Node i belongs to page i. */
struct node {
    uint32_t parent, child, next; /* KV_NO_PAGE = none; next = the next sibling */
    uint32_t count;               /* tokens; 0 = the page is not in the index */
    uint64_t used;                /* when it was last attached or published */
    int32_t ids[KV_PAGE_TOKENS];
    /* In nodes without a parent: what the values of the text depend on in addition to its
     * tokens. */
    struct prefix_scope scope;
    struct adapter_set_id adapters;
    const struct rope *rope;
};

struct prefix_index {
    struct kv_pool *pool;
    struct node *nodes; /* [pages] */
    uint32_t root;      /* first node without a parent */
    uint64_t clock;
};

static uint32_t *first_child(struct prefix_index *index, uint32_t parent)
{
    return parent == KV_NO_PAGE ? &index->root : &index->nodes[parent].child;
}

static bool is_open_to(const struct node *node, const struct sequence *sequence,
                       const struct prefix_scope *scope)
{
    return node->parent != KV_NO_PAGE ||
           (node->rope == sequence->ropes[0] && memcmp(&node->scope, scope, sizeof *scope) == 0 &&
            memcmp(&node->adapters, &sequence->adapters_held, sizeof node->adapters) == 0);
}

/* The child that shares the most tokens with `ids`; *common: how many. */
static uint32_t best_child(const struct prefix_index *index, uint32_t parent,
                           const struct sequence *sequence, const struct prefix_scope *scope,
                           const int32_t *ids, size_t count, uint32_t *common)
{
    uint32_t best = KV_NO_PAGE;
    uint32_t child = parent == KV_NO_PAGE ? index->root : index->nodes[parent].child;
    *common = 0;
    for (; child != KV_NO_PAGE; child = index->nodes[child].next) {
        const struct node *node = &index->nodes[child];
        uint32_t same = 0;
        while (same < node->count && same < count && node->ids[same] == ids[same])
            same++;
        if (same > *common && is_open_to(node, sequence, scope)) {
            best = child;
            *common = same;
        }
    }
    return best;
}

/* Whether a text can go on at the end of a page, of which it has `common` tokens. With a recurrent
 * state it cannot, unless a checkpoint is there. */
static bool can_go_on(const struct prefix_index *index, uint32_t page, uint32_t common)
{
    const struct checkpoints *checkpoints = &index->pool->checkpoints;
    return checkpoints->state_bytes == 0 ||
           (common == KV_PAGE_TOKENS && checkpoint_find(checkpoints, page) != CHECKPOINT_NONE);
}

uint32_t prefix_find(const struct prefix_index *index, const struct sequence *sequence,
                     const struct prefix_scope *scope, const int32_t *ids, size_t count)
{
    uint32_t length = 0, usable = 0, common = KV_PAGE_TOKENS, page = KV_NO_PAGE;
    while (length < count && common == KV_PAGE_TOKENS) {
        page = best_child(index, page, sequence, scope, ids + length, count - length, &common);
        length += common;
        if (common != 0 && can_go_on(index, page, common))
            usable = length;
    }
    return usable;
}

uint32_t prefix_attach(struct prefix_index *index, struct sequence *sequence,
                       const struct prefix_scope *scope, const int32_t *ids, size_t count)
{
    ASSERT(sequence->length == 0 && sequence->page_count == 0);
    ASSERT(ids != NULL || count == 0);
    uint32_t common = KV_PAGE_TOKENS, page = KV_NO_PAGE, usable = 0;
    index->clock++;
    count = count < sequence->context_size ? count : sequence->context_size;
    while (sequence->length < count && common == KV_PAGE_TOKENS) {
        page = best_child(index, page, sequence, scope, ids + sequence->length,
                          count - sequence->length, &common);
        if (common == 0)
            break;
        index->nodes[page].used = index->clock;
        kv_page_retain(index->pool, page);
        sequence->pages[sequence->page_count++] = page;
        memcpy(sequence->ids + sequence->length, ids + sequence->length,
               common * sizeof *sequence->ids);
        sequence->length += common;
        sequence->published += common == KV_PAGE_TOKENS;
        if (can_go_on(index, page, common))
            usable = sequence->length;
    }
    uint32_t full = sequence->length / KV_PAGE_TOKENS * KV_PAGE_TOKENS;
    sequence_truncate(sequence, usable);
    if (sequence->state && full > usable)
        sequence->parted_at = full;
    if (sequence->state && usable != 0)
        sequence->state_at = STATE_NOWHERE; /* it is in a checkpoint */
    return sequence->length;
}

static void remove_node(struct prefix_index *index, uint32_t page)
{
    struct node *node = &index->nodes[page];
    uint32_t *link = first_child(index, node->parent);
    while (*link != page)
        link = &index->nodes[*link].next;
    *link = node->next;
    node->count = 0;
    kv_page_release(index->pool, page);
}

static void add_node(struct prefix_index *index, uint32_t parent, uint32_t page,
                     const struct sequence *sequence, const struct prefix_scope *scope,
                     const int32_t *ids, uint32_t count)
{
    struct node *node = &index->nodes[page];
    uint32_t *link = first_child(index, parent);
    *node = (struct node){.parent = parent,
                          .child = KV_NO_PAGE,
                          .next = *link,
                          .count = count,
                          .used = index->clock,
                          .scope = *scope,
                          .adapters = sequence->adapters_held,
                          .rope = sequence->ropes[0]};
    memcpy(node->ids, ids, count * sizeof *ids);
    *link = page;
    kv_page_retain(index->pool, page);
}

/* Adds one page of a sequence whose earlier pages are in the index. */
static void publish_page(struct prefix_index *index, struct sequence *sequence,
                         const struct prefix_scope *scope, uint32_t number, uint32_t count)
{
    const int32_t *ids = sequence->ids + (size_t)number * KV_PAGE_TOKENS;
    uint32_t parent = number ? sequence->pages[number - 1] : KV_NO_PAGE;
    uint32_t page = sequence->pages[number], common;
    uint32_t known = best_child(index, parent, sequence, scope, ids, count, &common);
    if (known != KV_NO_PAGE && common == count) { /* the index has this text */
        index->nodes[known].used = index->clock;
        if (known != page && count == KV_PAGE_TOKENS) { /* the same values: keep one copy */
            kv_page_retain(index->pool, known);
            checkpoint_move(&index->pool->checkpoints, known, page);
            kv_page_release(index->pool, page);
            sequence->pages[number] = known;
        }
        return;
    }
    /* This page continues the text of a half-full page, which is of no further use. */
    if (known != KV_NO_PAGE && common == index->nodes[known].count)
        remove_node(index, known);
    add_node(index, parent, page, sequence, scope, ids, count);
}

void prefix_publish(struct prefix_index *index, struct sequence *sequence,
                    const struct prefix_scope *scope, bool last)
{
    ASSERT(sequence->pool == index->pool);
    index->clock++;
    for (; sequence->published < sequence->length / KV_PAGE_TOKENS; sequence->published++)
        publish_page(index, sequence, scope, sequence->published, KV_PAGE_TOKENS);
    uint32_t rest = sequence->length % KV_PAGE_TOKENS;
    if (!last)
        return;
    for (uint32_t i = 0; i < sequence->published; i++)
        index->nodes[sequence->pages[i]].used = index->clock;
    if (rest != 0)
        publish_page(index, sequence, scope, sequence->published, rest);
}

/* Whether only the index holds the page, and it has no children. */
static bool is_spare(const struct prefix_index *index, uint32_t page)
{
    return index->nodes[page].count != 0 && index->pool->references[page] == 1;
}

/* Whoever holds a page also holds the pages before it. So if a page can go, its children can too,
 * and a page without children is found. */
static bool give_back_oldest(void *ctx)
{
    struct prefix_index *index = ctx;
    uint32_t oldest = KV_NO_PAGE;
    for (uint32_t page = 0; page < index->pool->page_count; page++)
        if (is_spare(index, page) && index->nodes[page].child == KV_NO_PAGE &&
            (oldest == KV_NO_PAGE || index->nodes[page].used < index->nodes[oldest].used))
            oldest = page;
    if (oldest == KV_NO_PAGE)
        return false;
    remove_node(index, oldest);
    return true;
}

/* Is it of the scope, or of none? */
static bool is_of(const struct prefix_index *index, uint32_t page, const struct prefix_scope *scope)
{
    static const struct prefix_scope none;
    while (index->nodes[page].parent != KV_NO_PAGE)
        page = index->nodes[page].parent;
    const struct prefix_scope *own = &index->nodes[page].scope;
    return memcmp(own, scope, sizeof *own) == 0 || memcmp(own, &none, sizeof *own) == 0;
}

/* Gives back the pages that can go; true when their parents may have become such. */
static bool forget_leaves(struct prefix_index *index, const struct prefix_scope *scope)
{
    bool any = false;
    for (uint32_t page = 0; page < index->pool->page_count; page++) {
        const struct node *node = &index->nodes[page];
        if (!is_spare(index, page) || node->child != KV_NO_PAGE ||
            (scope && node->count == KV_PAGE_TOKENS && !is_of(index, page, scope)))
            continue;
        remove_node(index, page);
        any = true;
    }
    return any;
}

void prefix_forget(struct prefix_index *index, const struct prefix_scope *scope)
{
    while (forget_leaves(index, scope))
        continue;
    for (uint32_t page = 0; page < index->pool->page_count; page++)
        if (index->nodes[page].count == 0)
            explicit_bzero(&index->nodes[page], sizeof index->nodes[page]);
    kv_pool_wipe_free(index->pool);
}

/* Called before a page is written. Only half-full pages are, and these have no children. */
static void forget_page(void *ctx, uint32_t page)
{
    struct prefix_index *index = ctx;
    if (index->nodes[page].count != 0 && index->nodes[page].child == KV_NO_PAGE)
        remove_node(index, page);
}

uint32_t prefix_available(const struct prefix_index *index)
{
    uint32_t count = index->pool->free_count;
    for (uint32_t page = 0; page < index->pool->page_count; page++)
        count += is_spare(index, page);
    return count;
}

struct prefix_index *prefix_index_new(struct kv_pool *pool)
{
    ASSERT(pool->keeper == NULL);
    struct prefix_index *index = calloc(1, sizeof *index);
    if (index == NULL)
        return NULL;
    index->pool = pool;
    index->root = KV_NO_PAGE;
    index->nodes = calloc(pool->page_count, sizeof *index->nodes);
    if (index->nodes == NULL) {
        free(index);
        return NULL;
    }
    pool->reclaim = give_back_oldest;
    pool->forget = forget_page;
    pool->keeper = index;
    return index;
}

void prefix_index_free(struct prefix_index *index)
{
    if (index == NULL)
        return;
    for (uint32_t page = 0; page < index->pool->page_count; page++)
        if (index->nodes[page].count != 0)
            kv_page_release(index->pool, page);
    index->pool->reclaim = NULL;
    index->pool->forget = NULL;
    free(index->nodes);
    free(index);
}
