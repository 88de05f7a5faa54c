/* An operator's policy as data (routes, gates, weights, budgets), and the plan that it makes for
 * one request. Constraints prune, signals choose, gates climb (docs/architecture.md). Plain structs
 * in and out: no I/O, no clock, no network. Immutable after loading; any thread. */
#ifndef ROUTER_POLICY_H
#define ROUTER_POLICY_H

#include "device/ease.h"
#include "request/request.h"
#include "router/judge/second_signal.h"
#include "router/judge/similarity.h"
#include "router/plan/facts.h"
#include "router/plan/routing_rules.h"
#include "router/plan/verify.h"
#include "router/watch/ramp_statistics.h"

#define RUNGS_MAX 8
#define REASONS_MAX 32
#define BUDGETS_MAX 16
#define REASON_TEXT_BYTES RULE_FLIP_BYTES
#define SIGNALS_TASK_BYTES 32

enum route_kind { ROUTE_LOCAL_ONLY, ROUTE_CLOUD_ONLY, ROUTE_HYBRID };

/* Gates whose threshold may come from a file that was tuned to a risk (thresholds.h). */
enum threshold_gate { THRESHOLD_G0, THRESHOLD_G1, THRESHOLD_G3, THRESHOLD_GATE_COUNT };

struct thresholds;

struct gate_settings {
    uint32_t g0_tokens_over; /* prompt longer than this starts on the next rung; 0 = off */
    /* A classifier's judgement starts on the next rung when the gain that it expects is over, or
     * its probability that the local answer is right under; 0 = off. */
    double g0_gain_over, g0_p_local_under;
    bool g1_on;
    double g1_probe_min; /* leave at the first token when the model's probe expects less */
    bool g2_on;
    uint32_t g2_tokens;       /* look at the first n tokens */
    double g2_confidence_min; /* leave when the running confidence is below */
    /* The operator gave the number (in a file of thresholds, too). The default ones fit the
     * embedded model only: tier_gates.h. */
    bool g2_given, g3_given;
    uint32_t g2_every;       /* and again each time after that many more tokens */
    double g2_abandon_under; /* leave when it is below then; 0 = off */
    bool g3_on;
    double g3_confidence_min; /* leave when the whole answer's confidence is below */
    int second;               /* enum second_by: asked of a whole answer where G3 is in doubt */
    double second_band;       /* that is: the confidence is no further from the threshold */
    uint32_t second_samples;  /* of SECOND_AGREEMENT */
    int risk;                 /* enum risk_level: of a calibrated tier's threshold */
    bool uncalibrated;        /* tier_gates_of: no number says what may be kept */
    /* Where people can be asked: what a wrong answer costs (0 = not weighed), and what they do.
     * Of the exchange, not of the route. */
    double error_usd, review_usd;
    /* Kept although a gate would leave: no tier is expected to be right more often; 0 = off. */
    double hopeless_under;
    double human_under; /* an answer with less confidence is for a person to look at; 0 = off */
    /* local text held back until this many tokens; UINT32_MAX = the whole answer */
    uint32_t commit_tokens;
    /* In the place of g0_p_local_under, g1_probe_min and g3_confidence_min; NULL = those. */
    const struct thresholds *thresholds[THRESHOLD_GATE_COUNT];
};

/* When an attempt has said nothing for some time, another rung is asked as well. */
struct hedge_settings {
    bool on;
    bool at_once;        /* a race: both begin together */
    uint32_t percentile; /* of the tier's measured time to its first text: how long to wait */
    uint32_t after_ms;   /* a fixed time instead; 0 = the percentile */
    double share;        /* the largest share of requests that is hedged */
};

/* Long texts of requests that go no farther than `place`: tiers beyond it are asked what shall be
 * read of them (exchange/parts/part_document.c). */
struct document_settings {
    bool on;
    enum td_place place;
    uint32_t bytes_min; /* a text from this length on is a document */
    uint32_t rounds;
    double share_max; /* of the documents that may be quoted */
};

struct route {
    const char *name;
    const char *const *aliases; /* names and patterns that ask for it, too (model_names.h);
                                 * NULL-terminated, NULL = none */
    enum route_kind kind;
    const char *tiers[RUNGS_MAX]; /* the ladder, nearest and cheapest first */
    size_t tier_count;
    const char *start; /* tier to start on, or NULL = first allowed (g0 rule by route) */
    enum td_data_class data_class;
    unsigned needs;      /* of enum capability: asked for by every request of the route */
    const char *region;  /* a jurisdiction that other people's tiers must lie in; NULL = any */
    bool consent;        /* nothing leaves the device without one */
    bool pseudonyms;     /* private values may be replaced so that a request can leave */
    bool strict;         /* and then recall first: likely names, numbers of no known kind */
    bool zero_retention; /* nothing of a request or its answer is kept here */
    enum td_mode mode;   /* default for requests that say nothing */
    /* Of what a cloud (the device) answered, the share that the device (a cloud) answers, too. */
    double shadow_edge_share, shadow_cloud_share;
    struct ramp_plan ramp; /* of users who start on ramp_to; step_count 0 = no ramp */
    const char *ramp_to;
    uint32_t ramp_slo_ms; /* an answer that comes later is lost to it; 0 = none is */
    struct gate_settings gates;
    struct hedge_settings hedge;
    bool race;
    enum settle settle; /* of a race */
    struct verify_settings verify;
    struct document_settings documents;
    uint32_t overflow_after_ms; /* of waiting, before another tier starts; 0 = never */
    double explore_share;       /* of the requests that start elsewhere by a draw (explore.c) */
    struct td_weights weights;  /* for requests that bring none */
};

/* What latency, privacy and quality are worth in money, so that they can be weighed (score.h). */
struct worth {
    double second_usd;   /* a second of waiting */
    double exposure_usd; /* a prompt that travels to the cloud */
    double error_usd;    /* a wrong answer */
};

/* Who asks, told apart by API keys. */
struct app {
    const char *name;
    const char *key;         /* td_request.key: SHA-256 of its key in hex; "" = nobody's */
    const char *tenant;      /* by name; NULL = its key is a tenant of its own */
    const char *certificate; /* in whose name it comes instead of a key, or NULL */
    struct td_weights weights;
    uint32_t escalations_per_hour; /* 0 = as many as any caller */
    const char *const *models;     /* [model_count] names and patterns of what it may ask for */
    size_t model_count;            /* 0 = everything */
};

/* A day's money: for all requests together, or for each user, application, API key or route. */
enum budget_per {
    BUDGET_PER_ALL,
    BUDGET_PER_USER,
    BUDGET_PER_APP,
    BUDGET_PER_ROUTE,
    BUDGET_PER_KEY
};
struct budget {
    const char *name;
    enum budget_per per;
    double usd_per_day;
};

struct policy {
    const char *version;        /* 16 hex digits over the normalised policy */
    const struct route *routes; /* [0] is the default route, named "auto" */
    size_t route_count;
    const struct routing_rules *rules; /* NULL = none */
    const struct app *apps;
    size_t app_count;
    const struct budget *budgets;
    size_t budget_count;       /* at most BUDGETS_MAX */
    struct td_weights weights; /* for requests, applications, rules and routes that bring none */
    struct worth worth;
};

/* A code and a sentence for every tier that was removed, chosen or left. */
enum reason_code {
    REASON_REMOVED_CLASS,
    REASON_REMOVED_MODE,
    REASON_REMOVED_ROUTE_KIND,
    REASON_REMOVED_NO_MODEL,
    REASON_REMOVED_UNPROVEN, /* nobody showed that its model is good enough for this use */
    REASON_REMOVED_OFFLINE,
    REASON_REMOVED_TOO_SLOW, /* for the request's deadlines */
    REASON_REMOVED_DEVICE,   /* the device is too hot, or has no memory or charge for it */
    REASON_REMOVED_NO_KEY,
    REASON_REMOVED_CONTEXT,
    REASON_REMOVED_CAPABILITY,
    REASON_REMOVED_CONSENT,
    REASON_REMOVED_REGION,
    REASON_REMOVED_NAMED,
    REASON_REMOVED_RULE,
    REASON_REMOVED_BUDGET,
    REASON_REMOVED_KEY_TERMS, /* the API key may not use it */
    REASON_REMOVED_FULL,      /* as many tickets wait for people as may */
    REASON_REMOVED_NOT_WORTH, /* a review costs more than it can be expected to save */
    REASON_REMOVED_DOCUMENT,  /* a document stays, and the tier cannot be asked without it */
    REASON_REMOVED_CAPPED,    /* the last of those that remove */
    REASON_CHOSEN_START,
    REASON_CHOSEN_RULE,
    REASON_CHOSEN_DEVICE,
    REASON_CHOSEN_SCORE,
    REASON_CHOSEN_SLO,
    REASON_CHOSEN_MODE,
    REASON_CHOSEN_RAMP,
    REASON_OVERFLOW, /* starts where it need not wait */
    REASON_EXPLORED, /* starts elsewhere by a draw (explore.c) */
    REASON_RAMP_NOT_TAKEN,
    REASON_UNLOADED, /* the tier's model must be loaded before it can answer */
    REASON_ALIAS,    /* the route took a name that is not its own */
    REASON_CHOSEN_ONLY,
    REASON_KEPT_SIMILAR,      /* starts where an earlier similar question did */
    REASON_KEPT_CONVERSATION, /* starts where the conversation's last answer came from */
    REASON_KEPT_SKEW,         /* the same, because the other tier says something else (skew.c) */
    REASON_CHOSEN_SKEW,       /* fewer new conversations start on a tier of such two */
    REASON_PARTED,            /* no gate climbs from one to the other in a conversation */
    REASON_SKEWED,            /* they do so: a model should be updated */
    REASON_MOVED,             /* does not, although there was one */
    REASON_LEFT_LOW_CONFIDENCE,
    REASON_LEFT_NOT_MINE,
    REASON_LEFT_PROBE,
    REASON_LEFT_UNCALIBRATED, /* nothing is known of what its confidence is worth */
    REASON_LEFT_VALUES,       /* a structured answer whose values say nothing */
    REASON_LEFT_STAKES,       /* an error would cost more than a review */
    REASON_LEFT_CUT,
    REASON_LEFT_ERROR,
    REASON_LEFT_TIMEOUT,
    REASON_COMPUTED,      /* the answer is not the model's: it was computed */
    REASON_CACHE_HIT,     /* it is an earlier one to the same request: nothing was asked */
    REASON_CACHE_SIMILAR, /* the same, to a similar question */
    REASON_CACHE_UNLIKE,  /* there is one to a similar question, which differs in what counts */
    REASON_SECOND_SIGNAL, /* the model was asked once more how sure it is */
    REASON_KEPT_CONFIDENT,
    REASON_KEPT_LAST,
    REASON_KEPT_HOPELESS,
    REASON_UNJUDGED_NO_LOGPROBS, /* a better tier was there, but no gate judged the answer */
    REASON_UNJUDGED_NO_GATE,
    REASON_UNJUDGED_FORMAT,
    REASON_CONFIDENCE_STALE, /* the server is not the one that its confidence model is of */
    REASON_ODD_LOGPROBS,     /* the tier sent numbers that are no log-probabilities */
    REASON_REVIEW,
    REASON_REVIEW_PENDING, /* a person will answer later */
    REASON_HEDGED,         /* asked while a slow tier still works */
    REASON_HEDGE_WON,      /* and answered first */
    REASON_HEDGE_LOST,     /* or did not */
    REASON_HEDGE_REFUSED,  /* not asked: the share or a budget is used up */
    REASON_VERIFYING,      /* a stronger tier checks the answer (G4) */
    REASON_VERIFIED,       /* and found it right */
    REASON_LEFT_REFUTED,   /* or wrong */
    REASON_UNVERIFIED,     /* or could not be asked, or said nothing in time */
    REASON_NOT_GIVEN,      /* the client's form has no place for the answer */
    REASON_CONTINUED,      /* goes on with what a tier that broke off had shown */
    REASON_DOCUMENT,       /* it has the device read a document that it may not see */
    REASON_USAGE_REFUSED,  /* the tier told of more than can have been, or of what is no usage */
    REASON_CODE_COUNT
};

struct reason {
    enum reason_code code;
    const char *tier; /* borrowed from the facts */
    const char *text; /* the plan's */
};
const char *reason_code_name(enum reason_code code); /* "removed_class", ... */

/* Where an earlier exchange of the same user began (earlier_start.c). */
enum remembered_by { REMEMBERED_NOTHING, REMEMBERED_SIMILAR, REMEMBERED_CONVERSATION };
struct remembered {
    enum remembered_by by;
    size_t tier; /* where it began, or where the conversation's last answer came from */
    /* How much may be given up for it: probability of a right answer beyond a gate's bound, or
     * share of the score. */
    double margin;
    /* The caps of the day are reached: no dearer tier is kept (no_money), and none that gives
     * anything up (no_loss). */
    bool no_money, no_loss;
};

/* Whether the exchange begins where the earlier one did. */
enum keeping {
    KEEPING_NONE,  /* nothing was remembered, or the start was asked for by name */
    KEEPING_SAME,  /* it would have started there anyway */
    KEEPING_KEPT,  /* it would have started on decision.fresh */
    KEEPING_MOVED, /* keeping would have given up too much */
    KEEPING_BARRED /* a hard constraint, or the tier is not available */
};
const char *keeping_name(enum keeping keeping); /* "none", "same", "kept", "moved", "barred" */

/* What the ramp of its route says of a request. */
struct ramp_signal {
    bool on, stopped, taken;
    double percent; /* of the users who are taken now */
};

/* Did the ramp decide? Users who were taken and users who were not differ only by the draw, so that
 * their answers can be compared. */
struct ramp_arm {
    bool on, taken;
    double percent;
};

/* What chose the tier where the exchange starts. The ledger keeps the names. */
enum decided_by {
    DECIDED_NOT, /* no tier may answer */
    DECIDED_BY_DENIAL,
    DECIDED_BY_MODE,
    DECIDED_BY_RULE,
    DECIDED_BY_DEVICE, /* a metered network, a low battery, heat, short memory */
    DECIDED_BY_RAMP,
    DECIDED_BY_ROUTE,
    DECIDED_BY_GATE,
    DECIDED_BY_SCORE,
    DECIDED_BY_SLO,          /* what would have started is too slow for the deadline */
    DECIDED_BY_OVERFLOW,     /* the wait elsewhere is too long (overflow.c) */
    DECIDED_BY_SIMILAR,      /* an earlier similar question started there (earlier_start.c) */
    DECIDED_BY_CONVERSATION, /* the conversation was there already (earlier_start.c) */
    DECIDED_BY_DRAW,         /* of the route's explore_share (explore.c) */
    DECIDED_BY_SKEW          /* of models.skewed_local_share (skew.c) */
};
const char *decided_by_name(enum decided_by by); /* "denied", "mode", ...; NULL for DECIDED_NOT */

/* What is done about two tiers whose models say something else too often. */
enum skew_policy {
    SKEW_WARN, /* nothing: it is said */
    SKEW_KEEP, /* a conversation does not come back from the upper one to the lower one */
    SKEW_PART  /* nor the other way, and fewer new ones start on the lower one */
};

/* Shadows compared them (exchange/memory/skew_table.h). */
struct skew_pair {
    size_t tiers[2];
    double differ, compared; /* share, lately; and of how many */
};
#define SKEW_PAIRS_MAX 4
struct skew_signal {
    enum skew_policy policy;
    double local_share, draw; /* share of the new conversations that stays; explore_draw's like */
    bool goes_on;             /* the request goes on with a conversation */
    struct skew_pair pairs[SKEW_PAIRS_MAX];
    size_t count;
};

/* How likely the start was, so that other policies can be judged from the records. */
struct exploring {
    double share;    /* that starts elsewhere; 0 = it was not open to the draw */
    size_t usual;    /* where the others start */
    unsigned others; /* bit n: tier n, each as likely as the others */
};

/* Why the exchange starts where it does, for `tandem explain`. */
struct decision {
    enum decided_by by;
    enum keeping keeping;
    size_t fresh;                  /* with KEEPING_KEPT: where it would have started */
    double given_up;               /* with KEEPING_KEPT: in the margin's unit */
    char moved[REASON_TEXT_BYTES]; /* with KEEPING_MOVED and KEEPING_BARRED: why */
    size_t start;                  /* tier; SIZE_MAX = none */
    size_t runner_up;              /* the next best tier that was allowed; SIZE_MAX = none */
    bool scored;
    double score[RUNGS_MAX]; /* in USD, of the tiers in scored_tiers; less is better */
    size_t scored_tiers[RUNGS_MAX];
    size_t scored_count;
    char flip[REASON_TEXT_BYTES]; /* what would have changed it */
    /* It starts below runner_up, which it is for, because that tier is busy: disclosed. */
    bool busy;
    struct ramp_arm ramp;
    struct exploring exploring;
};
/* The probability with which the policy starts such an exchange on the tier. */
double decision_propensity(const struct decision *decision, size_t tier);

#define PLAN_WORDS_BYTES 640 /* holds what is said of most requests */

/* Its reasons point into it, so it is not copied. */
struct plan {
    const struct route *route;
    size_t rungs[RUNGS_MAX]; /* indices into the facts, in climbing order from the start */
    size_t rung_count;       /* 0 = empty ladder: the reasons say why */
    size_t climb_count; /* gates climb rungs[0..climb_count); what follows lies below the start and
                                is tried only when those fail, nearest to the start first */
    enum td_mode mode;  /* in force: the request's, or the route's when the request says "auto" */
    struct gate_settings gates;
    struct reason reasons[REASONS_MAX];
    size_t reason_count;
    char words[PLAN_WORDS_BYTES]; /* of the reasons; those without room here lie alone */
    size_t word_bytes;
    /* a tier that the request would have been allowed is unreachable or has no key: an
     * answer that it could have bettered is disclosed as reduced capability */
    bool reduced;
    unsigned missing; /* bit n: tier n would have been on the ladder, but rests or has no key */
    bool spent;       /* a budget took tiers away: the answer is disclosed */
    struct decision decision;
};

/* Of the user's own words, by their commonest ones. */
enum rule_language {
    LANGUAGE_OTHER,
    LANGUAGE_ENGLISH,
    LANGUAGE_GERMAN,
    LANGUAGE_FRENCH,
    LANGUAGE_SPANISH
};

/* What the device knows of itself now. */
struct moment {
    int hour, weekday;              /* local time; Monday is 0; -1 = not known */
    double battery;                 /* percent; NAN = no battery, or not known */
    bool on_battery, battery_low;   /* device/device.h */
    enum device_level device_level; /* for heat, the battery or memory */
    bool spares_power;              /* for heat or the battery, and HOT at least */
    const char *device_why;         /* the fact behind it; NULL = none, borrowed */
    enum td_network network;
    double day_tokens; /* of this server in the last 24 hours; NAN = not counted */
};

/* What is known of a request before it runs. */
struct signals {
    enum td_data_class data_class;  /* after detectors, route, caller, conversation, rule */
    enum td_data_class class_found; /* before the rule */
    /* Private values can be replaced; what is left then has this class. */
    bool masked;
    enum td_data_class masked_class;
    /* The route asks for a consent and has none: why; else NULL. */
    const char *consent_missing;
    /* Jurisdictions that the request asks for; NULL-terminated, borrowed from it; NULL = none. */
    const char *const *regions;
    enum td_mode mode;
    uint32_t prompt_bytes, message_count, tokens_max;
    bool prompt_only;          /* nothing is to be generated */
    bool keep_nothing;         /* of the request or its answer, beyond the exchange */
    unsigned needs;            /* of enum capability */
    const char *sampling;      /* the member that asks for CAPABILITY_SAMPLING, or NULL; static */
    const char *infill_member; /* that has the text after a gap; or NULL; static */
    const char *format_member; /* that asks for an output format; or NULL; static */
    const char *call_fault;    /* why it needs CAPABILITY_WHOLE_TOOLS, or NULL; the request's */
    /* Of the user's own utterance (features.h); recorded. */
    bool code, maths, question, multi_step, fresh, jailbreak;
    /* What the classifier says of it; judged: there is one. NAN: it was not trained for that. */
    bool judged;
    double gain, p_local, p_strong;
    double gain_whole; /* more than gain: one end of the text raised it alone (classifier.h) */
    char task[SIGNALS_TASK_BYTES]; /* "" = not trained for tasks */
    double task_p;
    enum rule_language language;
    /* What rules see in addition to the text; the exchange fills it in. */
    uint32_t prompt_tokens; /* as the route's first tier counts */
    const char *user, *app; /* NULL = none */
    const char *const *tags;
    size_t tag_count;
    bool batch;
    uint32_t slo_ttft_ms, slo_ms; /* 0 = none */
    /* The exchange's own limits, which the server or the client's time-out may set; 0 = none. */
    uint32_t first_deadline_ms, deadline_ms;
    struct moment moment;
    const struct routing_rule *rule; /* that matched, or NULL */
    struct td_weights weights;
    struct worth worth;
    const struct key_terms *key_terms; /* what the API key may do; NULL = all */
    /* Of the budgets that the request draws on, the one with the largest share spent: that share
     * (NAN = no budget) and its name. At 1 paid tiers are closed. */
    double budget_used;
    const char *budget;
    double budget_left_usd;    /* with a budget: what the tightest one has left */
    const char *budget_period; /* of that of budget_used: NULL = today */
    uint32_t budget_wait_ms;   /* until it ends; 0 with today */
    bool budget_frees;         /* that of budget_used is open again if promises are not needed */
    /* The caller has had as many escalations in this hour, and no more leave the device; 0 = it has
     * some left, or no cap. */
    uint32_t capped_at;
    struct sketch sketch; /* of the user's own utterance; known only where it was asked for */
    struct remembered remembered;
    struct ramp_signal ramp;
    struct skew_signal skew;
    double draw; /* explore_draw; 1 = nothing is drawn */
    /* Known once the local model has read the prompt: its probe's probability that its answer will
     * be right. 0 = there is none. */
    double probe;
    /* Likewise: the probability of the first token that means "not mine". 0 = the model has
     * none. */
    double not_mine;
};

/* Name of the tier where the exchanges of a route start unless something moves them: what its ramp
 * leads away from. */
const char *policy_start_of(const struct route *route);

/* Finds the rule that matches and puts it into the signals, with the class that it asks for and the
 * weights that apply. These are the first that are given of the request's, the rule's, the route's,
 * *app's (may be NULL) and the policy's. */
void policy_apply_rules(const struct policy *policy, const struct route *route,
                        const struct td_weights *request, const struct td_weights *app,
                        struct signals *signals);
/* What the rules see; the numbers alone explain why a rule matched. */
void policy_read_numbers(const struct signals *signals, double out[static RULE_NUMBER_COUNT]);

/* The application that the key (td_request.key) belongs to, or NULL. */
const struct app *policy_find_app(const struct policy *policy, const char *key);

/* Number of the tier's adapter of that name; SIZE_MAX when it has none. */
size_t policy_find_adapter(const struct tier_facts *facts, const char *name);
/* Whether an adapter changes what the tier's model answers to the request. */
bool policy_uses_adapter(const struct tier_facts *facts, const struct td_request *request);
/* TD_INVALID when the request asks for an adapter that no tier has; the message lists those there
 * are. */
TD_MUST_CHECK enum td_status policy_check_adapters(const struct td_request *request,
                                                   const struct tier_facts *facts,
                                                   size_t tier_count, struct td_error *err);

/* Does the tier get the masked request? Only when it may not see the request as it is. */
bool policy_sends_masked(const struct route *route, const struct signals *signals,
                         const struct tier_facts *facts);
/* The class of what the tier would get. */
enum td_data_class policy_class_for(const struct route *route, const struct signals *signals,
                                    const struct tier_facts *facts);

/* The draw of an exchange: evenly in [0, 1), by its id, so that a replay draws the same. */
double explore_draw(const char *exchange);

/* Makes the plan. Never fails: an empty ladder has rung_count 0. states[i] belongs to facts[i]. */
void plan_make(const struct route *route, size_t named, const struct signals *signals,
               const struct tier_facts *facts, const struct tier_state *states, size_t tier_count,
               struct plan *out);
/* The member of a chat by which a request asks for something that the tier has not got; NULL when
 * it does not, or asks for a promise, which is no matter of skill. Static. */
const char *plan_missing_member(const struct signals *signals, const struct tier_facts *facts);
/* Why a tier rests and for how long, as the rest of a sentence about it. */
void plan_rest_text(const struct tier_state *state, char out[static REASON_TEXT_BYTES]);
/* Why the tier's forecast does not fit what is left until the first text and until the whole answer
 * (INFINITY = no limit). False, and nothing is written, when it fits or there is none. */
bool plan_explain_slow(const struct tier_facts *facts, const struct tier_state *state,
                       double first_ms, double whole_ms, char why[static REASON_TEXT_BYTES]);
/* Frees what reasons took that had no room. */
void plan_deinit(struct plan *plan);
void plan_add_reason(struct plan *plan, enum reason_code code, const char *tier, const char *format,
                     ...) TD_PRINTF(4, 5);

#endif
