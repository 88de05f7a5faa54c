/* Where earlier exchanges began.
 *
 * With it the same user with a similar question, or within one conversation, starts on the same
 * tier: today, tomorrow and after a restart. What is done with it, and what it may cost, is decided
 * by router/plan/earlier_start.c.
 *
 * An entry is a keyed hash of who asks (caller, user, route), a sketch of the question
 * (router/judge/similarity.h) or a hash of the conversation, and a hash of the tier. The sketch is
 * masked with bits made from the same key and person. Distances between one person's questions stay
 * as they are; without the key everything else is noise.
 *
 * Entries expire some time after their last use. Their number is bounded for each person and in
 * all, and the longest unused one makes room. They are erased with their user, and survive in a
 * file (consistency_file.h). One for the process, shared by all loops; any thread. */
#ifndef EXCHANGE_CONSISTENCY_H
#define EXCHANGE_CONSISTENCY_H

#include "base/crypto/keyed.h"
#include "base/time/clock.h"
#include "request/request.h"
#include "router/judge/similarity.h"

/* Entries of one person on one route; a search looks at all of them. */
#define CONSISTENCY_PERSON_MAX 128
#define CONSISTENCY_ENTRIES_MAX 1000000

struct consistency;

struct consistency_options {
    const char *path;             /* NULL: in memory alone */
    bool read_only;               /* the file is another process's: what it holds now, in memory */
    uint8_t key[KEYED_KEY_BYTES]; /* of the installation */
    uint32_t entries_max;         /* 1..CONSISTENCY_ENTRIES_MAX */
    uint64_t ttl_s;               /* after the last use */
    const struct clock *clock;    /* NULL = the system's */
};

/* **returns new** (consistency_close). TD_BUSY: another process has the file. TD_INVALID: the file
 * is something else, and stays as it is. */
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

/* Finds the nearest question within `distance` bits of the sketch; for conversations `distance` is
 * 0. *tier: its consistency_tier_hash. False when there is none. */
bool consistency_find(struct consistency *consistency, const struct consistency_person *person,
                      const uint64_t bits[static 2], unsigned distance, uint64_t *tier);
/* It began on this tier, and from now on all of the person's within the distance do. request: tells
 * whose it is, for erasing. A failure to write is logged once; the memory goes on. */
void consistency_put(struct consistency *consistency, const struct consistency_person *person,
                     const uint64_t bits[static 2], unsigned distance,
                     const struct td_request *request, uint64_t tier);
uint64_t consistency_tier_hash(const char *tier);

/* Erases everything of the tenant's user (tenant NULL: of all tenants' users of that name), on any
 * route, in memory and in the file, which is flushed to the disk. TD_IO: the file's part failed. */
TD_MUST_CHECK enum td_status consistency_forget(struct consistency *consistency, const char *tenant,
                                                const char *user, uint64_t *erased,
                                                struct td_error *err);

/* What keeping came to. */
/* Of a request for which something was remembered; in the order of enum keeping, without its
 * first. */
enum consistency_result {
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
/* A request that could have been kept on an earlier tier. Days are those of UTC. */
void consistency_count_request(struct consistency *consistency);
double consistency_usd_today(struct consistency *consistency);
/* May more right answers be given up today? At most loss_max for each request of the day, plus
 * CONSISTENCY_LOSS_FREE. */
#define CONSISTENCY_LOSS_FREE 2
bool consistency_may_lose(struct consistency *consistency, double loss_max);

struct consistency_numbers {
    uint64_t similar[CONSISTENCY_RESULT_COUNT], conversation[CONSISTENCY_RESULT_COUNT];
    double gain, usd; /* given up */
    uint32_t entries;
};
void consistency_numbers(struct consistency *consistency, struct consistency_numbers *out);

#endif
