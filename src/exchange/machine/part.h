/* A part is a feature that hooks into exchanges: budgets, hedging, the watch, the ledger. The
 * machine calls the hooks of every part at fixed points and knows none of them by name.
 *
 * To add one, write parts/part_NAME.c with its hooks and its state, and name it in parts/parts.c
 * and in meson.build. Hooks that are NULL are skipped. Parts are called in the order of the
 * table. */
#ifndef EXCHANGE_PART_H
#define EXCHANGE_PART_H

#include "base/core/outcome.h"

#include <stdbool.h>
#include <stddef.h>

struct exchange;
struct route;

struct exchange_part {
    const char *name;
    size_t state_bytes; /* each exchange has that many, zeroed; `state` of every hook */
    /* Before the plan. Rules may ask for what `inform` fills in; `prepare` comes after them. */
    void (*inform)(struct exchange *exchange, void *state, const struct route *route);
    void (*prepare)(struct exchange *exchange, void *state, const struct route *route);
    /* The plan is made; nothing was sent yet. */
    void (*planned)(struct exchange *exchange, void *state);
    /* The current attempt was started and runs. */
    void (*started)(struct exchange *exchange, void *state);
    /* May that tier go on with an answer that another one has begun? The reason is given there. */
    bool (*may_go_on)(struct exchange *exchange, void *state, size_t tier);
    /* The current attempt was left or failed: its answer will not be shown now. */
    void (*left)(struct exchange *exchange, void *state);
    /* The gates have judged the current attempt's whole answer. True: the part says later how
     * confident it is after all (climb_weigh). */
    bool (*judged)(struct exchange *exchange, void *state);
    /* The current attempt's answer is whole, and no gate leaves it. True: the part says later whose
     * answer is given (climb_settle, climb_refute). */
    bool (*answered)(struct exchange *exchange, void *state);
    /* The current attempt's text is about to be shown. */
    void (*committing)(struct exchange *exchange, void *state);
    /* The exchange is over and its summary is final. */
    void (*ended)(struct exchange *exchange, void *state, enum exchange_end end);
    /* Releases what the state owns. */
    void (*release)(struct exchange *exchange, void *state);
};

#define EXCHANGE_PARTS_MAX 16
/* The table (parts/parts.c), ended by NULL. */
extern const struct exchange_part *const exchange_parts[];

/* The states of an exchange's parts. */
struct part_states {
    void *block;
    void *of[EXCHANGE_PARTS_MAX]; /* in the table's order */
};
bool parts_init(struct part_states *states); /* false without memory */
void parts_release(struct exchange *exchange);

void parts_inform(struct exchange *exchange, const struct route *route);
void parts_prepare(struct exchange *exchange, const struct route *route);
void parts_planned(struct exchange *exchange);
void parts_started(struct exchange *exchange);
bool parts_may_go_on(struct exchange *exchange, size_t tier);
void parts_left(struct exchange *exchange);
bool parts_judged(struct exchange *exchange);
bool parts_answered(struct exchange *exchange);
void parts_committing(struct exchange *exchange);
void parts_ended(struct exchange *exchange, enum exchange_end end);

/* The state of one part, for the part itself when others ask it something. */
void *part_state(const struct exchange *exchange, const struct exchange_part *part);

#endif
