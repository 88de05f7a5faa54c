/* Where an earlier exchange began: so that the same user with a similar question, or within one conversation, starts on the same
 * tier, today, tomorrow and after a restart. What is done with it, and what it may cost, is decided by router/plan/earlier_start.c.
 *
 * An entry is a keyed hash of who asks (caller, user, route), a sketch of the question (router/judge/similarity.h) or the
 * conversation's hash, and a hash of the tier. The sketch is masked with bits from the same key and person: distances between one
 * person's questions stay, all else is noise without the key. Entries expire a time after they were last used, are bounded for each
 * person and in all (the longest unused go), are erased with their user, and survive in a file (consistency_file.h).
 *
 * One for the process, shared by all loops; any thread. */
#ifndef EXCHANGE_CONSISTENCY_H
#define EXCHANGE_CONSISTENCY_H

#include "base/clock.h"
#include "base/keyed.h"
#include "request/request.h"
#include "router/judge/similarity.h"

/* Of a person on a route: a search looks at all of them. */
#define CONSISTENCY_PERSON_MAX 128
#define CONSISTENCY_ENTRIES_MAX 1000000

struct consistency;

struct consistency_options {
    const char *path;             /* NULL: in memory alone */
    uint8_t key[KEYED_KEY_BYTES]; /* of the installation */
    uint32_t entries_max;         /* 1..CONSISTENCY_ENTRIES_MAX */
    uint64_t ttl_s;               /* after the last use */
    const struct clock *clock;    /* NULL = the system's */
};

/* **returns new** (consistency_close). TD_BUSY: another process has the file; TD_INVALID, TD_IO: so that nothing is lost that
 * is not ours. */
TD_MUST_CHECK enum td_status consistency_open(const struct consistency_options *options,
                                              struct consistency **out, struct td_error *err);
void consistency_close(struct consistency *consistency);

/* Whose memory, of what. By caller (key or address), user and route. */
enum consistency_kind { CONSISTENCY_QUESTIONS, CONSISTENCY_CONVERSATIONS };
struct consistency_person {
    uint64_t whose;
    uint64_t mask[SIMILARITY_BITS / 64];
};
void consistency_identify(const struct consistency *consistency, enum consistency_kind kind,
                          const struct td_request *request, const char *route,
                          struct consistency_person *out);

/* A question within `distance` bits of the sketch; 0: the same bits, for conversations. The nearest one's tier, by its
 * consistency_tier_hash; false when there is none. */
bool consistency_find(struct consistency *consistency, const struct consistency_person *person,
                      const uint64_t bits[static 2], unsigned distance, uint64_t *tier);
/* It began on this tier, and all of the person's within the distance do from now on. user: for erasing, or NULL. A
 * failure to write is logged once; memory goes on. */
void consistency_put(struct consistency *consistency, const struct consistency_person *person,
                     const uint64_t bits[static 2], unsigned distance, const char *user,
                     uint64_t tier);
uint64_t consistency_tier_hash(const char *tier);

/* Everything of the user, under any caller and on any route, in memory and in the file, which is flushed to the disk. TD_IO:
 * the file's part failed. */
TD_MUST_CHECK enum td_status consistency_forget(struct consistency *consistency, const char *user,
                                                uint64_t *erased, struct td_error *err);

/* What keeping came to. */
enum consistency_result { /* of a request for which something was remembered; enum keeping's order, less the first */
                          CONSISTENCY_SAME,
                          CONSISTENCY_KEPT,
                          CONSISTENCY_MOVED,
                          CONSISTENCY_BARRED,
                          CONSISTENCY_RESULT_COUNT
};
struct consistency_count {
    bool conversation;
    enum consistency_result result;
    bool dearer; /* kept on a tier with a higher price: usd is what it cost more */
    double gain; /* probability of a right answer that was given up; 0 = none */
    double usd;
};
void consistency_count(struct consistency *consistency, const struct consistency_count *count);
/* A request that could have been held; by UTC's days. */
void consistency_count_request(struct consistency *consistency);
double consistency_usd_today(struct consistency *consistency);
/* May more right answers be given up today? At most loss_max of one a request, beside CONSISTENCY_LOSS_FREE whole ones. */
#define CONSISTENCY_LOSS_FREE 2
bool consistency_may_lose(struct consistency *consistency, double loss_max);

struct consistency_numbers {
    uint64_t similar[CONSISTENCY_RESULT_COUNT], conversation[CONSISTENCY_RESULT_COUNT];
    double gain, usd; /* given up */
    uint32_t entries;
};
void consistency_numbers(struct consistency *consistency, struct consistency_numbers *out);

#endif
