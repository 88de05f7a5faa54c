/* Long texts that stay: what a tier farther away is sent in the place of a request whose documents
 * it must not see. It gets the rest of the messages and what the device found for it, and this is
 * the only request that any such tier can be sent (outgoing.c), whatever else fails. Between files
 * of the exchange, and for whoever reads its summary. */
#ifndef EXCHANGE_STAYING_H
#define EXCHANGE_STAYING_H

#include "base/json/json_writer.h"
#include "exchange/private/document_jobs.h"
#include "exchange/private/document_reader.h"
#include "router/plan/policy.h"

struct exchange;

#define STAYING_QUOTES_MAX 48

/* A passage that was given to a tier farther away: its place, in characters of Unicode. */
struct staying_quote {
    size_t passage;
    uint32_t document; /* from 1 */
    uint64_t from, to;
};

struct staying_facts {
    size_t document_count;
    uint64_t characters, quoted_characters; /* of all documents, and of what was quoted of them */
    uint32_t chunk_count, rounds, jobs, abstained;
    const struct staying_quote *quotes; /* [quote_count], as they are numbered, from 1 */
    size_t quote_count;
    const char *obstacle; /* why nobody farther away could be asked; NULL = somebody could */
};

struct staying {
    const struct document_settings *settings;
    struct documents documents;
    struct document_reader *reader; /* NULL before the first round */
    struct td_request request;      /* what is sent */
    struct td_message *messages;    /* [message_count + 1 + 2 * DOCUMENT_ROUNDS_MAX] */
    struct buf left, task;          /* what they borrow from */
    struct buf said[DOCUMENT_ROUNDS_MAX], found[DOCUMENT_ROUNDS_MAX];
    size_t round_count; /* of said and found */
    bool alone;         /* whoever would have asked has been removed */
    uint64_t quoted_bytes;
    struct staying_quote quotes[STAYING_QUOTES_MAX];
    struct staying_facts facts;
};

/* Before anything is masked: whether the route keeps texts of the request, and then what is sent in
 * its place. What memory is short for is noted (base/core/shortage.h), and then nothing is sent. */
void staying_prepare(struct exchange *exchange, const struct route *route);
void staying_free(struct staying *staying);

/* Must the tier do with what the device finds? False for every tier where nothing stays. */
bool staying_from(const struct exchange *exchange, const struct tier_facts *facts);

/* The next round: what a tier said, and what the device found of its jobs, or the words that it is
 * told because it said something else (plan NULL). final: it may ask no further jobs. False without
 * memory. */
TD_MUST_CHECK bool staying_add_round(struct staying *staying, struct td_str said,
                                     const struct document_plan *plan, const char *told,
                                     bool final);

/* The facts as an object, for clients and for the record. */
void staying_write(const struct staying_facts *facts, const char *name, struct json_writer *to);

#endif
