/* The durable record of every exchange: one row per exchange and one per attempt. SQLite (WAL) is
 * inside. One writer thread commits batches at most 200 ms apart, so kill -9 loses at most what was
 * answered in that time. Callers never wait: a full queue is TD_BUSY and counted.
 *
 * A file that is removed or replaced under a running ledger is noticed: what comes is held as with
 * a full disk. If another ledger has taken its name, that one is written from then on.
 *
 * The file is 0600, folders that are created for it are 0700. A file that is no ledger, is damaged
 * or comes from a newer version is refused with the reason and left as it is. A full disk loses
 * nothing at once: records are kept and tried again every second while the queue (4096 records, 64
 * MiB) has room. What comes after that is counted in ledger_dropped and logged.
 *
 * Any thread may call these functions on one ledger or reader. */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "base/core/outcome.h"
#include "tandem/types.h"

struct ledger;
struct json;

#define LEDGER_ATTEMPTS_MAX 16

struct ledger_attempt {
    const char *tier, *model, *place;
    const char *span_id;          /* or NULL */
    const char *model_version;    /* ledger_put_model, or what a server says of itself; or NULL */
    enum attempt_outcome outcome; /* stored by its name; ATTEMPT_OPEN as NULL */
    const char *error;            /* or NULL */
    double confidence;            /* NAN = none */
    uint32_t prompt_tokens, completion_tokens, cached_tokens;
    bool exact;               /* the tier told its tokens */
    uint32_t prompt_estimate; /* tokens of what was sent, by its bytes */
    uint64_t answer_bytes;
    double start_ms, first_ms, total_ms; /* since the exchange began */
    double cost_usd;
    bool estimated;        /* the cost: the tier told no usage */
    uint64_t egress_bytes; /* bytes sent off the device */
};

struct ledger_exchange {
    const char *id;
    uint64_t wall_ms;
    const char *tenant; /* NULL = of a server without keys: the operator's */
    const char *user, *route, *policy_version, *requested_model;
    const char *tier, *model, *place, *data_class, *finish;
    enum exchange_end status; /* stored by its name; ENDED_NOT as NULL */
    double confidence;
    uint32_t prompt_tokens, completion_tokens;
    double ttft_ms, total_ms;
    double cost_usd, all_cloud_cost_usd;
    enum cost_basis all_cloud_basis; /* stored by its name */
    enum answer_standing standing;   /* likewise */
    bool degraded, streamed;
    const char *disclosure;
    const char *trace_id, *span_id, *parent_span_id; /* base/time/trace.h; or NULL */
    const char *request_id;                          /* how the client named it; or NULL */
    const char *signals_json, *reasons_json;         /* JSON texts */
    const char *prompt_text, *answer_text;           /* NULL unless the policy stores them */
    const struct ledger_attempt *attempts;
    size_t attempt_count;
    /* NULL, or called once from the ledger's thread after ledger_put was TD_OK: the record is
     * committed, or it could not be and will be written as failed. */
    void (*recorded)(void *ctx, enum td_status status);
    void *recorded_ctx;
};

/* Feedback on an answer. */
struct ledger_feedback {
    const char *exchange; /* the whole id */
    uint64_t wall_ms;
    double score;        /* 0 = wrong, 1 = right */
    const char *comment; /* or NULL */
};

/* What somebody did after an answer. Unlike feedback it is seen, not said, so it counts less. */
struct ledger_reaction {
    const char *exchange; /* the whole id */
    uint64_t wall_ms;
    enum reaction kind; /* stored by its name */
};

/* What an exchange's policy_version stands for. */
struct ledger_policy {
    const char *version;
    uint64_t wall_ms;
    const char *text;
};

/* The answer of another tier in the shadow of an exchange (exchange/parts/shadow_pool.h). */
#define LEDGER_SHADOW_DROPPED "dropped"   /* as kind: no answer to compare, but it cost something */
#define LEDGER_SHADOW_VERIFIED "verified" /* as kind: a check before the answer was final (G4) */
struct ledger_shadow {
    const char *exchange; /* the whole id */
    uint64_t wall_ms;
    const char *tier;
    const char *place, *model; /* of the tier; or NULL */
    const char *model_version; /* as of an attempt */
    double agreement;          /* 0..1; NAN: no answer */
    bool same;                 /* both said the same */
    const char *kind;          /* how they were compared: "label", "text", "json" */
    uint32_t completion_tokens;
    double total_ms, cost_usd;
    uint64_t egress_bytes;
};

/* Whether a ledger of this name is a file. What is none is a database by its URL (db_announce). */
bool ledger_is_file(const char *path);

/* Opens or creates the ledger; migrates its schema. **returns new** (ledger_close). */
TD_MUST_CHECK enum td_status ledger_open(const char *path, struct ledger **out,
                                         struct td_error *err);
void ledger_close(struct ledger *ledger);

/* From now on a commit is on the disk when it returns (fsync), and a record that somebody waits for
 * does not wait for others. `before` is called before each commit, from the ledger's thread: what
 * must be on the disk first. When it fails the commit does. Before the first record. */
TD_MUST_CHECK enum td_status ledger_make_durable(struct ledger *ledger,
                                                 enum td_status (*before)(void *ctx,
                                                                          struct td_error *err),
                                                 void *ctx, struct td_error *err);

bool ledger_is_durable(const struct ledger *ledger);

/* Copies the record into the queue. TD_BUSY: the queue is full. TD_INVALID: no id, or too many
 * attempts. TD_LIMIT: over 16 MiB. All three are counted as dropped. So is an id that exists
 * already: the writer finds and logs it, because history is not rewritten. NAN in a number is
 * stored as NULL. */
TD_MUST_CHECK enum td_status ledger_put(struct ledger *ledger, const struct ledger_exchange *record,
                                        struct td_error *err);
/* The same for feedback. Feedback on an unknown exchange is counted as dropped and logged;
 * exchanges that were put before it are known. TD_INVALID: no id, or a score outside 0..1. */
TD_MUST_CHECK enum td_status ledger_put_feedback(struct ledger *ledger,
                                                 const struct ledger_feedback *feedback,
                                                 struct td_error *err);
/* The same for a shadow. TD_INVALID: no id, tier or kind, or an agreement outside 0..1. */
TD_MUST_CHECK enum td_status
ledger_put_shadow(struct ledger *ledger, const struct ledger_shadow *shadow, struct td_error *err);
/* The same for a reaction. TD_INVALID: no id, or no kind. */
TD_MUST_CHECK enum td_status ledger_put_reaction(struct ledger *ledger,
                                                 const struct ledger_reaction *reaction,
                                                 struct td_error *err);
/* The same for a policy; one that is there already stays. TD_INVALID: no version, or no text. */
TD_MUST_CHECK enum td_status
ledger_put_policy(struct ledger *ledger, const struct ledger_policy *policy, struct td_error *err);
/* The same for the version of a model that attempts name. */
TD_MUST_CHECK enum td_status
ledger_put_model(struct ledger *ledger, const struct ledger_policy *version, struct td_error *err);
/* Waits at most timeout_ms until everything that was put before is committed. TD_TIMEOUT, or TD_IO
 * with the cause when commits fail. */
TD_MUST_CHECK enum td_status ledger_flush(struct ledger *ledger, uint32_t timeout_ms,
                                          struct td_error *err);
/* Whether records can be written: the last commit went well, and the files are where they were
 * when they were opened. TD_IO and others with the cause. */
TD_MUST_CHECK enum td_status ledger_check(struct ledger *ledger, struct td_error *err);
/* Whether the ledger's database is away, and records wait on this disk until it is back. *waiting:
 * the rows that it has not got yet. Never for a file. */
bool ledger_is_away(struct ledger *ledger, uint64_t *waiting);
/* The number of exchanges that were answered but are not recorded. */
uint64_t ledger_dropped(struct ledger *ledger);

/* Reads a ledger. The file is opened read-only, so another process may be writing it. Threads may
 * share a reader. TD_NOT_FOUND: there is no such file. */
struct ledger_reader;
TD_MUST_CHECK enum td_status ledger_reader_open(const char *path, struct ledger_reader **out,
                                                struct td_error *err);
void ledger_reader_close(struct ledger_reader *reader);
/* From here on a database elsewhere is away when it takes longer than this for a statement. */
void ledger_reader_hurry(struct ledger_reader *reader, uint32_t answer_ms);

/* One exchange with its attempts as a JSON object (the shape of /tandem/v1/exchanges/ID). tenant: a
 * tenant whose exchanges alone are there; NULL = all are. id may be a unique prefix, "last", or a
 * trace or request id, whose newest exchange it is then. **returns new** (json_free). TD_NOT_FOUND;
 * TD_INVALID when several exchanges match. Members without a value are null:
 *
 *   {id, time (ISO 8601, UTC), wall_ms, tenant, user, route, policy_version, requested_model,
 *    tier, model, place, data_class, status, finish, confidence, prompt_tokens,
 *    completion_tokens, ttft_ms, total_ms, cost_usd, all_cloud_cost_usd, all_cloud_basis,
 *    standing, degraded, streamed, disclosure, trace_id, span_id, parent_span_id, request_id,
 *    same_trace: [ids of others, newest first, at most 20],
 *    signals and reasons (as they were put), prompt and answer (only if stored),
 *    texts_closed (only where a stored text does not open with this process's key: why),
 *    attempts: [{tier, model, place, outcome, error, confidence, prompt_tokens, completion_tokens,
 *                cached_tokens, exact, prompt_estimate, answer_bytes, start_ms, first_ms, total_ms,
 *                cost_usd, estimated, egress_bytes, span_id}],
 *    shadows: [{tier, agreement (null: no answer), same, kind, completion_tokens, total_ms,
 *               cost_usd, egress_bytes}],
 *    reactions: [{kind, wall_ms, time}]} */
TD_MUST_CHECK enum td_status ledger_reader_find(struct ledger_reader *reader, const char *tenant,
                                                const char *id, struct json **out,
                                                struct td_error *err);
/* Makes the id of an answer ("chatcmpl-", "cmpl-", "msg_", "resp_") that of its exchange, which has
 * the same 24 digits. Another text stays as it is. */
void ledger_name_exchange(char *id);
/* Which exchanges a list has; NULL, false and 0 = any. */
struct ledger_wanted {
    const char *tenant, *tier, *route, *data_class;
    bool degraded;
    uint64_t since_wall_ms;
    size_t limit;
};
/* An array of such objects, newest first, without attempts, signals, reasons, prompt, answer. */
TD_MUST_CHECK enum td_status ledger_reader_list(struct ledger_reader *reader,
                                                const struct ledger_wanted *wanted,
                                                struct json **out, struct td_error *err);
/* Each exchange with all that ledger_reader_find shows of it but same_trace, and `feedback`:
 * [{score, comment, wall_ms, time}]. Oldest first. `exchange` is borrowed until it returns. */
typedef enum td_status ledger_exchange_fn(void *ctx, const struct json *exchange,
                                          struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_each(struct ledger_reader *reader,
                                                uint64_t since_wall_ms, ledger_exchange_fn *each,
                                                void *ctx, struct td_error *err);
/* Exchanges whose first attempt was on the device, oldest first, with the newest feedback. */
struct ledger_judged {
    struct td_str id;
    double confidence; /* of the first attempt; NAN = none */
    struct td_str signals_json;
    bool kept;    /* the first attempt gave the answer */
    double score; /* of the feedback; NAN = none */
};
/* The strings are borrowed until it returns. Anything but TD_OK ends the reading. */
typedef enum td_status ledger_judged_fn(void *ctx, const struct ledger_judged *judged,
                                        struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_judged(struct ledger_reader *reader,
                                                  uint64_t since_wall_ms, ledger_judged_fn *each,
                                                  void *ctx, struct td_error *err);

/* How right (0..1) an answer of the device was, as feedback or a shadow has it. The text is
 * borrowed until it returns. */
typedef void ledger_outcome_fn(void *ctx, const char *signals_json, double right);
TD_MUST_CHECK enum td_status ledger_reader_outcomes(struct ledger_reader *reader,
                                                    uint64_t since_wall_ms, ledger_outcome_fn *each,
                                                    void *ctx, struct td_error *err);

/* An exchange with what is known of its answer, for making lines to learn from. */
struct ledger_lesson {
    const char *tenant, *route, *tier, *data_class; /* or NULL */
    const char *model;                              /* that answered on the device, or NULL */
    const char *prompt, *answer;                    /* NULL: not stored */
    const char *signals_json;                       /* or NULL */
    bool answered;     /* the status is ok, and one tier gave the whole answer */
    bool device;       /* the answer is the device's */
    bool review;       /* a person should look at it */
    double confidence; /* in the answer; NAN = none */
    double score;      /* of the newest feedback; NAN = none */
    double same; /* share of shadows, between the device and elsewhere, that said the same; NAN */
};
/* Oldest first. The strings are borrowed until it returns. Anything but TD_OK ends the reading. */
typedef enum td_status ledger_lesson_fn(void *ctx, const struct ledger_lesson *lesson,
                                        struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_lessons(struct ledger_reader *reader,
                                                   uint64_t since_wall_ms, ledger_lesson_fn *each,
                                                   void *ctx, struct td_error *err);

/* All policies, oldest first: [{version, wall_ms, exchanges (decided by it), text}]. **returns
 * new** (json_free). */
TD_MUST_CHECK enum td_status ledger_reader_policies(struct ledger_reader *reader, struct json **out,
                                                    struct td_error *err);

/* All versions of models here, oldest first: [{version, wall_ms (of the first use), last_ms (of the
 * newest attempt, or null), attempts, text}]. **returns new** (json_free). */
TD_MUST_CHECK enum td_status ledger_reader_models(struct ledger_reader *reader, struct json **out,
                                                  struct td_error *err);
/* How often versions of models said the same, by pairs of an answering and a shadowing one:
 * [{tier, model, version, shadow, shadow_model, shadow_version, compared, same, same_share,
 * same_low, same_high (95 %), first_ms, last_ms}]. **returns new** (json_free). */
TD_MUST_CHECK enum td_status ledger_reader_skew(struct ledger_reader *reader,
                                                uint64_t since_wall_ms, struct json **out,
                                                struct td_error *err);

/* An exchange with its attempts, for a replay. Numbers that are not stored are NAN. */
struct ledger_history {
    const char *id, *requested_model, *route, *tier, *place, *user; /* or NULL */
    enum exchange_end status;
    double cost_usd, total_ms;
    const char *signals_json, *reasons_json;
    double score;                          /* of the newest feedback */
    double same;                           /* share of its shadows that said the same */
    const struct ledger_attempt *attempts; /* without error, start_ms, first_ms and egress_bytes */
    size_t attempt_count;
};
/* Oldest first. The strings are borrowed until it returns. Anything but TD_OK ends the reading. */
typedef enum td_status ledger_history_fn(void *ctx, const struct ledger_history *row,
                                         struct td_error *err);
TD_MUST_CHECK enum td_status ledger_reader_history(struct ledger_reader *reader,
                                                   uint64_t since_wall_ms, ledger_history_fn *each,
                                                   void *ctx, struct td_error *err);

/* What exchanges have cost in one hour, by tenant, user, route, application and API key (NULL =
 * none). */
struct ledger_spent {
    const char *tenant, *user, *route, *app, *key_id; /* borrowed until the function returns */
    const char *key_digest; /* in an older row instead of key_id: 16 digits of the key's SHA-256 */
    uint64_t hour;          /* hours since the epoch */
    double cost_usd, shadow_usd; /* cost_usd includes shadow_usd, the cost of shadows */
    uint64_t tokens;             /* of all attempts */
};
typedef void ledger_spent_fn(void *ctx, const struct ledger_spent *spent);
TD_MUST_CHECK enum td_status ledger_reader_spent(struct ledger_reader *reader,
                                                 uint64_t since_wall_ms, ledger_spent_fn *each,
                                                 void *ctx, struct td_error *err);

/* What servers told of their tokens beside our estimate of the same text, by tier and model. Only
 * the newest exchanges are looked at. */
struct ledger_tokens {
    const char *tier, *model; /* borrowed until the function returns */
    double count;
    double prompt_estimate, prompt_tokens, cached_tokens, answer_bytes, completion_tokens;
};
typedef void ledger_tokens_fn(void *ctx, const struct ledger_tokens *tokens);
TD_MUST_CHECK enum td_status ledger_reader_tokens(struct ledger_reader *reader,
                                                  ledger_tokens_fn *each, void *ctx,
                                                  struct td_error *err);

/* Totals since a time. **returns new** (json_free):
 *
 *   {since_wall_ms, exchanges, cost_usd,
 *    answered, degraded, unanswered (exchanges by their standing; older ones by their end),
 *    all_cloud_cost_usd (of whole answers), degraded_cost_usd, degraded_all_cloud_cost_usd,
 *    unanswered_cost_usd, shadow_cost_usd, estimated_attempts, estimated_cost_usd,
 *    saving_usd (all_cloud_cost_usd less cost_usd and shadow_cost_usd),
 *    saving_share (0 when there is nothing to save), saving_low, saving_high (95 %),
 *    all_cloud_basis: {BASIS: {exchanges, usd}} (by enum cost_basis, or "older"),
 *    token_counts: [{tier, model, usages, prompt: {ratio, low, high}, answer: {...},
 *                    cached_share}],
 *    accepted: [{tier, judged, by_feedback, by_review, by_shadow, accepted, share, share_low,
 *                share_high, cost_usd, cost_per_accepted_usd, cost_per_accepted_low,
 *                cost_per_accepted_high}],
 *    cost_per_accepted_usd,
 *    escalations (exchanges with an attempt that was "escalated"),
 *    failures (exchanges with status "failed"),
 *    feedback (exchanges with feedback), score (its mean; null without feedback),
 *    tiers: [{tier (null: no tier answered), exchanges, share, share_low, share_high (95 %),
 *             prompt_tokens, completion_tokens,
 *             cost_usd, feedback, score, ttft_ms: {p50, p95, p99}, total_ms: {p50, p95, p99}}],
 *    consistency: {similar (questions with an earlier similar one),
 *                  flipped (those that started on another tier), flip_rate (null without any),
 *                  turns (of conversations with a remembered tier), turns_moved, kept,
 *                  given_up (probability, or share of the score), usd (extra cost of keeping),
 *                  days: [{day, similar, flipped, flip_rate}]},
 *    reactions: [{tier, regenerated, edited, abandoned, continued (answers by the last of
 *                 reactions)}],
 *    keys: [{key_id, tenant, exchanges, cost_usd, tokens}], at most 100, most cost first,
 *    shadows: as ledger_reader_shadows}
 *
 * Tiers are ordered by their number of exchanges. cost_usd counts every attempt, also failed ones,
 * because the cost of the exchange does. Percentiles are exact, by nearest rank: the
 * ceil(p/100 * n)th smallest of the n known values; null without values. */
TD_MUST_CHECK enum td_status ledger_reader_report(struct ledger_reader *reader,
                                                  uint64_t since_wall_ms, struct json **out,
                                                  struct td_error *err);
/* Sums by one property. **returns new** (json_free):
 *
 *   {by, since_wall_ms (0 = of the first exchange), exchanges, device, cost_usd,
 *    all_cloud_cost_usd, shadow_cost_usd, saving_usd (all of them together), slot_ms, others (not
 *    in a group), groups: [{name (null: none; a day of UTC as YYYY-MM-DD), exchanges, device
 *    (answered there), failed, degraded, tokens, cost_usd, all_cloud_cost_usd (of whole answers),
 *    total_ms (mean, or null), trend: [exchanges in each of LEDGER_TREND slots]}]}
 *
 * The hundred largest groups, the largest first; of days the newest 400, in their order. */
enum ledger_by {
    LEDGER_BY_APP,
    LEDGER_BY_USER,
    LEDGER_BY_ROUTE,
    LEDGER_BY_MODEL,
    LEDGER_BY_TIER,
    LEDGER_BY_CLASS,
    LEDGER_BY_DAY,
    LEDGER_BY_KEY,
    LEDGER_BY_COUNT
};
/* Which exchanges. */
struct ledger_scope {
    uint64_t since_wall_ms, until_wall_ms; /* until 0 = now, and later */
    const char *tenant, *key_id;           /* NULL = of all */
};
#define LEDGER_TREND 12
extern const char *const ledger_by_names[]; /* ends with NULL */
TD_MUST_CHECK enum td_status ledger_reader_groups(struct ledger_reader *reader,
                                                  const struct ledger_scope *scope,
                                                  enum ledger_by by, struct json **out,
                                                  struct td_error *err);
/* What ran in shadows since a time. **returns new** (json_free):
 *
 *   [{tier, shadow (the tier beside it), compared, failed, same, same_share,
 *     same_low and same_high (Wilson interval of the share at 95 %), agreement (mean), cost_usd,
 *     total_ms (mean, of the shadow),
 *     tasks: [{task ("" = not judged), compared, same, same_share, same_low, same_high}], most
 *     compared first,
 *     examples: [ids of up to 5 exchanges, least agreement first]}]
 *
 * Shares and means are null when nothing was compared. */
TD_MUST_CHECK enum td_status ledger_reader_shadows(struct ledger_reader *reader,
                                                   uint64_t since_wall_ms, struct json **out,
                                                   struct td_error *err);

#endif
