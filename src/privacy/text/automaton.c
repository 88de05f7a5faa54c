/* Nodes in one array; edges in one hash table by (node, byte), because most nodes have one child
 * and a row of 256 for each would cost a kilobyte. The root's edges, which are asked most, have a
 * row. */
#include "privacy/text/automaton.h"

#include "base/core/assertion.h"
#include "base/crypto/hash.h"

#include <stdlib.h>

struct node {
    uint32_t depth;
    uint32_t value;      /* AUTOMATON_NONE: no word ends here */
    uint32_t fail;       /* longest proper suffix that is a node */
    uint32_t next_whole; /* of the suffixes, the longest that is a word; AUTOMATON_NONE */
    uint32_t parent;
    unsigned char byte;
    bool gap;
};

struct edge {
    uint32_t node, child; /* child 0: free, the root is nobody's */
    unsigned char byte;
};

struct automaton {
    struct node *nodes;
    uint32_t node_count, node_capacity, node_max, depth_max;
    struct edge *edges; /* [edge_mask + 1], at most half full */
    uint32_t edge_mask;
    uint32_t root_child[256];
    bool sealed;
};

#define NODES_FIRST 64u

struct automaton *automaton_new(uint32_t node_max)
{
    struct automaton *automaton = calloc(1, sizeof *automaton);
    if (automaton == NULL)
        return NULL;
    automaton->node_max = node_max < UINT32_MAX / 8 ? node_max : UINT32_MAX / 8;
    automaton->node_capacity = NODES_FIRST;
    automaton->edge_mask = 2 * NODES_FIRST - 1;
    automaton->nodes = calloc(automaton->node_capacity, sizeof *automaton->nodes);
    automaton->edges = calloc((size_t)automaton->edge_mask + 1, sizeof *automaton->edges);
    if (automaton->nodes == NULL || automaton->edges == NULL) {
        automaton_free(automaton);
        return NULL;
    }
    automaton->nodes[0] = (struct node){.value = AUTOMATON_NONE, .next_whole = AUTOMATON_NONE};
    automaton->node_count = 1;
    return automaton;
}

void automaton_free(struct automaton *automaton)
{
    if (automaton == NULL)
        return;
    free(automaton->nodes);
    free(automaton->edges);
    free(automaton);
}

static struct edge *edge_at(struct edge *edges, uint32_t mask, uint32_t node, unsigned char byte)
{
    uint32_t i = (uint32_t)hash_mix64((uint64_t)node << 8 | byte) & mask;
    while (edges[i].child != 0 && (edges[i].node != node || edges[i].byte != byte))
        i = (i + 1) & mask;
    return &edges[i];
}

static uint32_t child_of(const struct automaton *automaton, uint32_t node, unsigned char byte)
{
    if (node == AUTOMATON_ROOT)
        return automaton->root_child[byte];
    return edge_at(automaton->edges, automaton->edge_mask, node, byte)->child;
}

static bool grow(struct automaton *automaton)
{
    if (automaton->node_count < automaton->node_capacity)
        return true;
    uint32_t capacity = automaton->node_capacity * 2, mask = 2 * capacity - 1;
    struct node *nodes = realloc(automaton->nodes, (size_t)capacity * sizeof *nodes);
    if (nodes == NULL)
        return false;
    automaton->nodes = nodes;
    struct edge *edges = calloc((size_t)mask + 1, sizeof *edges);
    if (edges == NULL)
        return false;
    for (uint32_t i = 0; i <= automaton->edge_mask; i++) {
        const struct edge *old = &automaton->edges[i];
        if (old->child != 0)
            *edge_at(edges, mask, old->node, old->byte) = *old;
    }
    free(automaton->edges);
    automaton->edges = edges;
    automaton->edge_mask = mask;
    automaton->node_capacity = capacity;
    return true;
}

static uint32_t child_made(struct automaton *automaton, uint32_t node, unsigned char byte)
{
    uint32_t child = child_of(automaton, node, byte);
    if (child != 0)
        return child;
    if (automaton->node_count >= automaton->node_max || !grow(automaton))
        return 0;
    child = automaton->node_count++;
    automaton->nodes[child] = (struct node){.depth = automaton->nodes[node].depth + 1,
                                            .value = AUTOMATON_NONE,
                                            .next_whole = AUTOMATON_NONE,
                                            .parent = node,
                                            .byte = byte};
    if (node == AUTOMATON_ROOT)
        automaton->root_child[byte] = child;
    else
        *edge_at(automaton->edges, automaton->edge_mask, node, byte) =
            (struct edge){.node = node, .child = child, .byte = byte};
    return child;
}

bool automaton_add(struct automaton *automaton, struct td_str word, const bool *gaps,
                   uint32_t *value)
{
    ASSERT(!automaton->sealed);
    uint32_t node = AUTOMATON_ROOT;
    for (size_t i = 0; i < word.len; i++) {
        node = child_made(automaton, node, (unsigned char)word.data[i]);
        if (node == 0)
            return false;
        automaton->nodes[node].gap |= gaps != NULL && gaps[i];
    }
    if (node == AUTOMATON_ROOT)
        return false;
    if (automaton->nodes[node].value == AUTOMATON_NONE)
        automaton->nodes[node].value = *value;
    else
        *value = automaton->nodes[node].value;
    if (automaton->nodes[node].depth > automaton->depth_max)
        automaton->depth_max = automaton->nodes[node].depth;
    return true;
}

uint32_t automaton_step(const struct automaton *automaton, uint32_t state, unsigned char byte)
{
    for (;;) {
        uint32_t child = child_of(automaton, state, byte);
        if (child != 0 || state == AUTOMATON_ROOT)
            return child;
        state = automaton->nodes[state].fail;
    }
}

static int by_depth(const void *a, const void *b, void *nodes)
{
    const struct node *all = nodes;
    uint32_t x = all[*(const uint32_t *)a].depth, y = all[*(const uint32_t *)b].depth;
    return (x > y) - (x < y);
}

bool automaton_seal(struct automaton *automaton)
{
    uint32_t *order = malloc((size_t)automaton->node_count * sizeof *order);
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < automaton->node_count; i++)
        order[i] = i;
    qsort_r(order, automaton->node_count, sizeof *order, by_depth, automaton->nodes);
    for (uint32_t i = 0; i < automaton->node_count; i++) {
        struct node *node = &automaton->nodes[order[i]];
        if (node->depth < 2)
            continue; /* root and its children fail to the root */
        node->fail = automaton_step(automaton, automaton->nodes[node->parent].fail, node->byte);
        const struct node *shorter = &automaton->nodes[node->fail];
        node->next_whole = shorter->value != AUTOMATON_NONE ? node->fail : shorter->next_whole;
    }
    free(order);
    automaton->sealed = true;
    return true;
}

uint32_t automaton_depth(const struct automaton *automaton, uint32_t state)
{
    return automaton->nodes[state].depth;
}

uint32_t automaton_shorter(const struct automaton *automaton, uint32_t state)
{
    return automaton->nodes[state].fail;
}

uint32_t automaton_gap(const struct automaton *automaton, uint32_t state)
{
    while (state != AUTOMATON_ROOT && !automaton->nodes[state].gap)
        state = automaton->nodes[state].fail;
    return state;
}

uint32_t automaton_value(const struct automaton *automaton, uint32_t state)
{
    return automaton->nodes[state].value;
}

uint32_t automaton_next_whole(const struct automaton *automaton, uint32_t state)
{
    return automaton->nodes[state].next_whole;
}

uint32_t automaton_depth_max(const struct automaton *automaton)
{
    return automaton->depth_max;
}
