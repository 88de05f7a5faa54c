/* What the process lends to the APIs of its event loops. */
#ifndef API_API_HOST_H
#define API_API_HOST_H

#include "api/http/api_desk.h"
#include "base/text/names.h"
#include "exchange/machine/exchange.h"
#include "ledger/record/forget.h"

struct access_log;
struct answer_cache;
struct auth;
struct background;
struct batch_runner;
struct deferral;
struct file_store;
struct history;
struct ledger_desk;
struct live;
struct login_limit;
struct meters;
struct metrics;
struct otlp;
struct webhooks;
struct sandbox;
struct json;

/* Whose data is to be erased. */
struct api_forget {
    const char *user;
    const char *tenant,
        *caller; /* as td_request's; both NULL = of all tenants' users of that name */
};

/* What was erased of a user outside of the ledger. */
struct api_forgotten {
    size_t vaults;     /* of pseudonyms */
    uint64_t consents; /* that were given for the user */
    uint64_t similar;  /* questions and conversations whose start was remembered */
    uint64_t answers;  /* that were kept for the same request */
    bool failed;       /* a file could not be written; the log says which */
    bool caches;       /* computed prompts of all callers, and the confined worker */
};

/* What was erased of a user in what is stored. */
struct api_stored {
    struct ledger_forgotten ledger;
    uint64_t consents, similar, vaults, files, deferred, responses, tickets;
};

/* Models that can be had, and how they come here. Any thread. */
struct api_models {
    /* As `tandem models recommend --json` has it, with "default". Not on a loop: at first it
     * measures for half a second. **returns new** (json_free). */
    enum td_status (*list)(void *ctx, struct json **out, struct td_error *err);
    /* The default from the next start on; NULL = the model of the program. */
    enum td_status (*choose)(void *ctx, const char *name, struct td_error *err);
    /* Begins in the background; TD_BUSY: another one runs. */
    enum td_status (*pull)(void *ctx, const char *asked, struct td_error *err);
    void (*cancel)(void *ctx);
    struct json *(*state)(void *ctx); /* **returns new** (json_free) */
    void *ctx;
};

/* What the process lends. Immutable while apis exist, except what acquire returns. */
struct api_host {
    /* The current configuration snapshot; every acquire is paired with one release. Any thread. */
    struct exchange_services *(*acquire)(void *ctx);
    void (*release)(void *ctx, struct exchange_services *services);
    bool (*ready)(void *ctx, const char **why_not); /* /readyz */
    /* Erases what memory holds of a user; NULL = it holds nothing. Any thread. */
    void (*forget)(void *ctx, const struct api_forget *whom, struct api_forgotten *out);
    /* Erases it in the files of what this process has not open, because it is switched off now. In
     * a thread beside the loops. NULL = there are none. */
    enum td_status (*forget_stored)(void *ctx, const struct api_forget *whom,
                                    struct api_stored *out, struct td_error *err);
    void *ctx;
    api_desk_fn *desk; /* NULL = there is none */
    void *desk_ctx;

    struct sandbox *sandbox;         /* where private texts are embedded; NULL = here, too */
    struct background *background;   /* for what would hold up a loop */
    struct history *history;         /* NULL = no response is kept */
    struct file_store *files;        /* NULL = none are kept */
    uint64_t file_bytes_max;         /* of one file */
    struct batch_runner *batches;    /* NULL without files */
    struct deferral *deferral;       /* NULL = no question waits for a connection */
    struct answer_cache *answers;    /* NULL = none are kept (cache/answer_cache.h) */
    struct call_cache *call_cache;   /* NULL = grammars of calls are not kept */
    struct ledger *ledger;           /* or NULL */
    const char *ledger_path;         /* or NULL */
    const char *egress_path;         /* the record of what left; NULL = it is switched off */
    struct ledger_desk *ledger_desk; /* where it is read (admin/ledger_desk.h); or NULL */
    struct api_models models;
    struct metrics *metrics;
    struct access_log *access_log;    /* NULL = requests are not logged (telemetry/access_log.h) */
    struct otlp *otlp;                /* NULL = no collector is told (telemetry/otlp.h) */
    struct live *live;                /* who looks on (telemetry/live.h) */
    struct webhooks *webhooks;        /* NULL = nobody is told of events (net/client/webhook.h) */
    struct auth *auth;                /* NULL = no key needed */
    struct login_limit *logins;       /* of the console; NULL = it is off (console/handlers.h) */
    struct meters *meters;            /* of keys; NULL = nobody counts */
    const char *keys_path;            /* of the store of keys; NULL = there is none */
    const char *const *cors_origins;  /* "*" or "https://host"; NULL-terminated, may be NULL */
    bool local_origins;               /* also those of local programs (http/origin.h) */
    const char *const *allowed_hosts; /* names of this server; NULL-terminated, may be NULL */
    const char *const *listen_hosts;  /* as configured; NULL-terminated, may be NULL */
    const uint8_t *key;               /* of the installation [KEYED_KEY_BYTES]; NULL = none */
    size_t body_bytes_max;            /* of a request */
    size_t answer_bytes_max;          /* of a whole (not streamed) answer */
    size_t pad_stream_bytes;          /* a stream's events are multiples of it; 0 = as asked */
    size_t arena_bytes_max;           /* of one request's parsed form */
    uint64_t start_wall_ms;
    bool zero_retention; /* texts that clients add, such as comments, are not stored */
};

#endif
