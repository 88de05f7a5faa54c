/* What people do after an answer, which says something of it: they have it made again, change their
 * question, or go on. A request shows it by what it repeats of an earlier one.
 *
 * An answer is remembered for half an hour by two hashes: of all that was said before the question
 * (with the caller and the user), and of the question. No text is kept, the hashes are mixed with a
 * random number of the process, and they are not written down. One for the process; any thread. */
#ifndef EXCHANGE_REACTIONS_H
#define EXCHANGE_REACTIONS_H

#include "base/core/outcome.h"
#include "base/time/clock.h"
#include "request/request.h"

#define REACTIONS_ID_BYTES 28
#define REACTIONS_TTL_MS 1800000
/* A program that repeats itself at once is no person who was not content. */
#define REACTIONS_REPEAT_MS 1000

struct reactions;

/* A question and where it stands. */
struct reaction_place {
    uint64_t before, question; /* hashes */
};
struct reaction_view {
    struct reaction_place now;     /* of the question that is asked */
    struct reaction_place earlier; /* of the one before it, which was answered */
    bool asks;                     /* ends with a question; otherwise nothing is known */
    bool continues;                /* there is an earlier one */
};

/* clock NULL = the system's. **returns new** (reactions_free), NULL without memory. */
struct reactions *reactions_new(const struct clock *clock);
void reactions_free(struct reactions *reactions);
void reactions_look(const struct reactions *reactions, const struct td_request *request,
                    struct reaction_view *out);
/* What the request says of an earlier answer, and whose it was. REACTION_NONE: nothing. */
enum reaction reactions_judge(struct reactions *reactions, const struct reaction_view *view,
                              char id[static REACTIONS_ID_BYTES]);
/* The question has its answer. */
void reactions_remember(struct reactions *reactions, const struct reaction_view *view,
                        const char *id);
void reactions_clear(struct reactions *reactions);

#endif
