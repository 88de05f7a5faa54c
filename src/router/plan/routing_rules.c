/* Matching rules, finding those that can never match, and saying what would have changed a match.
 *
 * A rule is unreachable when nothing is left of its box after the boxes of all earlier rules have
 * been taken away. Taking a box from a box leaves at most one piece for each side, so the pieces
 * are limited; beyond the limit a rule counts as reachable, because a false warning is worse than
 * none. */
#include "router/plan/routing_rules.h"

#include "base/core/assertion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With more pieces the search is given up, and the rule counts as reachable. */
#define PIECES_MAX 512

const char *rule_number_name(enum rule_number number)
{
    static const char *const names[RULE_NUMBER_COUNT] = {
        "tokens",      "answer_tokens", "messages", "gain",        "p_local",    "p_strong",
        "slo_ttft_ms", "slo_ms",        "battery",  "budget_used", "day_tokens",
    };
    return (size_t)number < RULE_NUMBER_COUNT ? names[number] : "unknown";
}

const char *rule_choice_name(enum rule_choice choice)
{
    static const char *const names[RULE_CHOICE_COUNT] = {"task",     "route", "app",      "user",
                                                         "tag",      "class", "language", "network",
                                                         "priority", "hours", "days"};
    return (size_t)choice < RULE_CHOICE_COUNT ? names[choice] : "unknown";
}

/* --- matching --- */

static bool rule_matches(const struct routing_rule *rule, const struct rule_facts *facts)
{
    if ((facts->flags & rule->yes) != rule->yes || (facts->flags & rule->no))
        return false;
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        if (!(facts->has[i] & rule->any[i]))
            return false;
    for (uint32_t asked = rule->asked; asked; asked &= asked - 1) {
        int i = __builtin_ctz(asked);
        if (!(facts->number[i] > rule->range[i].over && facts->number[i] < rule->range[i].under))
            return false;
    }
    return true;
}

const struct routing_rule *routing_rules_match(const struct routing_rules *set,
                                               const struct rule_facts *facts)
{
    for (size_t i = 0; i < set->count; i++)
        if (rule_matches(&set->rules[i], facts))
            return &set->rules[i];
    return NULL;
}

uint64_t routing_rules_name_bit(const struct routing_rules *set, enum rule_choice choice,
                                const char *name)
{
    ASSERT((unsigned)choice < RULE_NAMED_COUNT);
    const struct rule_names *names = &set->names[choice];
    for (size_t i = 0; name && i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return UINT64_C(1) << i;
    return RULE_OTHER_BIT;
}

uint64_t routing_rules_add_name(struct routing_rules *set, enum rule_choice choice,
                                const char *name)
{
    ASSERT(name != NULL);
    struct rule_names *names = &set->names[choice];
    uint64_t bit = routing_rules_name_bit(set, choice, name);
    if (bit != RULE_OTHER_BIT)
        return bit;
    if (names->count == RULE_NAMES_MAX)
        return 0;
    names->items[names->count] = name;
    return UINT64_C(1) << names->count++;
}

/* --- what cannot be reached --- */

bool rule_is_possible(const struct routing_rule *rule)
{
    if (rule->yes & rule->no)
        return false;
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        if (rule->any[i] == 0)
            return false;
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++)
        if (rule->asked >> i & 1 && !(rule->range[i].over < rule->range[i].under))
            return false;
    return true;
}

/* What is left of a rule's condition after others have been taken away. Here a number may also
 * equal its bound, or be unknown. */
struct box {
    uint64_t any[RULE_CHOICE_COUNT];
    struct side {
        double low, high;
        bool with_low, with_high; /* the bound itself too */
        bool known, unknown;      /* allowed */
    } side[RULE_NUMBER_COUNT];
    uint32_t yes, no;
};

static struct box box_of(const struct routing_rule *rule)
{
    struct box box = {.yes = rule->yes, .no = rule->no};
    memcpy(box.any, rule->any, sizeof box.any);
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++) {
        bool asked = rule->asked >> i & 1;
        box.side[i] = (struct side){.low = asked ? rule->range[i].over : -INFINITY,
                                    .high = asked ? rule->range[i].under : INFINITY,
                                    .known = true,
                                    .unknown = !asked};
    }
    return box;
}

/* No number lies between the bounds. */
static bool side_is_empty(const struct side *side)
{
    if (!side->known)
        return true;
    if (side->low < side->high)
        return false;
    return side->low > side->high || !(side->with_low && side->with_high);
}

struct pieces {
    struct box box[PIECES_MAX];
    size_t count;
    bool full;
};

static void keep_piece(struct pieces *pieces, const struct box *box)
{
    if (pieces->count == PIECES_MAX)
        pieces->full = true;
    else
        pieces->box[pieces->count++] = *box;
}

static void subtract_choices(struct box *left, const struct routing_rule *by, struct pieces *out)
{
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++) {
        struct box piece = *left;
        piece.any[i] &= ~by->any[i];
        if (piece.any[i])
            keep_piece(out, &piece);
        left->any[i] &= by->any[i];
    }
}

static void subtract_flags(struct box *left, const struct routing_rule *by, struct pieces *out)
{
    for (uint32_t bits = (by->yes & ~left->yes) | (by->no & ~left->no); bits; bits &= bits - 1) {
        uint32_t bit = bits & -bits;
        struct box piece = *left;
        bool wants = by->yes & bit;
        *(wants ? &piece.no : &piece.yes) |= bit;
        if (!(piece.yes & piece.no))
            keep_piece(out, &piece);
        *(wants ? &left->yes : &left->no) |= bit;
    }
}

static void subtract_range(struct box *left, size_t i, const struct rule_range *by,
                           struct pieces *out)
{
    struct box piece = *left;
    if (left->side[i].unknown) {
        piece.side[i] = (struct side){.unknown = true};
        keep_piece(out, &piece);
    }
    if (!left->side[i].known)
        return;
    left->side[i].unknown = false;
    piece = *left;
    if (by->over < piece.side[i].high) {
        piece.side[i].high = by->over;
        piece.side[i].with_high = true;
    }
    if (!side_is_empty(&piece.side[i]))
        keep_piece(out, &piece);
    piece = *left;
    if (by->under > piece.side[i].low) {
        piece.side[i].low = by->under;
        piece.side[i].with_low = true;
    }
    if (!side_is_empty(&piece.side[i]))
        keep_piece(out, &piece);
    if (by->over >= left->side[i].low) {
        left->side[i].low = by->over;
        left->side[i].with_low = false;
    }
    if (by->under <= left->side[i].high) {
        left->side[i].high = by->under;
        left->side[i].with_high = false;
    }
}

/* Do box and rule have anything in common? */
static bool boxes_meet(const struct box *box, const struct routing_rule *rule)
{
    if ((box->yes & rule->no) || (box->no & rule->yes))
        return false;
    for (size_t i = 0; i < RULE_CHOICE_COUNT; i++)
        if (!(box->any[i] & rule->any[i]))
            return false;
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++) {
        if (!(rule->asked >> i & 1))
            continue;
        struct side both = box->side[i];
        if (rule->range[i].over >= both.low) {
            both.low = rule->range[i].over;
            both.with_low = false;
        }
        if (rule->range[i].under <= both.high) {
            both.high = rule->range[i].under;
            both.with_high = false;
        }
        if (side_is_empty(&both))
            return false;
    }
    return true;
}

static void subtract(const struct box *box, const struct routing_rule *by, struct pieces *out)
{
    if (!boxes_meet(box, by)) {
        keep_piece(out, box);
        return;
    }
    struct box left = *box;
    subtract_choices(&left, by, out);
    subtract_flags(&left, by, out);
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++)
        if (by->asked >> i & 1)
            subtract_range(&left, i, &by->range[i], out);
}

size_t routing_rules_find_shadow(const struct routing_rules *set, size_t index, bool *alone)
{
    ASSERT(index < set->count);
    struct box box = box_of(&set->rules[index]);
    struct pieces *now = calloc(1, sizeof *now), *next = calloc(1, sizeof *next);
    size_t found = SIZE_MAX;
    *alone = true;
    for (size_t i = 0; now && next && i < index && found == SIZE_MAX; i++) {
        next->count = 0;
        subtract(&box, &set->rules[i], next);
        if (next->count == 0)
            found = i;
    }
    if (found == SIZE_MAX && now && next) {
        *alone = false;
        now->box[now->count++] = box;
    }
    for (size_t i = 0; found == SIZE_MAX && now && next && i < index && !next->full; i++) {
        next->count = 0;
        for (size_t p = 0; p < now->count; p++)
            subtract(&now->box[p], &set->rules[i], next);
        if (next->count == 0)
            found = i;
        struct pieces *swap = now;
        now = next;
        next = swap;
        next->full = now->full;
    }
    free(now);
    free(next);
    return found;
}

/* --- what would have flipped it --- */

void rule_explain_flip(const struct routing_rule *rule,
                       const double number[static RULE_NUMBER_COUNT],
                       char out[static RULE_FLIP_BYTES])
{
    double nearest = INFINITY;
    out[0] = '\0';
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++) {
        if (!(rule->asked >> i & 1))
            continue;
        const double bounds[2] = {rule->range[i].over, rule->range[i].under};
        for (size_t b = 0; b < 2; b++) {
            double value = number[i];
            double distance = fabs(value - bounds[b]) / fmax(fabs(value), 1e-9);
            if (!isfinite(bounds[b]) || distance >= nearest)
                continue;
            nearest = distance;
            snprintf(out, RULE_FLIP_BYTES,
                     "with %s of %s %.6g instead of %.6g rule '%.60s' would not have matched",
                     rule_number_name((enum rule_number)i), b == 0 ? "at most" : "at least",
                     bounds[b], value, rule->name);
        }
    }
    for (size_t i = 0; !out[0] && i < RULE_CHOICE_COUNT; i++)
        if (rule->any[i] != RULE_WHATEVER)
            snprintf(out, RULE_FLIP_BYTES, "with another %s rule '%.60s' would not have matched",
                     rule_choice_name((enum rule_choice)i), rule->name);
    if (!out[0] && (rule->yes || rule->no))
        snprintf(out, RULE_FLIP_BYTES, "with other words rule '%.60s' would not have matched",
                 rule->name);
    if (!out[0])
        snprintf(out, RULE_FLIP_BYTES, "without rule '%.60s', which always matches", rule->name);
}
