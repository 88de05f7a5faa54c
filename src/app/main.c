/* tandem: finds the verb in one table and runs it. The groups are those of `tandem help`, and
 * each is a folder of app/verbs/. cli/verb.h says what a new verb needs. */
#define HELP_OF 10
#include "app/cli/command.h"
#include "app/cli/config_help.h"
#include "app/cli/config_schema.h"
#include "app/cli/help.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"
#include "cluster/postgres.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int run_help(int argc, char **argv);

static const struct verb verb_help = {
    "help", run_help,
    HELP_TEXT("explain a verb; 'help config' lists the keys of the configuration")};

extern const struct verb verb_ask, verb_bench, verb_calibrate, verb_chat, verb_classify,
    verb_config, verb_confined, verb_convert, verb_deferred, verb_detokenize, verb_doctor,
    verb_drill, verb_egress, verb_embed, verb_explain, verb_forget, verb_generate, verb_imatrix,
    verb_init, verb_keys, verb_ledger, verb_logits, verb_lora, verb_models, verb_perplexity,
    verb_policy, verb_probe, verb_quant_eval, verb_quantize, verb_redact, verb_replay, verb_report,
    verb_review, verb_router, verb_run_model, verb_scan, verb_score, verb_serve, verb_tco,
    verb_template, verb_tokenize, verb_version, verb_ps, verb_stop, verb_models_pull,
    verb_models_list, verb_models_ls, verb_models_rm, verb_models_search;

/* A list that NULL ends. */
#define VERBS(...)               \
    (const struct verb *const[]) \
    {                            \
        __VA_ARGS__, NULL        \
    }

static const struct group {
    const char *title; /* NULL: not shown */
    const struct verb *const *verbs;
} groups[] = {
    {"Run",
     VERBS(&verb_run_model, &verb_chat, &verb_ask, &verb_init, &verb_serve, &verb_ps, &verb_stop,
           &verb_config, &verb_doctor, &verb_drill, &verb_deferred, &verb_help, &verb_version)},
    {"Tenants", VERBS(&verb_keys)},
    {"Review", VERBS(&verb_review)},
    {"Inspect", VERBS(&verb_explain, &verb_report, &verb_egress)},
    {"Ledger", VERBS(&verb_ledger)},
    {"Privacy", VERBS(&verb_scan, &verb_redact, &verb_forget)},
    {"Models", VERBS(&verb_models, &verb_calibrate, &verb_generate, &verb_embed, &verb_classify,
                     &verb_score, &verb_tokenize, &verb_detokenize, &verb_template, &verb_logits,
                     &verb_perplexity, &verb_probe, &verb_bench)},
    {"Making models",
     VERBS(&verb_convert, &verb_imatrix, &verb_quantize, &verb_quant_eval, &verb_lora)},
    {"Evidence", VERBS(&verb_policy, &verb_router, &verb_replay, &verb_tco)},
    /* As people know them from other programs; the first ones are in 'tandem models'. */
    {NULL, VERBS(&verb_models_pull, &verb_models_list, &verb_models_ls, &verb_models_rm,
                 &verb_models_search, &verb_confined)},
};
#define GROUP_COUNT (sizeof groups / sizeof *groups)

static const struct verb *find(const char *name)
{
    const struct verb *found = NULL;
    for (size_t i = 0; i < GROUP_COUNT && !found; i++)
        found = verb_find(groups[i].verbs, name);
    return found;
}

static int refuse_unknown(const char *name)
{
    const struct verb *all[VERBS_MAX + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        for (size_t j = 0; groups[i].title && groups[i].verbs[j] && count < VERBS_MAX; j++)
            all[count++] = groups[i].verbs[j];
    return verb_refuse_unknown(NULL, all, name);
}

static void print_overview(FILE *out)
{
    fprintf(out, "tandem " TANDEM_VERSION
                 ": one endpoint for a local model and larger models elsewhere\n\n"
                 "Usage: tandem VERB [options]\n");
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        if (groups[i].title)
            fprintf(out, "\n%s\n", groups[i].title);
        for (size_t j = 0; groups[i].title && groups[i].verbs[j]; j++)
            help_row(out, groups[i].verbs[j]->name, HELP_VERB_COLUMN, groups[i].verbs[j]->help);
    }
}

static int print_config_help(const char *section)
{
    struct td_error err = {0};
    if (config_help_print(section, stdout, &err) != TD_OK)
        return command_fail("help config", &err);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int run_help(int argc, char **argv)
{
    if (argc < 2 || verb_asks_for_help(argv[1])) {
        print_overview(stdout);
        return 0;
    }
    if (strcmp(argv[1], "config") == 0 && argc > 2 && strcmp(argv[2], "--schema") == 0)
        return command_print_json(config_schema_new()) ? 0 : 1;
    if (strcmp(argv[1], "config") == 0)
        return print_config_help(argc > 2 ? argv[2] : NULL);
    const struct verb *verb = find(argv[1]);
    if (!verb)
        return refuse_unknown(argv[1]);
    /* `tandem help policy check` is `tandem policy check --help`. */
    char help[] = "--help";
    char *arguments[] = {argv[1], argc > 2 ? argv[2] : help, argc > 2 ? help : NULL, NULL};
    return verb->run(argc > 2 ? 3 : 2, arguments);
}

/* Keys and prompts lie in memory: no core file has them, and no other process of the same user
 * reads /proc/PID/mem or environ. A sanitizer's search for leaks must read them. */
static void keep_memory_private(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit none = {0, 0};
    (void)prctl(PR_SET_DUMPABLE, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
#endif
}

/* libcurl's build brings GnuTLS for protocols that are never used here. Its documented switch
 * (GNUTLS_SKIP_GLOBAL_INIT in gnutls.h) keeps it from setting itself up in each process, which took
 * nearly 1 MiB. */
__attribute__((visibility("default"), used)) int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
    return 1;
}

/* A file that is opened must not become what results are printed to. Writing there fails. */
static void fill_standard_files(void)
{
    while (true) {
        int fd = open("/dev/null", O_RDONLY);
        if (fd <= STDERR_FILENO && fd >= 0)
            continue;
        if (fd >= 0)
            close(fd);
        return;
    }
}

/* What was printed and did not arrive makes a failure, or a full disk would look like success. A
 * server's readiness is nobody's result. */
static int finish(const struct verb *verb, int code)
{
    errno = 0;
    bool lost = (fflush(stdout) != 0 || ferror(stdout)) && verb != &verb_serve;
    if (lost && errno != EPIPE)
        fprintf(stderr, "tandem %s: cannot write to standard output%s%s\n", verb->name,
                errno ? ": " : "", errno ? strerror(errno) : "");
    return lost && code == 0 ? 1 : code;
}

int main(int argc, char **argv)
{
    fill_standard_files();
    json_watch_memory();
    keep_memory_private();
    postgres_announce();
    if (argc < 2) {
        print_overview(stderr);
        return 2;
    }
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a failed write, as on a full disk */
    const char *name = argv[1];
    if (verb_asks_for_help(name))
        name = verb_help.name;
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct verb *verb = find(name);
    return verb ? finish(verb, verb->run(argc - 1, argv + 1)) : refuse_unknown(name);
}
