/* Which words and pairs of words come with escalations more often than questions in general. Such
 * phrasings raise the cost; users or attackers may have found them.
 *
 * Phrases are counted in a table of fixed size. When it is full, all counts are halved and phrases
 * that came once are dropped, so that it follows the traffic. One owner. */
#ifndef ROUTER_PHRASES_H
#define ROUTER_PHRASES_H

#include "router/judge/utterance.h"

#define PHRASE_BYTES 48
#define PHRASES_MAX 4096

struct phrase {
    char text[PHRASE_BYTES]; /* of one or two words; "" = free */
    uint32_t seen, escalated;
};

struct phrases {
    struct phrase items[PHRASES_MAX]; /* open addressing */
    struct phrase spare[PHRASES_MAX]; /* while it is rebuilt */
    uint32_t used;
    double seen, escalated; /* questions */
};

struct phrase_lift {
    char text[PHRASE_BYTES];
    uint32_t seen, escalated;
    double lift; /* its share of escalations by that of all, shrunk towards 1 */
    double z;    /* how many standard errors above */
};

/* Zero-initialised is ready. */
void phrases_add(struct phrases *phrases, const struct utterance *utterance, bool escalated);
/* The phrases with a lift that chance does not explain, the clearest first. */
size_t phrases_top(const struct phrases *phrases, struct phrase_lift *out, size_t capacity);

#endif
