/* The configuration: one YAML file, checked strictly. The environment overrides the file, and the
 * file overrides the defaults.
 *
 * The tables of keys (keys.h) drive parsing, defaults, range checks and `tandem help config`.
 * A struct config is immutable after loading; everything in it lives in its arena. Secrets are
 * never in it: only the names of the environment variables or files that hold them. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "base/bytes/arena.h"
#include "base/core/error.h"
#include "exchange/private/minimise.h"
#include "request/request.h"
#include "router/plan/policy.h"
#include "tier/limits.h"

#include <stdatomic.h>

#define CONFIG_TIERS_MAX RUNGS_MAX
/* Of a token_command, with its arguments. */
#define CONFIG_COMMAND_WORDS_MAX 16
#define CONFIG_ROUTES_MAX 32
#define CONFIG_ORIGINS_MAX 32
#define CONFIG_LISTENS_MAX 16
#define CONFIG_ADAPTERS_MAX 64
#define CONFIG_RULES_MAX 128 /* of each kind: rules, privacy.patterns, privacy.words */
#define CONFIG_APPS_MAX 60
#define CONFIG_WORDS_MAX 10000
#define CONFIG_NAMES_MAX 64 /* aliases of a route, models of a tier or an app */

struct config_mistakes;     /* mistakes.h */
struct tier_server;         /* tier/servers.h */
struct tier_server_options; /* tier/tier.h */

/* From CONFIG_TIER_SERVER on: a kind of server, in the order of tier_servers. */
/* What is done about a model that nobody should rely on. */
enum model_ruling { MODEL_WARN, MODEL_REFUSE };

enum config_tier_kind { CONFIG_TIER_LOCAL, CONFIG_TIER_REVIEW, CONFIG_TIER_SERVER };

/* A list of texts, NULL-terminated. */
struct config_texts {
    const char **items; /* NULL when empty */
    size_t count;
};

/* Bits of config_tier.modalities, in the order of their names. */
enum config_modality {
    CONFIG_MODALITY_TEXT = 1,
    CONFIG_MODALITY_IMAGE = 2,
    CONFIG_MODALITY_AUDIO = 4,
    CONFIG_MODALITY_FILE = 8,
};

/* Which findings in instructions give a class, in the order of their names. */
enum config_counted { CONFIG_COUNTED_ALL, CONFIG_COUNTED_WITHOUT_NAMES };

/* What becomes of a client without a certificate. */
enum config_client_auth { CONFIG_CLIENT_REQUIRED, CONFIG_CLIENT_OPTIONAL };

/* Where an operator may change the configuration over HTTP. */
enum config_edit { CONFIG_EDIT_OFF, CONFIG_EDIT_LOCAL, CONFIG_EDIT_ON };

/* When the record of an exchange is written. */
enum config_durable {
    CONFIG_DURABLE_BATCH, /* soon after its answer, with others */
    CONFIG_DURABLE_ANSWER /* and is on the disk, before its answer ends */
};

/* A header that requests to a tier have: a text, or the name of a variable. */
struct config_header {
    uint32_t line;
    const char *name, *value, *env;
};

/* One of several certificates of the server. */
struct config_certificate {
    uint32_t line;
    const char *certificate_file, *key_file; /* key_file NULL = in certificate_file */
};

/* One of several keys of a tier. */
struct config_tier_key {
    uint32_t line;
    const char *name, *env, *file; /* one of the last two */
    uint32_t weight;
};

struct config_tier {
    uint32_t line;
    const char *name;
    int kind;                     /* enum config_tier_kind */
    int place;                    /* enum td_place, -1 = by kind */
    const char *model, *base_url; /* model of a local tier: NULL = engine.model */
    bool model_assumed;           /* nobody wrote down the model of the server */
    bool assumed;                 /* nor the tier */
    bool priced_by_card;          /* its prices are those of tier/cards/ */
    bool priced_by_tier;          /* of a further model: its prices are the tier's */
    bool calls_no_tools;          /* its model's card says so */
    /* Of a server: further models, of which only name, modalities, context and prices are read, and
     * the same as facts. */
    struct config_tier *models; /* [model_count] */
    size_t model_count;
    struct tier_model *served;              /* [model_count] */
    uint32_t idle_s;                        /* of a local tier with a model of its own */
    const char *api_key_env, *api_key_file; /* both NULL = the tier needs no key */
    struct config_texts token_command;      /* in their place: prints a token */
    struct config_tier_key *keys; /* [key_count] in place of api_key_env and api_key_file */
    size_t key_count;
    const char *api_version;
    struct config_header *headers; /* [header_count] */
    size_t header_count;
    const char *confidence; /* of a server: file of its confidence model; NULL = none */
    const char *ca_file;
    const char *pinned_key;        /* NULL = any that the certificates vouch for */
    const char *region;            /* NULL = not said */
    struct config_texts certified; /* what its operator holds or promises */
    bool no_train, no_retention;
    bool pseudonyms;
    bool allow_http;
    int completions;     /* of a server: 1 = it has /completions */
    uint32_t modalities; /* of a server: of enum config_modality */
    int prefill;         /* enum prefill */
    int stream;          /* 0: always, 1: as_asked */
    uint32_t context_tokens;
    uint32_t pad_bytes; /* 0 = requests are as long as they are */
    double input_usd_per_mtok, output_usd_per_mtok;
    double cached_input_usd_per_mtok; /* NAN = as input_usd_per_mtok */
    uint32_t connect_timeout_ms, first_timeout_ms, idle_timeout_ms, total_timeout_ms;
    struct tier_limits limits;
    struct {
        double minutes, usd_hour, cost_of_error;
        uint32_t queue_max, sla_minutes, lease_minutes, expires_hours, hold_s, keep_days;
        int interim; /* enum review_interim */
    } review;        /* of a tier of people */
};

/* Where the server listens: host and port, or the path of a socket. */
struct config_listen {
    const char *text; /* as it was written */
    const char *host; /* NULL = path */
    uint16_t port;
    const char *path;
};

struct config_adapter {
    uint32_t line;
    const char *name, *file;
    double scale;
    bool always;
};

/* An operator's own kind of private data: a regular expression, or words. */
struct config_pattern {
    uint32_t line;
    const char *name, *regex;
    int data_class; /* enum td_data_class */
    double score;
};

struct config_words {
    uint32_t line;
    const char *name;
    const char *file; /* NULL = list */
    struct config_texts list;
    int data_class;
};

/* Who may see a class of data. */
struct config_class {
    uint32_t line;
    int data_class;                                        /* enum td_data_class */
    struct config_texts places, regions, tiers, certified; /* empty = the default, or not asked */
};

/* All NAN = not given. */
struct config_weights {
    double latency, privacy, cost;
};

/* An operator's rule as it stands in the file. config_rules.c compiles it
 * (router/plan/routing_rules.h). */
struct config_rule {
    uint32_t line; /* 0 = of a preset */
    const char *name;
    struct config_texts named[RULE_NAMED_COUNT]; /* by enum rule_choice; empty = no condition */
    uint32_t classes, languages, networks, priorities, days; /* bits; 0 = no condition */
    struct config_texts hours;
    double over[RULE_NUMBER_COUNT], under[RULE_NUMBER_COUNT]; /* NAN = no bound */
    int code, maths, question, multi_step, fresh, jailbreak, tools, media;
    int on_battery; /* all -1, 0, 1 */
    const char *deny;
    int only; /* -1, or enum rule_only less 1 */
    struct config_texts tiers;
    uint32_t places;
    const char *start;
    int escalate;   /* -1, 0, 1 */
    int data_class; /* -1, or enum td_data_class */
    struct config_weights weights;
};

struct config_app {
    uint32_t line;
    const char *name;
    const char *key_env, *key_file, *key_sha256; /* one of them, or: */
    const char *certificate;                     /* the name in its certificate */
    const char *tenant;                          /* shared with other keys; NULL = its own */
    struct config_weights weights;
    uint32_t escalations_per_hour; /* 0 = watch.escalations_per_hour */
    struct config_texts models;    /* names and patterns that it may ask for; empty = all */
};

struct config_webhook {
    uint32_t line;
    const char *name, *url;
    const char *secret_env, *secret_file; /* one of them */
    struct config_texts events;           /* empty = all */
    bool allow_private;
};

struct config_budget {
    uint32_t line;
    const char *name;
    int per; /* enum budget_per */
    double usd_per_day;
};

struct config_route {
    uint32_t line;
    const char *name;
    struct config_texts aliases; /* items NULL = not given */
    int kind;                    /* enum route_kind */
    struct config_texts tiers;
    const char *start;
    int data_class;     /* enum td_data_class */
    const char *region; /* NULL = any */
    bool no_train, no_retention;
    int consent; /* 1: required */
    bool pseudonyms, strict;
    bool zero_retention;
    int mode; /* enum td_mode */
    struct {
        int by, stakes, high_from, compare; /* indices of the choices; high_from -1 = no class */
        const char *tier;                   /* NULL = the next one */
        struct config_texts high_tasks;
        double share, high_p_local_under;
        uint32_t deadline_ms;
    } g4;
    struct {
        int stay; /* 0: off; else enum td_place plus one */
        uint32_t bytes_min, rounds;
        double share_max;
    } documents;
    int settle;                 /* enum settle */
    struct gate_settings gates; /* the numbers; the rest of it is filled in by policy_build.c */
    int climb;                  /* 1: hedged */
    uint32_t hedge_percentile, hedge_after_ms;
    double hedge_share;
    uint32_t overflow_after_ms;
    double explore_share;
    const char *thresholds[THRESHOLD_GATE_COUNT]; /* files, or NULL */
    double shadow_edge_share, shadow_cloud_share;
    struct {
        const char *to; /* NULL = there is none */
        struct config_texts steps;
        uint32_t judged_min, slo_ms;
        double disagreement_max, loss_margin;
    } ramp;
    struct config_weights weights;
};

struct config {
    struct arena *arena;
    atomic_uint users;  /* of config_hold */
    const char *label;  /* the file's name, or "defaults" */
    struct td_str text; /* of the file; empty: there is none */
    uint32_t line;
    const char *state_dir;
    const char *state; /* the database of all state that nodes share; NULL = there is none */
    struct {
        struct config_texts listens;     /* as the file says it */
        const char *listen;              /* all addresses, for messages */
        struct config_listen *addresses; /* [address_count], at least one */
        size_t address_count;
        const char **hosts; /* of the addresses that are no paths; NULL-terminated */
        const char *unix_mode;
        struct config_texts proxy_protocol_from;
        struct {
            const char *certificate_file;    /* NULL = no TLS */
            const char *key_file;            /* NULL = in certificate_file */
            const char *client_ca_file;      /* NULL = clients are not asked for certificates */
            int client_auth;                 /* enum config_client_auth */
            struct config_certificate *more; /* [more_count] for other names */
            size_t more_count;
        } tls;
        bool http2;
        uint32_t workers; /* 0 = the smaller of 2 and the cores */
        uint32_t body_bytes_max, header_bytes_max, answer_bytes_max;
        uint32_t pad_stream_bytes; /* 0 = events are as long as they are, unless a client asks */
        uint32_t connections_max;
        uint32_t buffered_bytes_max; /* 0 = from the memory that is free at the start */
        bool ignore_client_abort;
        uint32_t header_timeout_ms, idle_timeout_ms, deadline_ms, shutdown_timeout_ms;
        struct config_texts cors_origins, allowed_hosts;
        bool local_origins;
        bool console;
        int config_edit; /* enum config_edit */
        const char *api_keys_env, *api_keys_file;
        const char *operator_keys_env, *operator_keys_file;
        bool without_keys; /* also where strangers can reach the server */
        const char *host;  /* the first of `hosts`, or NULL */
        uint16_t port;
    } server;
    struct {
        const char *model;           /* NULL = the embedded model */
        const char *embedding_model; /* NULL = the same */
        int cpu;                     /* enum td_cpu */
        int kv_type;                 /* enum td_kv_type */
        uint32_t threads, context_tokens, cache_tokens, slots, queue;
        int speculation;         /* enum td_speculation */
        const char *draft_model; /* for draft alone */
        uint32_t draft_tokens;
        double exit_threshold;
        bool isolated; /* answers in a process of its own, whatever the class */
        struct config_texts embedding_aliases;
        struct config_adapter *adapters;
        size_t adapter_count;
    } engine;
    struct {
        const char *dir;     /* always set after loading */
        const char *mirror;  /* NULL = huggingface.co */
        const char *ca_file; /* NULL = the system's certificates */
        const char *catalog; /* NULL = the one beside the program */
        uint32_t file_mb_max;
        uint32_t max_age_days; /* 0 = no limit */
        double max_skew;       /* share of answers that differ */
        int skewed;            /* enum skew_policy */
        double skewed_local_share;
        int too_old, few_bits; /* enum model_ruling */
    } models;
    struct {
        const char *classifier; /* NULL = the default one; "none" = no judging */
        const char *confidence; /* NULL = none */
        struct {
            bool on;
            double margin, loss_max, usd_per_day;
            uint32_t ttl_days, entries_max;
            const char *table; /* NULL = the one that came with the program; "none" */
        } consistency;
    } router;
    struct {
        uint32_t running_max;
        double usd_per_day;
    } shadow;
    struct {
        uint32_t escalations_per_hour; /* of one caller; 0 = no cap */
        double escalation_share;       /* that is usual; 0 = learnt */
        double objective;              /* share of answers that should be in time */
        uint32_t resting_s;            /* a tier without an answer for so long is an alarm */
        const char *webhook, *webhook_key_env; /* NULL = none */
    } watch;
    struct {
        int data_class; /* floor for every route */
        uint32_t conversations_max;
        bool zero_retention;       /* no text, user or computed prompt outlives its exchange */
        bool consents_in_requests; /* a request's body may give a consent */
        bool confine; /* restricted requests are answered by a worker without a network */
        struct config_pattern *patterns;
        size_t pattern_count;
        struct config_words *words;
        size_t words_count;
        struct config_class *classes;
        size_t class_count;
        struct {
            bool on;
            const char *file; /* NULL = the one that came with the program */
            double min_score;
            int data_class; /* enum td_data_class of a found name */
        } names;
        struct {
            int system, tools; /* enum config_counted */
        } instructions;
        struct {
            bool on, strict;
            struct config_texts classes, types; /* empty = the defaults */
            uint32_t ttl_s, conversations_max, bytes_max;
            const char *vault_file, *vault_key_env, *vault_key_file; /* NULL = none */
        } pseudonyms;
        struct minimise_settings minimise;
        int media_class; /* enum td_data_class of what no detector can read */
    } privacy;
    struct {
        uint32_t keep_s; /* 0 = no response is kept */
        uint32_t bytes_max, caller_bytes_max, caller_count_max;
    } responses;
    struct {
        int answers; /* enum cache_answers */
        uint32_t bytes_max, ttl_s;
        bool on_disk; /* over a restart */
        bool similar;
        double similar_threshold;
    } cache;
    struct {
        const char *directory;                       /* always set after loading */
        uint32_t file_mb_max, caller_mb_max, mb_max; /* MB of 1,000,000 bytes; mb_max 0 = none */
        uint32_t caller_count_max, keep_days;        /* keep_days 0 = until they are deleted */
        uint32_t batch_lines;                        /* that run at once */
    } files;
    struct {
        const char *path; /* of the database; always set after loading */
        int otherwise;    /* of requests that do not say: 0 = never, 1 = allow */
        uint32_t count_max, caller_count_max, mb_max; /* count_max 0 = no queue */
        uint32_t expires_s, keep_s, at_once, per_minute;
    } deferral;
    struct {
        bool enabled;
        const char *path;     /* always set after loading; the database's URL where there is one */
        const char *database; /* or NULL */
        const char *waiting;  /* file of what the database has not got yet; NULL without one */
        bool store_prompts;
        uint32_t keep_days; /* 0 = for ever */
        uint32_t keep_mb;   /* of a file; 0 = any size */
        uint32_t
            keep_class_days[TD_CLASS_RESTRICTED + 1]; /* 0 = keep_days, UINT32_MAX = for ever */
        const char *egress; /* folder, or "none"; always set after loading */
        int durable;        /* enum config_durable */
    } ledger;
    struct {
        const char *node;               /* always set after loading */
        const char *redis;              /* or NULL */
        const char *redis_password_env; /* name of a variable; or NULL */
        const char *key_env, *key_file; /* of the key that all nodes have; or NULL */
    } cluster;
    struct {
        int level;          /* enum log_level */
        const char *access; /* "off", "stderr" or a file */
    } log;
    struct {
        const char *endpoint; /* NULL = OTEL_EXPORTER_OTLP_ENDPOINT, or nothing is sent */
        const char *headers_env, *service_name, *ca_file; /* NULL = those of OTEL_... */
        bool traces, metrics;
        uint32_t metrics_interval_s;
    } otlp;
    struct config_tier *tiers;
    size_t tier_count;
    struct config_route *routes;
    size_t route_count;
    struct config_rule *rules; /* the file's, then the preset's */
    size_t rule_count;
    struct config_app *apps;
    size_t app_count;
    struct config_budget *budgets;
    size_t budget_count;
    struct config_webhook *webhooks; /* at most WEBHOOKS_MAX */
    size_t webhook_count;
    struct {
        const char *root; /* of sysfs */
        struct config_texts metered;
        bool heat, battery, memory; /* whether they are acted upon */
    } device;
    struct {
        const char *preset; /* NULL = none */
        struct config_weights weights;
        struct worth worth;
    } policy;
    struct routing_rules rule_set; /* rules, compiled */
    const struct yaml_node *tree;  /* what file and environment say (yaml_tree.h); NULL = nothing */
};

/* Looks up an environment variable; tests pass their own. NULL or "" = not set. */
typedef const char *config_env_fn(void *ctx, const char *name);

/* path NULL: TANDEM_CONFIG, or the defaults. **returns new** (config_free). TD_INVALID with
 * "file:line: what" for the first mistake and the number of others, TD_NOT_FOUND when the file is
 * missing. */
TD_MUST_CHECK enum td_status config_load(const char *path, struct config **out,
                                         struct td_error *err);
/* All that config_load finds wrong, for those who print it. **returns new** (free); NULL when there
 * is nothing, or no memory. */
struct config_mistakes *config_find_mistakes(const char *path);
struct config_mistakes *config_find_mistakes_in(const char *label, struct td_str text);
/* The same from memory; label stands for the file's name in messages. env NULL: getenv, and
 * variables that stand for keys (overrides.h). */
TD_MUST_CHECK enum td_status config_parse(const char *label, struct td_str text, config_env_fn *env,
                                          void *env_ctx, struct config **out, struct td_error *err);
struct config *config_hold(struct config *config); /* one more user, who calls config_free, too */
void config_free(struct config *config);           /* accepts NULL; the last user's frees it */

/* Its kind of server; NULL for the engine in this process. */
const struct tier_server *config_tier_server(const struct config_tier *tier);
/* What the configuration says of a server; key, record and health are the caller's to add. It
 * **borrows** the configuration's strings. */
struct tier_server_options config_tier_options(const struct config_tier *tier);
/* A local tier without a model of its own. */
bool config_tier_runs_engine_model(const struct config_tier *tier);
/* The tier of that name; NULL when there is none. */
const struct config_tier *config_tier_find(const struct config *config, const char *name);
/* The end of a message about an unknown tier. */
struct error_suggestion config_suggest_tier(const struct config *config, const char *name);
/* Of a server: of CAPABILITY_MEDIA, what it does not take. */
unsigned config_modalities_lack(uint32_t modalities);
bool config_route_lists(const struct config_route *route, const char *tier);

/* weights with `set` when one of them is given; the others are then 0. */
struct td_weights config_weights_read(const struct config_weights *weights);

#endif
