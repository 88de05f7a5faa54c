/* An exchange as a reaction to an earlier one, and the reactions to it.
 *
 * A request may say that an earlier answer was not good enough, or good enough to go on. A client
 * that leaves while it reads says it of this one. The ledger gets the kind alone; it comes after
 * the ledger's part, because a reaction needs its exchange. Where nothing is kept, nothing is
 * looked at. */
#include "base/time/log.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/memory/reactions.h"

struct reactions_state {
    struct reaction_view view;
};

static bool is_on(const struct exchange *ex)
{
    return ex->services->reactions && ex->services->ledger && !ex->request.keep_nothing;
}

static void put(const struct exchange *ex, const char *id, enum reaction kind)
{
    struct td_error err = {0};
    const struct ledger_reaction row = {
        .exchange = id, .wall_ms = clock_wall_ms(ex->services->clock), .kind = kind};
    if (ledger_put_reaction(ex->services->ledger, &row, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "reaction_not_recorded", "exchange=%s error=\"%s\"", id,
                  err.message);
}

static void planned(struct exchange *ex, void *state)
{
    struct reactions_state *own = state;
    char id[REACTIONS_ID_BYTES];
    if (!is_on(ex))
        return;
    reactions_look(ex->services->reactions, &ex->request, &own->view);
    enum reaction kind = reactions_judge(ex->services->reactions, &own->view, id);
    if (kind != REACTION_NONE)
        put(ex, id, kind);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    const struct reactions_state *own = state;
    if (!is_on(ex) || !ex->answer.visible)
        return;
    if (how == ENDED_OK)
        reactions_remember(ex->services->reactions, &own->view, ex->id);
    else if (how == ENDED_CANCELLED && ex->request.streamed)
        put(ex, ex->id, REACTION_ABANDONED);
}

const struct exchange_part part_reactions = {
    .name = "reactions",
    .state_bytes = sizeof(struct reactions_state),
    .planned = planned,
    .ended = ended,
};
