/* A conversation is known by its first answer, with the class that it had then
 * (private/conversation_id.h). So the next one that opens alike does not get its class. */
#include "exchange/machine/exchange_core.h"
#include "exchange/private/conversation_id.h"

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)state;
    const enum td_data_class found[2] = {
        ex->signals.data_class,
        ex->signals.masked ? ex->signals.masked_class : TD_CLASS_PUBLIC,
    };
    if (how == ENDED_OK)
        conversation_id_answer(ex->services->classes, &ex->request, &ex->conversation,
                               ex->answer.heard, found);
}

const struct exchange_part part_conversation = {
    .name = "conversation",
    .ended = ended,
};
