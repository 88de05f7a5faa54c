/* Makes a grammar of the states that grammar_parse.c wrote: names are linked and empty steps are
 * removed. Then it checks what the matcher relies on:
 *
 * - No rule is left-recursive (reaches itself without a byte), so every closure is finite.
 * - Every rule can end. For each state it computes how many bytes and how many levels of rules that
 *   takes at least. The matcher never enters a path that would exceed the depth limit, so it can
 *   complete everything that it has entered.
 *
 * The least costs are the least fixed point of superior functions (Knuth 1977, "A generalization of
 * Dijkstra's algorithm"): each state is settled once, in the order of its cost. */
#include "engine/grammar/grammar.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <stdlib.h>
#include <string.h>

struct linker {
    struct td_str text;
    struct grammar_parts parts;
    struct td_error *err;
};

/* --- links ------------------------------------------------------------------------------------ */

static enum td_status rule_error(const struct linker *l, enum td_status status, uint32_t rule,
                                 const char *words)
{
    struct td_str name = str_slice(l->parts.rules[rule].name, 0, 60);
    return grammar_error(l->err, status, l->text, l->parts.rules[rule].offset,
                         "rule '" STR_FMT "' %s", STR_ARG(name), words);
}

static uint32_t skip_epsilon(const struct grammar_state *states, uint32_t at)
{
    while (at != GRAMMAR_NONE && states[at].kind == GRAMMAR_EPSILON &&
           states[at].next != GRAMMAR_NONE)
        at = states[at].next;
    return at;
}

static enum td_status link_states(struct linker *l)
{
    struct grammar_state *states = l->parts.states;
    for (uint32_t r = 0; r < l->parts.rule_count; r++) {
        struct grammar_rule *rule = &l->parts.rules[r];
        if (rule->start == GRAMMAR_NONE)
            return rule_error(l, TD_INVALID, r, "is not defined");
        rule->start = skip_epsilon(states, rule->start);
    }
    for (uint32_t s = 0; s < l->parts.state_count; s++) {
        states[s].next = skip_epsilon(states, states[s].next);
        if (states[s].kind == GRAMMAR_CALL)
            states[s].other = l->parts.rules[states[s].other].start;
        else
            states[s].other = skip_epsilon(states, states[s].other);
    }
    return TD_OK;
}

/* --- least costs ------------------------------------------------------------------------------ */

struct costs {
    struct grammar_state *states;
    uint32_t count;
    bool depth;      /* count levels of rules instead of bytes */
    uint32_t *users; /* [users_begin[s] .. users_begin[s + 1]): states whose cost depends on s */
    uint32_t *users_begin;
    uint32_t *buckets; /* [GRAMMAR_COST_MAX + 1] heads of lists */
    uint32_t *link;    /* [count] next in the bucket */
    bool *settled;
};

static uint32_t *cost_of(const struct costs *c, uint32_t state)
{
    return c->depth ? &c->states[state].depth : &c->states[state].bytes_to_end;
}

static uint32_t saturate(uint32_t cost)
{
    return cost < GRAMMAR_COST_MAX ? cost : GRAMMAR_COST_MAX;
}

static unsigned premises(const struct grammar_state *state, uint32_t out[2])
{
    unsigned count = 0;
    if (state->kind == GRAMMAR_END)
        return 0;
    if (state->next != GRAMMAR_NONE)
        out[count++] = state->next;
    if ((state->kind == GRAMMAR_SPLIT || state->kind == GRAMMAR_CALL) &&
        state->other != GRAMMAR_NONE)
        out[count++] = state->other;
    return count;
}

static void find_users(struct costs *c)
{
    uint32_t on[2];
    for (uint32_t s = 0; s < c->count; s++)
        for (unsigned i = premises(&c->states[s], on); i-- > 0;)
            c->users_begin[on[i] + 1]++;
    for (uint32_t s = 0; s < c->count; s++)
        c->users_begin[s + 1] += c->users_begin[s];
    for (uint32_t s = 0; s < c->count; s++) /* c->link is the fill level here */
        c->link[s] = c->users_begin[s];
    for (uint32_t s = 0; s < c->count; s++)
        for (unsigned i = premises(&c->states[s], on); i-- > 0;)
            c->users[c->link[on[i]]++] = s;
}

static void set_cost(struct costs *c, uint32_t state, uint32_t cost)
{
    *cost_of(c, state) = cost;
    c->link[state] = c->buckets[cost];
    c->buckets[cost] = state;
}

/* A state that `state` depends on was just settled at `cost`. */
static void improve(struct costs *c, uint32_t state, uint32_t cost)
{
    const struct grammar_state *s = &c->states[state];
    if (*cost_of(c, state) != GRAMMAR_NONE)
        return;
    if (s->kind == GRAMMAR_BYTES && !c->depth)
        cost = saturate(cost + 1);
    if (s->kind == GRAMMAR_CALL) {
        if (s->next == GRAMMAR_NONE || !c->settled[s->next] || !c->settled[s->other])
            return;
        uint32_t inside = *cost_of(c, s->other), after = *cost_of(c, s->next);
        cost = c->depth ? (inside + 1 > after ? inside + 1 : after) : inside + after;
        cost = saturate(cost);
    }
    set_cost(c, state, cost);
}

static void find_costs(struct costs *c, bool depth)
{
    c->depth = depth;
    for (uint32_t cost = 0; cost <= GRAMMAR_COST_MAX; cost++)
        c->buckets[cost] = GRAMMAR_NONE;
    for (uint32_t s = 0; s < c->count; s++) {
        c->settled[s] = false;
        *cost_of(c, s) = GRAMMAR_NONE;
        if (c->states[s].kind == GRAMMAR_END)
            set_cost(c, s, 0);
    }
    for (uint32_t cost = 0; cost <= GRAMMAR_COST_MAX; cost++)
        while (c->buckets[cost] != GRAMMAR_NONE) {
            uint32_t s = c->buckets[cost];
            c->buckets[cost] = c->link[s];
            c->settled[s] = true;
            for (uint32_t u = c->users_begin[s]; u < c->users_begin[s + 1]; u++)
                improve(c, c->users[u], cost);
        }
}

static enum td_status measure(struct linker *l)
{
    struct costs c = {.states = l->parts.states, .count = l->parts.state_count};
    c.users = calloc((size_t)c.count * 2, sizeof *c.users);
    c.users_begin = calloc((size_t)c.count + 1, sizeof *c.users_begin);
    c.buckets = calloc(GRAMMAR_COST_MAX + 1, sizeof *c.buckets);
    c.link = calloc(c.count, sizeof *c.link);
    c.settled = calloc(c.count, sizeof *c.settled);
    enum td_status status = TD_OK;
    if (c.users && c.users_begin && c.buckets && c.link && c.settled) {
        find_users(&c);
        find_costs(&c, false);
        find_costs(&c, true);
    } else {
        status = error_set(l->err, TD_NO_MEMORY, "no memory for a grammar");
    }
    free(c.users);
    free(c.users_begin);
    free(c.buckets);
    free(c.link);
    free(c.settled);
    for (uint32_t r = 0; status == TD_OK && r < l->parts.rule_count; r++)
        if (l->parts.states[l->parts.rules[r].start].bytes_to_end == GRAMMAR_NONE)
            status = rule_error(l, TD_INVALID, r, "can never end");
    return status;
}

/* --- left recursion --------------------------------------------------------------------------- */

/* Of a rule in the depth-first search. */
enum progress { RULE_NEW, RULE_OPEN, RULE_DONE };

struct corners {
    const struct grammar_state *states;
    uint32_t *seen;        /* [states] the last rule that visited the state, + 1 */
    uint32_t *stack;       /* [states] */
    uint32_t *rule_of;     /* [states] the rule that starts there, + 1 */
    uint32_t *edges;       /* [states] rules called at the left corner, rule by rule */
    uint32_t *edges_begin; /* [rules + 1] */
    enum progress *rules;  /* [rules] */
};

/* Appends the rules that rule `r` may begin with. Each state is visited once for a rule. */
static uint32_t left_corners(struct corners *c, uint32_t r, uint32_t start, uint32_t edge_count)
{
    uint32_t depth = 0;
    c->stack[depth++] = start;
    c->seen[start] = r + 1;
    while (depth > 0) {
        const struct grammar_state *s = &c->states[c->stack[--depth]];
        uint32_t next[2] = {GRAMMAR_NONE, GRAMMAR_NONE};
        if (s->kind == GRAMMAR_EPSILON || s->kind == GRAMMAR_SPLIT) {
            next[0] = s->next;
            next[1] = s->other;
        } else if (s->kind == GRAMMAR_CALL) {
            c->edges[edge_count++] = c->rule_of[s->other] - 1;
            next[0] = c->states[s->other].bytes_to_end == 0 ? s->next : GRAMMAR_NONE;
        }
        for (int i = 0; i < 2; i++)
            if (next[i] != GRAMMAR_NONE && c->seen[next[i]] != r + 1) {
                c->seen[next[i]] = r + 1;
                c->stack[depth++] = next[i];
            }
    }
    return edge_count;
}

/* Searches the rules depth first. Returns a rule that is met again while it is open, or
 * GRAMMAR_NONE. */
static uint32_t find_cycle(struct corners *c, uint32_t rule_count)
{
    for (uint32_t root = 0; root < rule_count; root++) {
        uint32_t depth = 0;
        if (c->rules[root] == RULE_NEW) {
            c->stack[depth++] = root;
            c->rules[root] = RULE_OPEN;
        }
        while (depth > 0) {
            uint32_t r = c->stack[depth - 1];
            if (c->edges_begin[r] == c->edges_begin[rule_count + 1 + r]) {
                c->rules[r] = RULE_DONE;
                depth--;
                continue;
            }
            uint32_t to = c->edges[c->edges_begin[r]++];
            if (c->rules[to] == RULE_OPEN)
                return to;
            if (c->rules[to] == RULE_NEW) {
                c->rules[to] = RULE_OPEN;
                c->stack[depth++] = to;
            }
        }
    }
    return GRAMMAR_NONE;
}

static enum td_status refuse_left_recursion(struct linker *l)
{
    uint32_t states = l->parts.state_count, rules = l->parts.rule_count;
    uint32_t room = states + rules + 1, edge_count = 0, cycle = GRAMMAR_NONE;
    struct corners c = {.states = l->parts.states};
    c.seen = calloc(states, sizeof *c.seen);
    c.stack = calloc(room, sizeof *c.stack);
    c.rule_of = calloc(states, sizeof *c.rule_of);
    c.edges = calloc(room, sizeof *c.edges);
    c.edges_begin = calloc(2 * (size_t)rules + 2, sizeof *c.edges_begin);
    c.rules = calloc((size_t)rules + 1, sizeof *c.rules);
    enum td_status status = TD_OK;
    if (c.seen && c.stack && c.rule_of && c.edges && c.edges_begin && c.rules) {
        for (uint32_t r = 0; r < rules; r++)
            c.rule_of[l->parts.rules[r].start] = r + 1;
        for (uint32_t r = 0; r < rules; r++) {
            c.edges_begin[r] = edge_count;
            edge_count = left_corners(&c, r, l->parts.rules[r].start, edge_count);
            c.edges_begin[rules + 1 + r] = edge_count;
        }
        cycle = find_cycle(&c, rules);
    } else {
        status = error_set(l->err, TD_NO_MEMORY, "no memory for a grammar");
    }
    free(c.seen);
    free(c.stack);
    free(c.rule_of);
    free(c.edges);
    free(c.edges_begin);
    free(c.rules);
    if (cycle != GRAMMAR_NONE)
        status = rule_error(l, TD_INVALID, cycle,
                            "is left-recursive: it reaches itself without "
                            "a character");
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void find_classes(struct td_grammar *grammar)
{
    bool begins[257] = {true};
    for (uint32_t s = 0; s < grammar->state_count; s++)
        if (grammar->states[s].kind == GRAMMAR_BYTES) {
            begins[grammar->states[s].low] = true;
            begins[grammar->states[s].high + 1] = true;
        }
    uint32_t class = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        if (begins[byte] && byte > 0)
            class ++;
        if (begins[byte])
            grammar->class_bytes[class] = (uint8_t)byte;
        grammar->classes[byte] = (uint8_t) class;
    }
    grammar->class_count = class + 1;
}

static enum td_status check_root(struct linker *l, uint32_t rule, uint32_t depth_max)
{
    const struct grammar_state *state = &l->parts.states[l->parts.rules[rule].start];
    if (state->depth > depth_max)
        return rule_error(l, TD_LIMIT, rule, "needs rules nested deeper than the limit");
    if (state->bytes_to_end >= GRAMMAR_COST_MAX)
        return rule_error(l, TD_LIMIT, rule, "allows no text of less than 65535 bytes");
    return TD_OK;
}

/* "root" is the start, "root0", "root1", ... are the further ones. */
static enum td_status find_roots(struct linker *l, uint32_t depth_max, uint32_t *start,
                                 uint32_t roots[GRAMMAR_ROOTS_MAX])
{
    enum td_status status = TD_OK;
    bool found = false;
    for (uint32_t i = 0; i < GRAMMAR_ROOTS_MAX; i++)
        roots[i] = GRAMMAR_NONE;
    for (uint32_t r = 0; status == TD_OK && r < l->parts.rule_count; r++) {
        struct td_str name = l->parts.rules[r].name;
        uint32_t *to = NULL;
        if (str_equal(name, STR("root")))
            to = start;
        else if (name.len == 5 && str_starts_with(name, STR("root")) && name.data[4] >= '0' &&
                 name.data[4] < '0' + (char)GRAMMAR_ROOTS_MAX)
            to = &roots[name.data[4] - '0'];
        if (!to)
            continue;
        found |= to == start;
        *to = l->parts.rules[r].start;
        status = check_root(l, r, depth_max);
    }
    return status != TD_OK || found
               ? status
               : error_set(l->err, TD_INVALID, "the grammar has no rule named root");
}

enum td_status grammar_compile(struct td_str text, uint32_t depth_max, struct td_grammar **out,
                               struct td_error *err)
{
    ASSERT(depth_max >= 1 && depth_max <= GRAMMAR_DEPTH_MAX);
    ASSERT(out != NULL);
    struct linker l = {.text = text, .err = err};
    uint32_t start = 0, roots[GRAMMAR_ROOTS_MAX];
    *out = NULL;
    enum td_status status = grammar_parse(text, &l.parts, err);
    if (status == TD_OK)
        status = link_states(&l);
    if (status == TD_OK)
        status = measure(&l);
    if (status == TD_OK)
        status = refuse_left_recursion(&l);
    if (status == TD_OK)
        status = find_roots(&l, depth_max, &start, roots);
    struct td_grammar *grammar = status == TD_OK ? calloc(1, sizeof *grammar) : NULL;
    if (status == TD_OK && grammar == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for a grammar");
    free(l.parts.rules);
    if (status != TD_OK) {
        free(l.parts.states);
        return status;
    }
    atomic_init(&grammar->references, 1);
    grammar->states = l.parts.states;
    grammar->state_count = l.parts.state_count;
    grammar->start = start;
    memcpy(grammar->roots, roots, sizeof roots);
    grammar->depth_max = depth_max;
    find_classes(grammar);
    *out = grammar;
    return TD_OK;
}

enum td_status td_grammar_parse(struct td_str text, struct td_grammar **out, struct td_error *err)
{
    return grammar_compile(text, GRAMMAR_DEPTH_MAX, out, err);
}

struct td_grammar *grammar_retain(struct td_grammar *grammar)
{
    ASSERT(grammar == NULL || grammar->references > 0);
    if (grammar)
        atomic_fetch_add(&grammar->references, 1);
    return grammar;
}

void td_grammar_free(struct td_grammar *grammar)
{
    if (grammar == NULL || atomic_fetch_sub(&grammar->references, 1) != 1)
        return;
    if (grammar->whole)
        td_grammar_free(grammar->whole);
    else
        free(grammar->states);
    free(grammar);
}

struct td_grammar *grammar_at_root(struct td_grammar *grammar, uint32_t index)
{
    ASSERT(grammar != NULL && index < GRAMMAR_ROOTS_MAX);
    struct td_grammar *view = grammar->roots[index] == GRAMMAR_NONE ? NULL : malloc(sizeof *view);
    if (view == NULL)
        return NULL;
    memcpy(view, grammar, sizeof *view);
    atomic_init(&view->references, 1);
    view->start = grammar->roots[index];
    view->whole = grammar_retain(grammar);
    return view;
}
