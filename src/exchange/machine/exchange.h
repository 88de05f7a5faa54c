/* One request and everything that happens until its answer is final.
 *
 *   created -> situation read -> planned -> running(rung i) -> [a gate leaves] -> running(rung i+1)
 *   ... -> done
 *
 * An exchange lives and dies on one loop; no lock. Only the exchange sees both plan and tiers, and
 * it says what a tier may be sent (struct egress_pass of tier/door.h). After exchange_start, events
 * come on the loop, and exactly one DONE, FAILED or CANCELLED ends it. exchange_cancel may be
 * called at any time before that, when the client has left. With a durable ledger DONE and FAILED
 * come when the exchange is on record. */
#ifndef EXCHANGE_EXCHANGE_H
#define EXCHANGE_EXCHANGE_H

#include "base/core/outcome.h"
#include "base/thread/loop.h"
#include "base/time/clock.h"
#include "exchange/private/minimise.h"
#include "exchange/private/pseudonyms.h"
#include "request/request.h"
#include "router/plan/policy.h"
#include "tier/health.h"
#include "tier/tier.h"

struct exchange;
struct account;
struct attempt;
struct token_counts;
struct ledger;
struct conversation_classes;
struct classifier;
struct consents;
struct spending;
struct meters;
struct device;
struct device_state;
struct watch;
struct hedge_allowance;
struct consistency;
struct shadow_pool;
struct ramp_table;
struct reactions;
struct similarity;
struct embedding_service;
struct scheduler;

/* Whether the local tier's confidences come from a confidence model. */
enum confidence_state {
    CONFIDENCE_RULE, /* none was given */
    CONFIDENCE_CALIBRATED,
    CONFIDENCE_STALE /* it belongs to another model, quantisation, template or tokenizer */
};

/* What is replaced in requests whose class may not go as they are. */
struct pseudonym_settings {
    struct vault_store *vaults;
    struct mask_rules rules;
};

/* What starting where an earlier exchange did may cost (router/plan/earlier_start.c). */
struct consistency_limits {
    double margin;
    double loss_max;    /* share of right answers, over a day */
    double usd_per_day; /* for dearer tiers; all users together */
};

/* Everything an exchange borrows: one immutable snapshot, reference-counted, swapped whole on
 * reload. What may be NULL is a feature that is off. */
struct exchange_services {
    const struct clock *clock;
    /* Whoever uses these services beyond its exchange holds them first; NULL = they stay. */
    void (*hold)(struct exchange_services *services);
    void (*release)(struct exchange_services *services);

    /* Where a request may go. */
    const struct policy *policy;
    struct tier **tiers;
    size_t tier_count;
    /* [tier_count] what attempts ask in the place of `tiers`, with answers that were kept (tiers of
     * api/cache); NULL, also of one = the tier itself. */
    struct tier *const *asked;
    size_t all_cloud_tier; /* whose price an all-cloud policy would pay; SIZE_MAX none */
    uint32_t deadline_ms;  /* of the whole exchange; 0 = none */

    /* The engine, for what is no exchange. */
    const struct td_model *model;               /* of the first local tier that has one, or NULL */
    struct embedding_service *embeddings;       /* or NULL */
    const char *const *embedding_aliases;       /* other names of it; NULL-terminated, or NULL */
    const struct model_fault *embeddings_fault; /* NULL = they are those that were asked for */
    struct scheduler *const *schedulers;        /* [scheduler_count] */
    size_t scheduler_count;

    /* What is known before the plan. */
    enum confidence_state confidence_state;
    const struct classifier *classifier;    /* NULL = prompts are not judged */
    const struct similarity *similarity;    /* with consistency */
    struct tier_health *health;             /* NULL = no tier rests */
    struct tier_latency *latency;           /* NULL = not measured */
    struct tier_load *load;                 /* NULL = not counted */
    struct device *device;                  /* NULL = battery and network are not known */
    const struct device_state *device_said; /* of a drill: in the place of `device`; or NULL */
    struct token_counts *token_counts;      /* NULL = how servers count is not learnt */

    /* What is private, and what may be kept of it. */
    const struct privacy_scanner *scanner; /* NULL = nothing was looked at, so nothing may leave */
    struct conversation_classes *classes;
    struct signatures *signatures; /* NULL = those of servers are scanned like any text */
    const struct pseudonym_settings *pseudonyms; /* NULL = nothing is replaced */
    enum td_data_class text_class;               /* of every text, at least */
    enum td_data_class media_class; /* of images, audio and files, which no detector can read */
    struct minimise_settings minimise;
    struct consents *consents; /* NULL = there are none */
    bool consents_in_requests; /* a request may bring one */
    bool store_prompts;
    bool zero_retention; /* not even who asked is recorded */

    /* What the parts use (parts/parts.c). */
    struct hedge_allowance *hedge_allowance; /* NULL = nothing is hedged */
    struct spending *spending;               /* NULL = budgets do not count */
    struct meters *meters;                   /* of keys; NULL = nobody counts */
    struct consistency *consistency;         /* NULL = nothing is remembered of earlier exchanges */
    struct consistency_limits consistency_limits;
    struct ledger *ledger;         /* NULL = no record */
    struct queue_store *queues;    /* of tickets for people, also of tiers that are gone; or NULL */
    struct account *account;       /* NULL = nobody reads it */
    struct watch *watch;           /* NULL = not watched */
    uint32_t escalations_per_hour; /* of one caller; 0 = no cap */
    struct ramp_table *ramp_table;
    struct reactions *reactions; /* NULL = nobody looks for them */
    struct shadow_pool *shadow_pool;
    double shadow_usd_per_day;    /* for shadows that cost something */
    enum skew_policy skew_policy; /* what shadows that differ too often lead to */
    double skewed_local_share;    /* of new conversations, with SKEW_PART */
};

enum exchange_event_kind {
    EXCHANGE_START, /* a tier's answer is being shown: tier, place known; before any text */
    EXCHANGE_TEXT,  /* committed text */
    /* Text is replaced by what follows. Only when request.corrections, or when the request is not
     * streamed: then nobody has read it yet. Its first verification.at_chars characters stay. */
    EXCHANGE_CORRECTION,
    EXCHANGE_DONE,      /* final */
    EXCHANGE_FAILED,    /* no tier could answer; the message names every cause */
    EXCHANGE_CANCELLED, /* inside of exchange_cancel: for whoever counts */
    /* Before DONE: the answer is whole, and nothing is recorded of it yet. Whoever writes it for a
     * client does so now, and says with exchange_reject if it cannot be written. */
    EXCHANGE_COMPLETE,
    /* Before COMPLETE, of an answer that was checked: the summary says what was found of it
     * (struct verification). */
    EXCHANGE_VERDICT,
    /* The answer is whole and provisional: it waits to be checked. */
    EXCHANGE_PROVISIONAL
};

/* One attempt, for whoever counts. */
struct exchange_step {
    const char *tier;
    enum reason_code why_left; /* 0 = it was not left */
    const char *next; /* of a tier that was left: whose turn it was then; NULL = nobody's */
    uint32_t retry_count;
};

/* Whether a time that the request asked for was kept. */
enum objective_result { OBJECTIVE_NONE, OBJECTIVE_HIT, OBJECTIVE_MISSED };

/* What became of the check of an answer by a stronger tier (parts/part_verify.c). */
enum verification_state {
    VERIFICATION_NONE,
    VERIFICATION_PROVISIONAL, /* it is being checked */
    VERIFICATION_COMMITTED,   /* it was found right */
    VERIFICATION_CORRECTED,   /* another answer stands in its place */
    VERIFICATION_TIMEOUT,     /* nobody said anything in time: it stands unchecked */
    VERIFICATION_FAILED       /* it could not be checked, and stands so */
};
/* "provisional", "committed", ...; NULL for VERIFICATION_NONE. */
const char *verification_state_name(enum verification_state state);

struct verification {
    enum verification_state state;
    enum verify_by by;
    bool high;           /* the stakes */
    const char *tier;    /* that was asked to check */
    const char *checked; /* whose answer */
    double cost_usd, ms; /* of the checking alone; ms from the whole answer on, 0 = none */
    uint64_t at_chars;   /* of a correction: what was shown before stays up to there */
};

/* A place where one tier's answer is continued by another's, because the first broke off. */
struct exchange_seam {
    uint64_t at_chars;       /* of the answer's text, in characters of Unicode */
    const char *from, *to;   /* tiers */
    const char *why;         /* what happened to the first */
    struct tier_usage usage; /* of the first */
};

struct exchange_summary {
    const char *id;           /* "ex_" + 24 hex digits */
    const char *tenant;       /* whose it is; NULL = of a server without keys */
    const char *tier, *model; /* of the answer; NULL on an empty ladder */
    enum td_place place;
    double confidence; /* NAN when the tier gives none */
    enum td_data_class data_class;
    const char *route;
    bool degraded;          /* the plan would have given a better answer */
    bool reduced;           /* an allowed tier has no key or rests; for displays of status */
    bool deadline_missed;   /* its deadline passed, or that of the first text */
    uint32_t deadline_ms;   /* of the whole answer, since the exchange began; 0 = none */
    bool review;            /* a person should look at it: hopeless, or too little confidence */
    bool pending;           /* a person will, and answer later (tier/review/review.h) */
    const char *disclosure; /* a sentence when degraded or of a similar question; else NULL */
    enum td_finish finish;
    uint32_t stop_number; /* of the request's stop text that ended it, from 1; 0 = none is known */
    struct tier_usage usage;
    double cost_usd;
    enum tier_cache cache; /* of the answer */
    struct tier_cache_facts cache_facts;
    double cache_saved_usd; /* what hits would have cost, also those that were left */
    uint64_t egress_bytes;  /* that left the device, of all attempts */
    /* What the cloud alone would have charged for this answer; 0 without one. Only a whole answer's
     * counts as saved. */
    double all_cloud_cost_usd;
    enum cost_basis all_cloud_basis;
    enum answer_standing standing; /* final when the exchange has ended */
    double ttft_ms, total_ms;
    double first_token_ms; /* when its tier began the answer, shown or not; 0 = not known */
    struct pseudonym_counts pseudonyms; /* sent is 0 when there were none */
    struct left_out left_out;           /* of the conversation, before it was sent */
    struct verification verification;
    const struct staying_facts *documents; /* that stayed (machine/staying.h); NULL = none did */
    const struct exchange_seam *seams;     /* [seam_count] in the order of the text */
    size_t seam_count;
    const struct reason *reasons;
    size_t reason_count;
    uint32_t attempt_count;
    /* Known at the end: */
    const struct exchange_step *steps;     /* [attempt_count], or NULL */
    const struct attempt *const *attempts; /* [attempt_count] in full (attempt.h), or NULL */
    const struct tier_facts *facts;        /* of the tiers that they name */
    const struct trace *trace;             /* NULL: nobody may know who called */
    bool completes;                        /* it goes on with a text, and is no chat */
    enum exchange_end end;
    enum objective_result objective_ttft, objective_total;
};

struct exchange_event {
    enum exchange_event_kind kind;
    const struct tier_piece *piece;         /* TEXT */
    const struct exchange_summary *summary; /* all kinds; final in DONE and FAILED */
    enum td_status status;                  /* FAILED */
    bool upstream_denied;                   /* FAILED, TD_DENIED: a tier's server refused our key */
    uint32_t retry_after_s;                 /* FAILED; when a tier may be asked again; 0 = soon */
    const char *message;                    /* FAILED; for people */
    const struct tier_refusal *refusal;     /* FAILED; what a tier's server meant, or NULL */
    const char *param;                      /* FAILED; request member at fault, or NULL */
};

typedef void exchange_fn(void *ctx, const struct exchange_event *event);

/* Borrows what the request points to (body, messages, strings) until the exchange ends; the rest is
 * copied. *out is gone when DONE or FAILED has returned. Events come from the loop, never from
 * inside exchange_start. TD_NOT_FOUND: the model names nothing. TD_INVALID: no messages, or
 * adapters that no tier has. */
TD_MUST_CHECK enum td_status exchange_start(struct exchange_services *services, struct loop *loop,
                                            const struct td_request *request, exchange_fn *on_event,
                                            void *ctx, struct exchange **out, struct td_error *err);
/* What exchange_start would say of the request, without beginning anything. *keeps_nothing: as
 * exchange_keeps_nothing of it. */
TD_MUST_CHECK enum td_status exchange_look(struct exchange_services *services, struct loop *loop,
                                           const struct td_request *request, bool *keeps_nothing,
                                           struct td_error *err);
/* Whether a tier may and can be asked as things stand. Nothing is sent or recorded. */
bool exchange_finds_tier(struct exchange_services *services, struct loop *loop,
                         const struct td_request *request);
/* The client has left: stops what runs and frees the exchange. CANCELLED comes inside of the call,
 * and no event after it. */
void exchange_cancel(struct exchange *exchange);
/* The client does not get the answer, although a tier gave one: its form has no place for it, or it
 * is too long. Inside of an event, or while it is held; it ends as failed, for records and in
 * FAILED, or when it is cancelled. why: for the record, without words of the answer. */
void exchange_reject(struct exchange *exchange, const char *why);
/* The answer goes out together with those of other exchanges. Inside of COMPLETE: the exchange does
 * not end with it, but by exchange_give or exchange_cancel. Until then it keeps what it borrows. */
void exchange_hold(struct exchange *exchange);
/* Ends an exchange that is held: DONE comes inside of the call, or when the record is written. */
void exchange_give(struct exchange *exchange);
/* Whether the configuration or the route lets nothing of it outlive it. */
bool exchange_keeps_nothing(const struct exchange *exchange);
/* **borrows** until the exchange ends. */
const char *exchange_id(const struct exchange *exchange);

#endif
