/* The durable record of every exchange: one row an exchange, one an attempt. SQLite (WAL) inside;
 * one writer thread commits in batches at most 200 ms apart, so that kill -9 loses at most what was
 * answered within that time. Writers never wait: a full queue is TD_BUSY and counted.
 *
 * The file is 0600, directories that are created for it 0700. A file that is no ledger, is damaged
 * or comes from a newer version is refused with the reason and left as it is. A disk that is full
 * loses nothing at once: records are kept and tried again every second while the queue (4096
 * records, 64 MiB) has room; what comes after is counted in ledger_dropped and logged. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/outcome.h"
#include "tandem/types.h"

struct ledger;
struct json;

#define LEDGER_ATTEMPTS_MAX 16

struct ledger_attempt {
    const char *tier, *model, *place;
    enum attempt_outcome outcome; /* stored by its name; ATTEMPT_OPEN as NULL */
    const char *error;            /* or NULL */
    double confidence;            /* NAN = none */
    uint32_t prompt_tokens, completion_tokens;
    double start_ms, first_ms, total_ms; /* start: since the exchange began */
    double cost_usd;
    uint64_t egress_bytes; /* sent off the device */
};

struct ledger_exchange {
    const char *id;
    uint64_t wall_ms;
    const char *user, *route, *policy_version, *requested_model;
    const char *tier, *model, *place, *data_class, *finish;
    enum exchange_end status; /* stored by its name; ENDED_NOT as NULL */
    double confidence;
    uint32_t prompt_tokens, completion_tokens;
    double ttft_ms, total_ms;
    double cost_usd, all_cloud_cost_usd;
    bool degraded, streamed;
    const char *disclosure;
    const char *signals_json, *reasons_json; /* JSON texts */
    const char *prompt_text, *answer_text;   /* NULL unless the policy stores them */
    const struct ledger_attempt *attempts;
    size_t attempt_count;
};

/* What somebody says of an answer. */
struct ledger_feedback {
    const char *exchange; /* the whole id */
    uint64_t wall_ms;
    double score;        /* 0 = wrong, 1 = right */
    const char *comment; /* or NULL */
};

/* What another tier answered in an exchange's shadow (exchange/parts/shadow_pool.h). */
#define LEDGER_SHADOW_DROPPED \
    "dropped" /* as kind: it said nothing that counts, but cost something */
struct ledger_shadow {
    const char *exchange; /* the whole id */
    uint64_t wall_ms;
    const char *tier;
    double agreement; /* 0..1; NAN: it gave no answer */
    bool same;        /* said the same */
    const char *kind; /* how they were compared: "label", "text", "json" */
    uint32_t completion_tokens;
    double total_ms, cost_usd;
    uint64_t egress_bytes;
};

/* Opens or creates; migrates the schema. "returns new" (ledger_close: commits what is queued). */
TD_MUST_CHECK enum td_status ledger_open(const char *path, struct ledger **out,
                                         struct td_error *err);
void ledger_close(struct ledger *ledger);

/* Copies the record into the queue. Any thread. TD_BUSY: the queue is full; TD_INVALID: no id, or
 * too many attempts; TD_LIMIT: over 16 MiB. All three are counted as dropped, as is an id that is
 * there already (found by the writer and logged: history is not rewritten). NAN in a number is
 * stored as NULL. */
TD_MUST_CHECK enum td_status ledger_put(struct ledger *ledger, const struct ledger_exchange *record,
                                        struct td_error *err);
/* The same way for feedback. An exchange that is not there when its turn comes is counted as
 * dropped and logged; what was put before it is there. TD_INVALID: no id, a score outside 0..1. */
TD_MUST_CHECK enum td_status ledger_put_feedback(struct ledger *ledger,
                                                 const struct ledger_feedback *feedback,
                                                 struct td_error *err);
/* And for a shadow. TD_INVALID: no id, tier or kind, an agreement outside 0..1. */
TD_MUST_CHECK enum td_status
ledger_put_shadow(struct ledger *ledger, const struct ledger_shadow *shadow, struct td_error *err);
/* Waits (at most timeout_ms) until all that was put before is committed. TD_TIMEOUT, or TD_IO with
 * the cause when commits fail. */
TD_MUST_CHECK enum td_status ledger_flush(struct ledger *ledger, uint32_t timeout_ms,
                                          struct td_error *err);
/* Exchanges that were answered but will not be found here. */
uint64_t ledger_dropped(struct ledger *ledger);

/* Reading, from any thread or another process (opens the file read-only beside a running writer).
 * One reader may be shared by threads. TD_NOT_FOUND: no such file. */
struct ledger_reader;
TD_MUST_CHECK enum td_status ledger_reader_open(const char *path, struct ledger_reader **out,
                                                struct td_error *err);
void ledger_reader_close(struct ledger_reader *reader);

/* One exchange with its attempts as a JSON object (the shape of /tandem/v1/exchanges/ID). id may be
 * a unique prefix, or "last". **returns new** (json_free). TD_NOT_FOUND; TD_INVALID when several
 * match.
 *
 *   {id, time (ISO 8601, UTC), wall_ms, user, route, policy_version, requested_model, tier, model,
 *   place,
 *    data_class, status, finish, confidence, prompt_tokens, completion_tokens, ttft_ms, total_ms,
 *    cost_usd, all_cloud_cost_usd, degraded, streamed, disclosure, signals (what signals_json
 *    held), reasons (likewise), prompt and answer (only when stored),
 *    attempts: [{tier, model, place, outcome, error, confidence, prompt_tokens, completion_tokens,
 *                start_ms, first_ms, total_ms, cost_usd, egress_bytes}],
 *    shadows: [{tier, agreement (null: no answer), same, kind, completion_tokens, total_ms, cost_usd, egress_bytes}]}
 * Members that have no value are null. */
TD_MUST_CHECK enum td_status ledger_reader_find(struct ledger_reader *reader, const char *id,
                                                struct json **out, struct td_error *err);
/* An array of such objects, newest first, without attempts, signals, reasons, prompt and answer. */
TD_MUST_CHECK enum td_status ledger_reader_list(struct ledger_reader *reader,
                                                uint64_t since_wall_ms, size_t limit,
                                                struct json **out, struct td_error *err);
/* Exchanges that the device tried first, oldest first, each with the newest feedback on it. */
struct ledger_judged {
    struct td_str id;
    double confidence; /* of that first attempt; NAN = none */
    struct td_str signals_json;
    bool kept;    /* that attempt is the answer */
    double score; /* of the feedback; NAN = there is none */
};
/* The strings are borrowed until it returns. Anything but TD_OK ends the reading. */
typedef enum td_status ledger_judged_fn(void *ctx, const struct ledger_judged *judged,
                                        struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_judged(struct ledger_reader *reader,
                                                  uint64_t since_wall_ms, ledger_judged_fn *each,
                                                  void *ctx, struct td_error *err);

/* An exchange with its attempts, as a replay reads it. Numbers that are not there are NAN. */
struct ledger_history {
    const char *id, *requested_model, *route, *tier, *place, *user; /* or NULL */
    enum exchange_end status;
    double cost_usd, total_ms;
    const char *signals_json, *reasons_json;
    double score;                          /* of the newest feedback */
    const struct ledger_attempt *attempts; /* error, start_ms, first_ms and bytes are not read */
    size_t attempt_count;
};
/* Oldest first. The strings are borrowed until it returns. Anything but TD_OK ends the reading. */
typedef enum td_status ledger_history_fn(void *ctx, const struct ledger_history *row,
                                         struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_history(struct ledger_reader *reader,
                                                   uint64_t since_wall_ms, ledger_history_fn *each,
                                                   void *ctx, struct td_error *err);

/* What the exchanges of one hour have cost: of each user, route and application (NULL = none). */
struct ledger_spent {
    const char *user, *route, *app; /* borrowed until the function returns */
    uint64_t hour;                  /* since the epoch */
    double cost_usd, shadow_usd;    /* the first with the second: of what ran in their shadows */
    uint64_t tokens;                /* of all attempts */
};
typedef void ledger_spent_fn(void *ctx, const struct ledger_spent *spent);
TD_MUST_CHECK enum td_status ledger_reader_spent(struct ledger_reader *reader,
                                                 uint64_t since_wall_ms, ledger_spent_fn *each,
                                                 void *ctx, struct td_error *err);

/* Totals since a time:
 *
 *   {since_wall_ms, exchanges, cost_usd, all_cloud_cost_usd, saving_usd, saving_share (0 when there
 *   is
 *    nothing to save), degraded, escalations (exchanges with an attempt that was "escalated"),
 *    failures (exchanges with status "failed"), feedback (exchanges with any), score (its mean, null
 *    without any),
 *    tiers: [{tier (null: no tier answered), exchanges, share, prompt_tokens, completion_tokens,
 *    cost_usd, feedback, score,
 *             ttft_ms: {p50, p95, p99}, total_ms: {p50, p95, p99}}],
 *    consistency: {similar (questions with an earlier similar one), flipped (that started elsewhere), flip_rate (null
 *    without any), turns (of conversations with a remembered tier), turns_moved, kept, given_up (probability, or share
 *    of the score), usd (what keeping cost more), days: [{day, similar, flipped, flip_rate}]},
 *    shadows: as ledger_reader_shadows}
 * tiers are ordered by exchanges, most first. cost_usd counts every attempt, also lost ones,
 * because the exchange's own cost does. Percentiles are exact, by nearest rank: the ceil(p/100 *
 * n)th smallest of the n known values; null when there is none. */
TD_MUST_CHECK enum td_status ledger_reader_report(struct ledger_reader *reader,
                                                  uint64_t since_wall_ms, struct json **out,
                                                  struct td_error *err);
/* What ran in shadows since then: [{tier, shadow (the tier beside it), compared, failed, same, same_share, same_low, same_high (its
 * Wilson interval at 95 %), agreement (mean; null without any, as the shares), cost_usd, total_ms (mean, of the shadow),
 * tasks: [{task ("" = not judged), compared, same, same_share, same_low, same_high}], most first,
 * examples: [ids of up to 5 exchanges, least agreement first]}]. **returns new** (json_free). */
TD_MUST_CHECK enum td_status ledger_reader_shadows(struct ledger_reader *reader,
                                                   uint64_t since_wall_ms, struct json **out,
                                                   struct td_error *err);

#endif
