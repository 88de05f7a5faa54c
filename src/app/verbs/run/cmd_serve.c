/* tandem serve: workers on the same sockets, signals on the main thread.
 *
 *   SIGHUP            read the configuration again; a broken one changes nothing
 *   SIGTERM, SIGINT   stop accepting, finish what runs (shutdown_timeout_ms), commit the ledger
 *   the same again    stop at once */
#define HELP_OF 71
#include "api/admin/ledger_desk.h"
#include "api/deferral/deferral.h"
#include "api/files/batch_runner.h"
#include "api/history/history.h"
#include "api/http/auth.h"
#include "api/http/login_limit.h"
#include "api/http/metrics.h"
#include "api/inference/call_cache.h"
#include "api/telemetry/access_log.h"
#include "api/telemetry/live.h"
#include "api/telemetry/otlp.h"
#include "app/cli/command.h"
#include "app/cli/config_fail.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config_listen.h"
#include "app/config/packed_help.h"
#include "app/desk/desk.h"
#include "app/setup/files/file_setup.h"
#include "app/setup/files/key_file.h"
#include "app/setup/files/state_file.h"
#include "app/setup/policy/consistency_setup.h"
#include "app/setup/process/client_keys.h"
#include "app/setup/process/device_keeper.h"
#include "app/setup/process/key_keeper.h"
#include "app/setup/process/listeners.h"
#include "app/setup/process/memory_rest.h"
#include "app/setup/process/otlp_setup.h"
#include "app/setup/process/retention.h"
#include "app/setup/process/review_events.h"
#include "app/setup/process/runtime.h"
#include "app/setup/process/service_manager.h"
#include "app/setup/process/watch_keeper.h"
#include "app/setup/process/webhook_setup.h"
#include "app/setup/process/worker.h"
#include "app/store/pull_desk.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/machine/memory_free.h"
#include "base/thread/background.h"
#include "base/time/log.h"
#include "ledger/database/db_sqlite.h"
#include "ledger/store/deferred_store.h"
#include "ledger/store/file_store.h"
#include "ledger/store/key_store.h"
#include "net/client/webhook.h"
#include "net/server/body_budget.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WORKERS_DEFAULT_MAX 2
#define WORKERS_MAX 256
#define BACKGROUND_THREADS 2
#define DESCRIPTORS_KEPT 64 /* files, loops and listeners */
/* Larger blocks get pages of their own: while the server starts, and while it serves, when the
 * bodies of requests come and go. */
#define TABLE_BYTES (32 * 1024)
#define BLOCK_BYTES (512 * 1024)

struct serve {
    struct runtime *runtime;
    struct memory_rest rest;
    struct api_host host;
    struct metrics *metrics;
    struct access_log *access_log;   /* NULL = requests are not logged */
    struct otlp *otlp;               /* NULL = no collector is told */
    struct webhooks *webhooks;       /* NULL = nobody is told of events */
    struct background *background;   /* outlives the workers */
    struct ledger_desk *ledger_desk; /* likewise; NULL without a ledger */
    struct pull_desk *pull_desk;
    struct history *history;  /* NULL = nothing is kept */
    struct file_store *files; /* NULL = none are kept */
    struct batch_runner *batches;
    struct deferred_store *deferred; /* NULL = no question waits for a connection */
    struct deferral *deferral;
    struct call_cache *call_cache;
    struct auth *auth;
    struct live *live;
    struct desk *desk;
    struct login_limit *logins;   /* NULL = the console is off */
    uint8_t key[KEYED_KEY_BYTES]; /* the installation's */
    struct key_keeper *keys;
    struct retention *retention;
    char keys_path[STATE_PATH_BYTES]; /* "" = there is no store */
    struct body_budget budget;        /* of all workers */
    struct listeners *listeners;
    struct worker *workers[WORKERS_MAX];
    uint32_t worker_count;
    struct service_manager manager;
    sigset_t signals;
    atomic_bool drained; /* every worker's loop has ended */
};

static void fill_host(struct serve *serve)
{
    const struct config *config = runtime_config(serve->runtime);
    serve->host = (struct api_host){
        .acquire = runtime_acquire,
        .release = runtime_release,
        .ready = runtime_ready,
        .forget = runtime_forget,
        .forget_stored = runtime_forget_stored,
        .ctx = serve->runtime,
        .desk = desk_ask,
        .desk_ctx = serve->desk,
        .sandbox = runtime_sandbox(serve->runtime),
        .background = serve->background,
        .history = serve->history,
        .files = serve->files,
        .file_bytes_max = config->files.file_mb_max * 1000000ull,
        .batches = serve->batches,
        .deferral = serve->deferral,
        .answers = runtime_answers(serve->runtime),
        .call_cache = serve->call_cache,
        .ledger = runtime_ledger(serve->runtime),
        .ledger_path = runtime_ledger(serve->runtime) ? config->ledger.path : NULL,
        .egress_path = strcmp(config->ledger.egress, "none") ? config->ledger.egress : NULL,
        .ledger_desk = serve->ledger_desk,
        .models = pull_desk_calls(serve->pull_desk),
        .metrics = serve->metrics,
        .otlp = serve->otlp,
        .live = serve->live,
        .webhooks = serve->webhooks,
        .access_log = serve->access_log,
        .auth = serve->auth,
        .logins = serve->logins,
        .key = serve->key,
        .meters = runtime_meters(serve->runtime),
        .keys_path = *serve->keys_path ? serve->keys_path : NULL,
        .cors_origins = (const char *const *)config->server.cors_origins.items,
        .local_origins = config->server.local_origins,
        .allowed_hosts = (const char *const *)config->server.allowed_hosts.items,
        .listen_hosts = (const char *const *)config->server.hosts,
        .body_bytes_max = config->server.body_bytes_max,
        .answer_bytes_max = config->server.answer_bytes_max,
        .pad_stream_bytes = config->server.pad_stream_bytes,
        /* Parsed messages: pointers and copies of joined parts, never more than a few times the
         * body. */
        .arena_bytes_max = (size_t)config->server.body_bytes_max * 4 + 65536,
        .start_wall_ms = clock_wall_ms(NULL),
        .zero_retention = config->privacy.zero_retention,
    };
}

/* A request needs a few times the bytes of its body until it is answered. So a 64th of the memory
 * that is free now leaves most of it to the models, and is still room for thousands of chats. */
static size_t choose_budget(const struct config *config)
{
    const uint64_t least = 32u << 20, most = 128u << 20;
    struct memory_free left;
    if (config->server.buffered_bytes_max)
        return config->server.buffered_bytes_max;
    memory_free_read("", &left);
    uint64_t share = (left.ram_bytes < left.space_bytes ? left.ram_bytes : left.space_bytes) / 64;
    return (size_t)(share < least ? least : share > most ? most : share);
}

/* Connections that the limit of descriptors allows: a request may need a second one for its tier, a
 * stream of HTTP/2 has two ends, and ledger, logs and models need some. Otherwise whoever opens
 * enough connections leaves none for those. The soft limit is raised as far as it may be. */
static uint32_t fit_connections(const struct config *config, uint32_t worker_count)
{
    struct rlimit limit;
    uint32_t wanted = config->server.connections_max;
    bool streams = config->server.http2 && config->server.tls.certificate_file;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    rlim_t left = limit.rlim_cur > DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT : 2;
    rlim_t fit = left / (streams ? 3 : 2) / worker_count;
    if (wanted > 0 && wanted <= fit)
        return wanted;
    if (wanted > 0)
        log_event(LOG_LEVEL_WARN, "connections_limited", "wanted=%u fit=%u descriptors=%llu",
                  wanted, (unsigned)fit, (unsigned long long)limit.rlim_cur);
    return fit < 1 ? 1 : fit > UINT32_MAX ? 0 : (uint32_t)fit;
}

static uint32_t count_workers(const struct config *config)
{
    if (config->server.workers)
        return config->server.workers;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > WORKERS_DEFAULT_MAX ? WORKERS_DEFAULT_MAX : (uint32_t)cores;
}

/* All listen before one serves: the ready line is true for every worker. */
static enum td_status start_workers(struct serve *serve, struct td_error *err)
{
    const struct config *config = runtime_config(serve->runtime);
    uint32_t wanted = count_workers(config);
    struct server_socket sockets[LISTENERS_MAX];
    struct worker_options options = {
        .host = &serve->host,
        .sockets = sockets,
        .server = {.body_bytes_max = config->server.body_bytes_max,
                   .header_bytes_max = config->server.header_bytes_max,
                   .budget = &serve->budget,
                   .connection_max = fit_connections(config, wanted),
                   .header_timeout_ms = config->server.header_timeout_ms,
                   .idle_timeout_ms = config->server.idle_timeout_ms,
                   .http2 = config->server.http2,
                   .ignore_client_abort = config->server.ignore_client_abort},
    };
    serve->budget.bytes_max = choose_budget(config);
    enum td_status status = listeners_open(config, wanted, &serve->listeners, err);
    for (uint32_t i = 0; i < wanted && status == TD_OK; i++) {
        options.index = i;
        options.large_index = wanted + i;
        options.batches = i == 0 ? serve->batches : NULL;
        options.deferral = i == 0 ? serve->deferral : NULL;
        options.prober = i == 0 ? runtime_prober(serve->runtime) : NULL;
        status = listeners_take(serve->listeners, sockets, &options.socket_count, err);
        if (status == TD_OK)
            status = worker_new(&options, &serve->workers[i], err);
        if (status == TD_OK)
            serve->worker_count++;
    }
    for (uint32_t i = 0; i < serve->worker_count && status == TD_OK; i++)
        status = worker_start(serve->workers[i], err);
    return status;
}

static bool is_without_key(const struct config_tier *tier)
{
    const char *key = tier->api_key_env ? getenv(tier->api_key_env) : NULL;
    return tier->api_key_env && (!key || !*key);
}

static void print_json(const char *url, uint16_t port)
{
    printf("{\"event\":\"ready\",\"url\":\"%s\",\"port\":%u,\"pid\":%ld}\n", url, port,
           (long)getpid());
}

/* How to ask by hand: of a socket of a path, curl wants the path beside the address. */
static void print_example(const char *url, bool needs_key)
{
    bool path = strncmp(url, "unix:", 5) == 0;
    printf("\n\n  curl -s %s%s%s/v1/chat/completions -H 'content-type: application/json' \\\n"
           "%s"
           "    -d '{\"model\":\"auto\",\"messages\":[{\"role\":\"user\","
           "\"content\":\"what can you do?\"}]}'\n\n",
           path ? "--unix-socket " : "", path ? url + 5 : "", path ? " http://localhost" : url,
           needs_key ? "    -H 'authorization: Bearer KEY' \\\n" : "");
}

static void print_ready(const struct serve *serve, const char *url)
{
    const struct config *config = runtime_config(serve->runtime);
    const struct td_model *model = runtime_model(serve->runtime);
    bool path = strncmp(url, "unix:", 5) == 0;
    printf("tandem %s is ready: %s%s\n", TANDEM_VERSION, url, path ? "" : "/v1");
    printf("local model: %s; tiers:", model ? td_model_get_info(model)->name : "none");
    for (size_t i = 0; i < config->tier_count; i++)
        printf("%s %s%s", i ? "," : "", config->tiers[i].name,
               is_without_key(&config->tiers[i]) ? " (no key)" : "");
    print_example(url, !auth_is_open(serve->auth));
}

/* The line that says it is ready, for people or for programs. */
static void tell_ready(const struct serve *serve, bool json)
{
    char url[300];
    uint16_t port;
    listeners_url(serve->listeners, url, sizeof url, &port);
    runtime_tell_address(serve->runtime, url);
    if (json)
        print_json(url, port);
    else
        print_ready(serve, url);
    fflush(stdout);
    service_manager_tell_ready(&serve->manager);
}

static void tell_of_reviews(struct serve *serve)
{
    struct exchange_services *services = runtime_acquire(serve->runtime);
    review_events_tell(services, serve->webhooks);
    runtime_release(serve->runtime, services);
}

/* Keys also where the configuration is broken, so that a key taken out of the file is refused from
 * then on, and after it, because it says whose they are. */
static void reload(struct serve *serve)
{
    struct td_error err = {0}, why = {0};
    uint64_t ticket = desk_reload_begins(serve->desk);
    service_manager_tell_reloading(&serve->manager);
    access_log_reopen(serve->access_log);
    enum td_status status = runtime_reload(serve->runtime, &why);
    if (status == TD_OK)
        tell_of_reviews(serve);
    if (client_keys_read(serve->runtime, &serve->auth, &err) != TD_OK)
        log_event(LOG_LEVEL_ERROR, "keys_rejected", "kept=old reason=\"%s\"", err.message);
    listeners_reload(serve->listeners);
    /* Last: whoever reads it in the log may count on all of it. */
    if (status == TD_OK)
        runtime_tell_reloaded(serve->runtime);
    else
        log_event(LOG_LEVEL_ERROR, "config_rejected", "kept=old reason=\"%s\"", why.message);
    desk_reload_ends(serve->desk, ticket, status, &why);
    service_manager_tell_ready(&serve->manager);
}

static void drain_all(struct serve *serve, uint32_t timeout_ms)
{
    for (uint32_t i = 0; i < serve->worker_count; i++)
        worker_drain(serve->workers[i], timeout_ms);
}

/* A second signal during the drain cuts it short. It runs beside pthread_join, so that no
 * exchange's end goes unnoticed: the thread ends with the process. */
static void *impatience(void *ctx)
{
    struct serve *serve = ctx;
    int number = SIGHUP;
    while (number == SIGHUP)
        if (sigwait(&serve->signals, &number) != 0)
            return NULL;
    if (atomic_load(&serve->drained))
        return NULL;
    log_event(LOG_LEVEL_WARN, "stop_now", "signal=%d", number);
    drain_all(serve, 0);
    return NULL;
}

static bool is_alive(void *ctx)
{
    struct serve *serve = ctx;
    bool alive = true;
    for (uint32_t i = 0; i < serve->worker_count; i++)
        alive = worker_is_alive(serve->workers[i]) && alive;
    return alive;
}

/* The next signal; until it comes this thread does what time asks for. */
static int next_signal(struct serve *serve)
{
    for (;;) {
        uint64_t wait_ms = runtime_tend(serve->runtime);
        uint64_t kept_ms = serve->history ? history_sweep(serve->history) : wait_ms;
        wait_ms = kept_ms < wait_ms ? kept_ms : wait_ms;
        uint64_t rest_ms = memory_rest_look(&serve->rest);
        wait_ms = rest_ms < wait_ms ? rest_ms : wait_ms;
        listeners_tend(serve->listeners);
        uint64_t look_ms = listeners_wait_ms(serve->listeners);
        wait_ms = look_ms < wait_ms ? look_ms : wait_ms;
        uint64_t sign_ms = service_manager_tend(&serve->manager, is_alive, serve);
        wait_ms = sign_ms < wait_ms ? sign_ms : wait_ms;
        const struct timespec wait = {.tv_sec = (time_t)(wait_ms / 1000),
                                      .tv_nsec = (long)(wait_ms % 1000) * 1000000};
        int number = sigtimedwait(&serve->signals, NULL, &wait);
        if (number > 0 || (errno != EAGAIN && errno != EINTR))
            return number;
    }
}

static void wait_for_end(struct serve *serve)
{
    int number;
    while ((number = next_signal(serve)) == SIGHUP)
        reload(serve);
    uint32_t timeout = runtime_config(serve->runtime)->server.shutdown_timeout_ms;
    service_manager_tell_stopping(&serve->manager);
    log_event(LOG_LEVEL_INFO, "stopping", "signal=%d timeout_ms=%u", number, timeout);
    drain_all(serve, timeout);
}

static void stop_workers(struct serve *serve)
{
    pthread_t thread;
    bool watching = pthread_create(&thread, NULL, impatience, serve) == 0;
    for (uint32_t i = 0; i < serve->worker_count; i++)
        worker_wait(serve->workers[i]);
    if (watching) { /* not cancelled, which might be inside of a lock: woken by its own signal */
        atomic_store(&serve->drained, true);
        pthread_kill(thread, SIGTERM);
        pthread_join(thread, NULL);
    }
    for (uint32_t i = 0; i < serve->worker_count; i++) /* now that nobody drains them any more */
        worker_free(serve->workers[i]);
    serve->worker_count = 0;
}

static void block_signals(struct serve *serve)
{
    sigemptyset(&serve->signals);
    sigaddset(&serve->signals, SIGHUP);
    sigaddset(&serve->signals, SIGTERM);
    sigaddset(&serve->signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &serve->signals, NULL); /* inherited by every thread made later */
    signal(SIGPIPE, SIG_IGN);
}

static enum td_status open_history(const struct config *config,
                                   const uint8_t key[static KEYED_KEY_BYTES], struct history **out,
                                   struct td_error *err)
{
    const struct history_limits limits = {
        .keep_ms = (uint64_t)config->responses.keep_s * 1000,
        .bytes_max = config->responses.bytes_max,
        .caller_bytes_max = config->responses.caller_bytes_max,
        .caller_count_max = config->responses.caller_count_max,
    };
    struct history_share share = {.database = config->state};
    *out = history_new(&limits, NULL);
    if (!*out)
        return error_set(err, TD_NO_MEMORY, "no memory for responses");
    if (!config->state)
        return TD_OK;
    memcpy(share.key, key, sizeof share.key);
    enum td_status status = history_share(*out, &share, err);
    crypto_wipe(&share, sizeof share);
    return status;
}

static enum td_status open_files(struct serve *serve, struct td_error *err)
{
    const struct config *config = runtime_config(serve->runtime);
    if (!file_setup_keeps(config))
        return TD_OK;
    enum td_status status = file_setup_open(config, serve->key, &serve->files, err);
    if (status != TD_OK)
        return status;
    const struct batch_runner_options options = {.store = serve->files,
                                                 .background = serve->background,
                                                 .lines_max = config->files.batch_lines,
                                                 .line_bytes_max = config->server.body_bytes_max};
    serve->batches = batch_runner_new(&options);
    return serve->batches ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for batches");
}

static enum td_status open_deferral(struct serve *serve, struct td_error *err)
{
    const struct config *config = runtime_config(serve->runtime);
    if (!deferral_setup_keeps(config))
        return TD_OK;
    enum td_status status = deferral_setup_open(config, serve->key, &serve->deferred, err);
    if (status != TD_OK)
        return status;
    const struct deferral_options options = {
        .store = serve->deferred,
        .otherwise = config->deferral.otherwise ? DEFER_ALLOW : DEFER_NEVER,
        .at_once = config->deferral.at_once,
        .per_minute = config->deferral.per_minute,
        .body_bytes_max = 2 * (size_t)config->server.body_bytes_max,
    };
    serve->deferral = deferral_new(&options);
    return serve->deferral ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a queue");
}

/* The configuration's, and those of the store. */
static enum td_status open_keys(struct serve *serve, struct td_error *err)
{
    const struct config *config = runtime_config(serve->runtime);
    enum td_status status = client_keys_read(serve->runtime, &serve->auth, err);
    if (status == TD_OK && config->state_dir)
        status = key_file_name(config, serve->keys_path, sizeof serve->keys_path, err);
    return status == TD_OK ? key_keeper_start(serve->runtime, serve->auth, &serve->keys, err)
                           : status;
}

static enum td_status serve_run(struct serve *serve, const struct runtime_options *options,
                                bool json, struct td_error *err)
{
    enum td_status status = runtime_open(options, &serve->runtime, err);
    if (status == TD_OK)
        status = open_keys(serve, err);
    if (status == TD_OK)
        status = installation_key(runtime_config(serve->runtime), serve->key, err);
    if (status != TD_OK)
        return status;
    serve->metrics = metrics_new(2 * count_workers(runtime_config(serve->runtime)));
    /* Schemas, one a thread, so that a small one does not wait long for a large one. */
    serve->background =
        background_new(BACKGROUND_THREADS, runtime_config(serve->runtime)->engine.queue);
    struct ledger *ledger = runtime_ledger(serve->runtime);
    if (ledger) {
        const struct config *config = runtime_config(serve->runtime);
        bool egress = strcmp(config->ledger.egress, "none") != 0;
        serve->ledger_desk =
            ledger_desk_new(config->ledger.path, ledger, egress ? config->ledger.egress : NULL);
    }
    serve->call_cache = call_cache_new();
    serve->live = live_new();
    serve->pull_desk = pull_desk_new(options->config_path);
    const struct desk_options desk = {serve->runtime, options->config_path, options->model};
    serve->desk = desk_new(&desk);
    bool console = runtime_config(serve->runtime)->server.console;
    serve->logins = console ? login_limit_new() : NULL;
    if (!serve->metrics || (console && !serve->logins) || !serve->background ||
        !serve->call_cache || !serve->live || !serve->pull_desk || !serve->desk ||
        !ledger != !serve->ledger_desk)
        return error_set(err, TD_NO_MEMORY, "no memory for the metrics and threads of a server");
    if (response_setup_keeps(runtime_config(serve->runtime)))
        status = open_history(runtime_config(serve->runtime), serve->key, &serve->history, err);
    if (status == TD_OK)
        status = open_files(serve, err);
    if (status == TD_OK)
        status = open_deferral(serve, err);
    if (status == TD_OK)
        status = otlp_setup_open(runtime_config(serve->runtime), &serve->otlp, err);
    if (status == TD_OK)
        status = webhook_setup_open(runtime_config(serve->runtime), &serve->webhooks, err);
    if (status == TD_OK)
        tell_of_reviews(serve);
    const char *access = runtime_config(serve->runtime)->log.access;
    if (status == TD_OK && strcmp(access, "off") != 0)
        status = access_log_open(access, &serve->access_log, err);
    if (status != TD_OK)
        return status;
    fill_host(serve);
    struct watch_keeper *keeper = NULL;
    struct device_keeper *device = NULL;
    status = watch_keeper_start(serve->runtime, &keeper, err);
    if (status == TD_OK)
        status = device_keeper_start(serve->runtime, &device, err);
    if (status == TD_OK)
        status = retention_start(runtime_config(serve->runtime), &serve->retention, err);
    if (status == TD_OK)
        status = start_workers(serve, err);
    if (status == TD_OK) {
        mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
        tell_ready(serve, json);
        memory_rest_begin(&serve->rest);
        wait_for_end(serve);
    } else {
        drain_all(serve, 0);
    }
    stop_workers(serve);
    listeners_close(serve->listeners);
    device_keeper_stop(device);
    watch_keeper_stop(keeper);
    return status;
}

static bool take_listen(void *ctx, const char *text)
{
    *(const char **)ctx = text;
    return config_listen_is_list(text);
}

static int cmd_serve(int argc, char **argv)
{
    struct runtime_options values = {.serves = true, .arguments = argv};
    struct option_each listen_option = {take_listen, &values.listen, "HOST:PORT or unix:/PATH"};
    bool json = false;
    uint32_t port = 0;
    char address[32];
    const struct option options[] = {
        OPTION_ROW_CONFIG(values.config_path),
        {"listen", 'l', OPTION_EACH, &listen_option, "HOST:PORT",
         HELP_TEXT(
             "address to listen on, or unix:/PATH, or several with commas; default 127.0.0.1:8080"),
         0, 0},
        {"port", 'p', OPTION_UINT, &port, "N", HELP_TEXT("the same as --listen 127.0.0.1:N"), 1,
         65535},
        OPTION_ROW_MODEL(values.model),
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        {"json", 0, OPTION_FLAG, &json, NULL,
         HELP_TEXT("print the line that says it is ready as JSON"), 0, 0},
    };
    const struct option_spec spec = {
        .verb = "serve",
        .summary = HELP_TEXT(
            "Serves the OpenAI-compatible endpoint until SIGTERM or Ctrl-C. SIGHUP makes "
            "it read the configuration again.\n"
            "Without a configuration it serves the embedded model on 127.0.0.1:8080, and "
            "uses the clouds of OpenAI and Anthropic when OPENAI_API_KEY or ANTHROPIC_API_KEY "
            "is set."),
        .example = HELP_TEXT("  tandem serve --config examples/edge-first.yaml"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if (port && values.listen)
        return options_misuse("serve", "--port and --listen contradict each other");
    if (port) {
        snprintf(address, sizeof address, "127.0.0.1:%u", port);
        values.listen = address;
    }

    /* glibc keeps an arena a thread; two hold what this program needs and keep the RSS small. */
    mallopt(M_ARENA_MAX, 2);
    /* Otherwise glibc raises these with the largest body that it has freed, and keeps as much. What
     * the start makes are tables that stay, of which little is used at first: each gets pages of
     * its own, and the kernel gives those that are used. */
    mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
    db_sqlite_take_memory_late();
    struct serve *serve = calloc(1, sizeof *serve);
    struct td_error err = {0};
    if (!serve) {
        error_set(&err, TD_NO_MEMORY, "no memory to start");
        return command_fail("serve", &err);
    }
    block_signals(serve);
    serve->manager = service_manager_find();
    enum td_status status = serve_run(serve, &values, json, &err);
    otlp_free(serve->otlp);
    webhooks_free(serve->webhooks);
    access_log_free(serve->access_log);
    retention_stop(serve->retention);
    key_keeper_stop(serve->keys);
    background_free(serve->background);
    desk_free(serve->desk);
    ledger_desk_free(serve->ledger_desk);
    pull_desk_free(serve->pull_desk);
    batch_runner_free(serve->batches);
    file_store_close(serve->files);
    deferral_free(serve->deferral);
    deferred_store_close(serve->deferred);
    call_cache_free(serve->call_cache);
    history_free(serve->history);
    metrics_free(serve->metrics);
    login_limit_free(serve->logins);
    live_free(serve->live);
    auth_free(serve->auth);
    runtime_close(serve->runtime);
    crypto_wipe(serve->key, sizeof serve->key);
    service_manager_close(&serve->manager);
    free(serve);
    return status == TD_OK ? 0 : config_fail("serve", values.config_path, &err);
}

const struct verb verb_serve = {"serve", cmd_serve,
                                HELP_TEXT("serve an OpenAI-compatible endpoint")};
