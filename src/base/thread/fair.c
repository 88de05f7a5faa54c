#include "base/thread/fair.h"

#include <stddef.h>

struct fair_owner *fair_find(struct fair *fair, uint64_t key)
{
    for (uint32_t i = 0; i < fair->count; i++)
        if (fair->owners[i].key == key)
            return &fair->owners[i];
    return NULL;
}

/* A place for a newcomer: a free one, that of the owner who rests and was served least, or the
 * last one, which is shared. */
static struct fair_owner *make_room(struct fair *fair, uint64_t key)
{
    struct fair_owner *found = NULL;
    if (fair->count < FAIR_OWNERS_MAX)
        found = &fair->owners[fair->count++];
    for (uint32_t i = 0; i < FAIR_OWNERS_MAX && !found; i++)
        if (fair->owners[i].jobs == 0 && fair->owners[i].served <= fair->clock)
            found = &fair->owners[i];
    if (!found)
        return &fair->owners[FAIR_OWNERS_MAX - 1];
    *found = (struct fair_owner){.key = key, .served = fair->clock};
    return found;
}

struct fair_owner *fair_join(struct fair *fair, uint64_t key, uint32_t weight)
{
    struct fair_owner *owner = fair_find(fair, key);
    if (!owner)
        owner = make_room(fair, key);
    if (owner->jobs == 0 && owner->served < fair->clock)
        owner->served = fair->clock;
    owner->weight = weight ? weight : 1;
    return owner;
}

void fair_correct(struct fair_owner *owner, double amount)
{
    owner->served += amount / owner->weight;
}

void fair_serve(struct fair *fair, struct fair_owner *owner, double amount)
{
    if (owner->served > fair->clock)
        fair->clock = owner->served;
    fair_correct(owner, amount);
}
