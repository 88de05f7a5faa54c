/* Follows a text through a grammar byte by byte. A place in the text is a set of stacks, because a
 * grammar may be ambiguous. Stacks share their tails: a node is a state and the node to return to
 * when its rule ends. Nodes and sets are numbered and never made twice, so equal sets have equal
 * numbers, and the step from a set with a class of bytes is computed once and then looked up. In a
 * usual JSON schema nearly every byte is such a look-up. When a limit is met, matcher_compact
 * starts again with the current set alone. */
#include "engine/grammar/grammar_match.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/crypto/hash.h"

#include <stdlib.h>
#include <string.h>

/* Limits of one matcher, together below 40 MB. A JSON schema of a hundred members stays below 1
 * MB. */
#define NODES_MAX (1u << 18)
#define SETS_MAX (1u << 14)
#define HEADS_MAX (1u << 20)     /* of all sets together */
#define SET_HEADS_MAX 4096u      /* stacks of one set */
#define CLOSURE_MAX (1u << 15)   /* places visited for one byte */
#define UNKNOWN (UINT32_MAX - 1) /* a step that was not computed yet */

struct node {
    uint32_t state, parent; /* parent: the node to return to when the rule ends; 0 = none */
    uint32_t depth;
    uint32_t bytes; /* fewest bytes to the end of the text */
};

struct set {
    uint32_t first, count; /* its heads: nodes whose state reads a byte */
    uint32_t bytes;
    bool may_end;
};

struct place {
    uint32_t state, parent;
};

/* A growing array of 32-bit numbers, with a limit. */
struct numbers {
    uint32_t *data;
    uint32_t count, capacity, max;
};

struct matcher {
    struct td_grammar *grammar;
    struct node *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *node_table; /* open addressing over nodes; 0 = empty */
    uint32_t node_mask;
    struct set *sets;
    uint32_t set_count, set_capacity;
    uint32_t *set_table; /* [2 * SETS_MAX] set + 1 */
    struct numbers heads, rows;
    bool full;

    struct place *pending;  /* [CLOSURE_MAX] */
    struct place *visited;  /* [2 * CLOSURE_MAX] open addressing */
    uint32_t *visited_when; /* [2 * CLOSURE_MAX] closure that wrote the slot */
    uint32_t closure, visited_count, pending_count;
    uint32_t found[SET_HEADS_MAX]; /* heads of the set being made */
    uint32_t found_count;
    bool found_end;
};

/* --- growing ---------------------------------------------------------------------------------- */

static void *grow(void *data, uint32_t *capacity, uint32_t wanted, uint32_t max, size_t bytes)
{
    if (wanted > max)
        return NULL;
    uint32_t larger = *capacity ? *capacity : 256;
    while (larger < wanted)
        larger *= 2;
    void *grown = realloc(data, larger * bytes);
    if (grown)
        *capacity = larger;
    else
        shortage_note();
    return grown;
}

static bool numbers_reserve(struct numbers *numbers, uint32_t more)
{
    uint32_t wanted = numbers->count + more;
    if (wanted <= numbers->capacity)
        return true;
    void *grown =
        grow(numbers->data, &numbers->capacity, wanted, numbers->max, sizeof *numbers->data);
    if (grown)
        numbers->data = grown;
    return grown != NULL;
}

static uint32_t place_hash(uint32_t state, uint32_t parent)
{
    return (uint32_t)hash_mix64((uint64_t)state << 32 | parent);
}

/* Doubles the table when it is more than half full. */
static bool node_table_reserve(struct matcher *m)
{
    if (m->node_table && m->node_count * 2 < m->node_mask)
        return true;
    uint32_t size = m->node_table ? (m->node_mask + 1) * 2 : 1024;
    uint32_t *table = calloc(size, sizeof *table);
    if (table == NULL) {
        shortage_note();
        return false;
    }
    free(m->node_table);
    m->node_table = table;
    m->node_mask = size - 1;
    for (uint32_t n = 1; n < m->node_count; n++) {
        uint32_t at = place_hash(m->nodes[n].state, m->nodes[n].parent);
        while (table[at & m->node_mask])
            at++;
        table[at & m->node_mask] = n;
    }
    return true;
}

static uint32_t capped_sum(uint32_t a, uint32_t b)
{
    return a + b < GRAMMAR_COST_MAX ? a + b : GRAMMAR_COST_MAX;
}

/* The node of this state and parent. 0, and m->full is set, when there is no room. */
static uint32_t find_or_add_node(struct matcher *m, uint32_t state, uint32_t parent)
{
    if (!node_table_reserve(m)) {
        m->full = true;
        return 0;
    }
    uint32_t at = place_hash(state, parent);
    for (uint32_t n; (n = m->node_table[at & m->node_mask]) != 0; at++)
        if (m->nodes[n].state == state && m->nodes[n].parent == parent)
            return n;
    if (m->node_count == m->node_capacity) {
        void *grown =
            grow(m->nodes, &m->node_capacity, m->node_count + 1, NODES_MAX, sizeof *m->nodes);
        if (grown == NULL) {
            m->full = true;
            return 0;
        }
        m->nodes = grown;
    }
    m->nodes[m->node_count] = (struct node){
        .state = state,
        .parent = parent,
        .depth = m->nodes[parent].depth + 1,
        .bytes = capped_sum(m->grammar->states[state].bytes_to_end, m->nodes[parent].bytes)};
    m->node_table[at & m->node_mask] = m->node_count;
    return m->node_count++;
}

/* --- closure ---------------------------------------------------------------------------------- */

/* Adds a place to the pending ones, unless this closure has seen it. */
static void visit(struct matcher *m, uint32_t state, uint32_t parent)
{
    const struct grammar_state *s = &m->grammar->states[state];
    if (s->depth == GRAMMAR_NONE || s->depth + m->nodes[parent].depth > m->grammar->depth_max)
        return;
    uint32_t mask = 2 * CLOSURE_MAX - 1, at = place_hash(state, parent);
    for (; m->visited_when[at & mask] == m->closure; at++)
        if (m->visited[at & mask].state == state && m->visited[at & mask].parent == parent)
            return;
    if (m->visited_count == CLOSURE_MAX) {
        m->full = true;
        return;
    }
    m->visited_count++;
    m->visited_when[at & mask] = m->closure;
    m->visited[at & mask] = (struct place){state, parent};
    m->pending[m->pending_count++] = (struct place){state, parent};
}

static void add_head(struct matcher *m, uint32_t state, uint32_t parent)
{
    if (m->found_count == SET_HEADS_MAX)
        m->full = true;
    else
        m->found[m->found_count++] = find_or_add_node(m, state, parent);
}

static void follow(struct matcher *m, struct place place)
{
    const struct grammar_state *s = &m->grammar->states[place.state];
    switch ((enum grammar_kind)s->kind) {
    case GRAMMAR_END:
        if (place.parent == 0)
            m->found_end = true;
        else
            visit(m, m->nodes[place.parent].state, m->nodes[place.parent].parent);
        break;
    case GRAMMAR_SPLIT:
        visit(m, s->other, place.parent);
        visit(m, s->next, place.parent);
        break;
    case GRAMMAR_EPSILON:
        visit(m, s->next, place.parent);
        break;
    case GRAMMAR_BYTES:
        add_head(m, place.state, place.parent);
        break;
    case GRAMMAR_CALL: {
        /* The last call of a rule returns where the rule itself would return, so that a list does
         * not grow the stack. */
        bool last = m->grammar->states[s->next].kind == GRAMMAR_END;
        uint32_t parent = last ? place.parent : find_or_add_node(m, s->next, place.parent);
        if (!m->full)
            visit(m, s->other, parent);
        break;
    }
    }
}

static void begin_closure(struct matcher *m)
{
    if (++m->closure == 0) { /* the counter has wrapped around */
        memset(m->visited_when, 0, 2 * CLOSURE_MAX * sizeof *m->visited_when);
        m->closure = 1;
    }
    m->visited_count = m->pending_count = m->found_count = 0;
    m->found_end = false;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool set_equals_found(const struct matcher *m, const struct set *set)
{
    return set->count == m->found_count && set->may_end == m->found_end &&
           (set->count == 0 ||
            memcmp(m->heads.data + set->first, m->found, set->count * sizeof *m->found) == 0);
}

static uint32_t add_set(struct matcher *m)
{
    uint32_t classes = m->grammar->class_count;
    if (!numbers_reserve(&m->heads, m->found_count) || !numbers_reserve(&m->rows, classes))
        return MATCH_FULL;
    if (m->set_count == m->set_capacity) {
        void *grown = grow(m->sets, &m->set_capacity, m->set_count + 1, SETS_MAX, sizeof *m->sets);
        if (grown == NULL)
            return MATCH_FULL;
        m->sets = grown;
    }
    struct set set = {.first = m->heads.count,
                      .count = m->found_count,
                      .may_end = m->found_end,
                      .bytes = m->found_end ? 0 : GRAMMAR_COST_MAX};
    for (uint32_t i = 0; i < m->found_count; i++) {
        uint32_t bytes = m->nodes[m->found[i]].bytes;
        set.bytes = bytes < set.bytes ? bytes : set.bytes;
        m->heads.data[m->heads.count++] = m->found[i];
    }
    for (uint32_t i = 0; i < classes; i++)
        m->rows.data[m->rows.count++] = UNKNOWN;
    m->sets[m->set_count] = set;
    return m->set_count++;
}

/* Follows all pending places until they read a byte; returns the number of the set. */
static uint32_t end_closure(struct matcher *m)
{
    while (m->pending_count > 0 && !m->full)
        follow(m, m->pending[--m->pending_count]);
    if (m->full)
        return MATCH_FULL;
    qsort(m->found, m->found_count, sizeof *m->found, compare_numbers);
    uint64_t hash = hash_mix64(hash_fnv1a64(m->found, m->found_count * sizeof *m->found,
                                            HASH_FNV1A64_BASIS + m->found_end));
    uint32_t mask = 2 * SETS_MAX - 1, at = (uint32_t)hash;
    for (uint32_t entry; (entry = m->set_table[at & mask]) != 0; at++)
        if (set_equals_found(m, &m->sets[entry - 1]))
            return entry - 1;
    uint32_t set = add_set(m);
    if (set == MATCH_FULL)
        m->full = true;
    else
        m->set_table[at & mask] = set + 1;
    return set;
}

/* --- from outside ----------------------------------------------------------------------------- */

/* Empties the matcher. Only the node below all stacks and the dead set stay. */
static bool reset(struct matcher *m)
{
    m->node_count = 1;
    m->nodes[0] = (struct node){.state = GRAMMAR_NONE};
    if (m->node_table)
        memset(m->node_table, 0, ((size_t)m->node_mask + 1) * sizeof *m->node_table);
    memset(m->set_table, 0, 2 * SETS_MAX * sizeof *m->set_table);
    m->set_count = m->heads.count = m->rows.count = 0;
    m->full = false;
    begin_closure(m);
    return end_closure(m) == MATCH_DEAD;
}

enum td_status matcher_new(struct td_grammar *grammar, struct matcher **out, struct td_error *err)
{
    ASSERT(grammar != NULL && grammar->references > 0);
    *out = NULL;
    struct matcher *m = calloc(1, sizeof *m);
    if (m == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for following a grammar");
    m->grammar = grammar_retain(grammar);
    m->heads.max = HEADS_MAX;
    m->rows.max = SETS_MAX * 256;
    m->node_capacity = 256;
    m->nodes = calloc(m->node_capacity, sizeof *m->nodes);
    m->set_table = calloc(2 * SETS_MAX, sizeof *m->set_table);
    m->pending = calloc(CLOSURE_MAX, sizeof *m->pending);
    m->visited = calloc(2 * CLOSURE_MAX, sizeof *m->visited);
    m->visited_when = calloc(2 * CLOSURE_MAX, sizeof *m->visited_when);
    if (!m->nodes || !m->set_table || !m->pending || !m->visited || !m->visited_when || !reset(m)) {
        matcher_free(m);
        return error_set(err, TD_NO_MEMORY, "no memory for following a grammar");
    }
    *out = m;
    return TD_OK;
}

void matcher_free(struct matcher *m)
{
    if (m == NULL)
        return;
    td_grammar_free(m->grammar);
    free(m->nodes);
    free(m->node_table);
    free(m->sets);
    free(m->set_table);
    free(m->heads.data);
    free(m->rows.data);
    free(m->pending);
    free(m->visited);
    free(m->visited_when);
    free(m);
}

uint32_t matcher_start(struct matcher *m)
{
    begin_closure(m);
    visit(m, m->grammar->start, 0);
    return end_closure(m);
}

static uint32_t take_step(struct matcher *m, uint32_t set, uint32_t class)
{
    unsigned char byte = m->grammar->class_bytes[class];
    begin_closure(m);
    for (uint32_t i = 0; i < m->sets[set].count; i++) {
        struct node head = m->nodes[m->heads.data[m->sets[set].first + i]];
        const struct grammar_state *s = &m->grammar->states[head.state];
        if (byte >= s->low && byte <= s->high)
            visit(m, s->next, head.parent);
    }
    uint32_t next = end_closure(m);
    if (next != MATCH_FULL)
        m->rows.data[set * m->grammar->class_count + class] = next;
    return next;
}

uint32_t matcher_step(struct matcher *m, uint32_t set, unsigned char byte)
{
    uint32_t class = m->grammar->classes[byte];
    uint32_t next = m->rows.data[set * m->grammar->class_count + class];
    return next == UNKNOWN ? take_step(m, set, class) : next;
}

bool matcher_may_end(const struct matcher *m, uint32_t set)
{
    ASSERT(set < m->set_count);
    return m->sets[set].may_end;
}

bool matcher_must_end(const struct matcher *m, uint32_t set)
{
    ASSERT(set < m->set_count);
    return m->sets[set].may_end && m->sets[set].count == 0;
}

int matcher_forced_byte(const struct matcher *m, uint32_t set)
{
    ASSERT(set < m->set_count);
    const struct set *s = &m->sets[set];
    int byte = -1;
    for (uint32_t i = 0; i < s->count && !s->may_end; i++) {
        const struct grammar_state *state =
            &m->grammar->states[m->nodes[m->heads.data[s->first + i]].state];
        if (state->low != state->high || (byte >= 0 && byte != state->low))
            return -1;
        byte = state->low;
    }
    return byte;
}

uint32_t matcher_bytes_to_end(const struct matcher *m, uint32_t set)
{
    return m->sets[set].bytes;
}

bool matcher_is_crowded(const struct matcher *m)
{
    return m->full || m->set_count > SETS_MAX / 2 || m->node_count > NODES_MAX / 2 ||
           m->heads.count > HEADS_MAX / 2;
}

/* Writes one stack into the emptied matcher, from its bottom up. */
static uint32_t rebuild_stack(struct matcher *m, const struct node *old, uint32_t top)
{
    uint32_t path[GRAMMAR_DEPTH_MAX + 2], depth = 0, parent = 0;
    for (uint32_t n = top; n != 0; n = old[n].parent)
        path[depth++] = n;
    while (depth > 0 && !m->full)
        parent = find_or_add_node(m, old[path[--depth]].state, parent);
    return parent;
}

uint32_t matcher_compact(struct matcher *m, uint32_t set)
{
    ASSERT(set < m->set_count);
    struct set kept = m->sets[set];
    struct node *old = calloc(m->node_count, sizeof *old);
    uint32_t *heads = calloc((size_t)kept.count + 1, sizeof *heads);
    uint32_t out = MATCH_FULL;
    if (old == NULL || heads == NULL)
        shortage_note();
    if (old && heads) {
        memcpy(old, m->nodes, m->node_count * sizeof *old);
        if (kept.count)
            memcpy(heads, m->heads.data + kept.first, kept.count * sizeof *heads);
        if (reset(m)) {
            begin_closure(m);
            for (uint32_t i = 0; i < kept.count && !m->full; i++)
                m->found[m->found_count++] = rebuild_stack(m, old, heads[i]);
            m->found_end = kept.may_end;
            out = end_closure(m);
        }
    }
    m->full = m->full || out == MATCH_FULL;
    free(old);
    free(heads);
    return out;
}
