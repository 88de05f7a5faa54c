/* What serve, chat and doctor share: configuration, model, scheduler, ledger, and the snapshot of
 * policy and tiers that exchanges run on.
 *
 * A snapshot is immutable and reference-counted. runtime_reload builds a new one and swaps the
 * pointer. Exchanges keep the one with which they began, and the last release frees it. Models that
 * are not open yet are opened in the background, and a second snapshot then has them. Server and
 * ledger belong to the process: a change of their keys is logged and waits for a restart. Any
 * thread may acquire and release; the main thread reloads and tends. */
#ifndef APP_RUNTIME_H
#define APP_RUNTIME_H

#include "app/config/config.h"
#include "exchange/machine/exchange.h"
#include "tandem/engine.h"

struct embedding_service;
struct answer_cache;
struct meters;
struct spending;
struct prober;
struct runtime;

struct runtime_options {
    const char *config_path; /* NULL = TANDEM_CONFIG or defaults */
    const char *model;       /* overrides the configuration; NULL = not */
    const char *listen;      /* the same */
    enum td_cpu cpu;         /* TD_CPU_AUTO = the configuration's */
    uint32_t threads;        /* 0 = the configuration's */
    uint32_t slots;          /* 0 = the configuration's */
    /* The confined worker: only local tiers, no ledgers and no detectors, because its requests
     * were scanned before. */
    bool confined;
    /* A server: only there do shadows run, ramps move users, and vaults outlive the process. */
    bool serves;
    /* Arguments of the verb, its name first: with privacy.zero_retention the process restarts
     * itself with them. */
    char *const *arguments;
};

/* **returns new** (runtime_close). */
TD_MUST_CHECK enum td_status runtime_open(const struct runtime_options *options,
                                          struct runtime **out, struct td_error *err);
/* Every acquired snapshot has been released before. Commits the ledger. */
void runtime_close(struct runtime *runtime);

/* The configuration of the start (server, ledger). **borrows** until runtime_close. */
const struct config *runtime_config(const struct runtime *runtime);
/* The first local tier's model, or NULL. **borrows** until the next runtime_tend or
 * runtime_reload. */
const struct td_model *runtime_model(const struct runtime *runtime);
struct embedding_service *runtime_embeddings(const struct runtime *runtime); /* or NULL; as above */
struct sandbox *runtime_sandbox(const struct runtime *runtime);              /* or NULL */
struct ledger *runtime_ledger(const struct runtime *runtime);                /* or NULL */
struct answer_cache *runtime_answers(const struct runtime *runtime);         /* or NULL */
struct prober *runtime_prober(const struct runtime *runtime);                /* or NULL */
struct meters *runtime_meters(const struct runtime *runtime);
struct spending *runtime_spending(const struct runtime *runtime);
struct consents *runtime_consents(const struct runtime *runtime);

/* ctx is the struct runtime; shaped for struct api_host. */
struct exchange_services *runtime_acquire(void *ctx);
void runtime_release(void *ctx, struct exchange_services *services);
bool runtime_ready(void *ctx, const char **why_not);
/* Of a server: looks whether its files can be written (app/setup/process/storage.h), and says at
 * which address it listens to others who want the state folder. */
void runtime_look_at_storage(struct runtime *runtime);
void runtime_tell_address(struct runtime *runtime, const char *url);
struct api_forget;
struct api_forgotten;
void runtime_forget(void *ctx, const struct api_forget *whom, struct api_forgotten *out);
struct api_stored;
TD_MUST_CHECK enum td_status runtime_forget_stored(void *ctx, const struct api_forget *whom,
                                                   struct api_stored *out, struct td_error *err);

/* Does what is due by time: vaults of pseudonyms expire, models that a reload asked for are used
 * once they are loaded. Returns in how many ms to call again; a late call does everything that is
 * due. */
uint64_t runtime_tend(struct runtime *runtime);

/* Reads the file again. On failure the old snapshot stays. */
TD_MUST_CHECK enum td_status runtime_reload(struct runtime *runtime, struct td_error *err);
/* For the log, once everything else follows the new configuration too. */
void runtime_tell_reloaded(const struct runtime *runtime);

#endif
