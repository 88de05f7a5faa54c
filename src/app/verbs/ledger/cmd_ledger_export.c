/* tandem ledger export: exchanges as JSON lines, as they are, or as one of the verbs that learn
 * reads them (evidence/ledger_lines.h). */
#define HELP_OF 36
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/evidence/ledger_lines.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/record/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES_MAX (64u << 20)

static const struct {
    const char *name;
    enum ledger_lines_kind kind;
} forms[] = {{"router", LEDGER_LINES_TEXTS},
             {"probe", LEDGER_LINES_PROMPTS},
             {"confidence", LEDGER_LINES_ANSWERS},
             {"traffic", LEDGER_LINES_TRAFFIC}};

struct exporting {
    const struct ledger_lines_options *options;
    FILE *out;
    struct buf line;
    uint64_t count, closed;
};

static bool is_of(const struct json *exchange, const char *name, const char *wanted)
{
    const char *is = json_cstr(json_get(exchange, name));
    return !wanted || strcmp(is ? is : LEDGER_LINES_TENANT_NONE, wanted) == 0;
}

static enum td_status write_exchange(void *ctx, const struct json *exchange, struct td_error *err)
{
    struct exporting *e = ctx;
    const char *tenant = e->options->tenant;
    if (tenant && strcmp(tenant, LEDGER_LINES_TENANT_ALL) == 0)
        tenant = NULL;
    if (!is_of(exchange, "tenant", tenant) || !is_of(exchange, "route", e->options->route))
        return TD_OK;
    buf_clear(&e->line);
    json_write(exchange, &e->line);
    buf_append_char(&e->line, '\n');
    if (e->line.failed || fwrite(e->line.data, 1, e->line.len, e->out) != e->line.len)
        return error_set(err, TD_IO, "cannot write: %s", strerror(errno));
    e->count++;
    e->closed += json_get(exchange, "texts_closed") != NULL;
    return TD_OK;
}

/* The file is private, also where it was there before, and is made anew. */
static FILE *open_output(const char *path, const char *ledger, struct td_error *err)
{
    struct stat own, ledgers;
    if (strcmp(path, "-") == 0)
        return stdout;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    bool there = fd >= 0 && fstat(fd, &own) == 0, plain = there && S_ISREG(own.st_mode);
    FILE *file = NULL;
    if (plain && stat(ledger, &ledgers) == 0 && ledgers.st_dev == own.st_dev &&
        ledgers.st_ino == own.st_ino)
        error_set(err, TD_INVALID, "%s is the ledger itself; name another file", path);
    else if (!there || (plain && (fchmod(fd, 0600) != 0 || ftruncate(fd, 0) != 0)) ||
             !(file = fdopen(fd, "wb")))
        error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    if (!file && fd >= 0)
        close(fd);
    return file;
}

static enum td_status export_exchanges(const struct ledger_lines_options *options,
                                       struct td_error *err)
{
    struct exporting e = {.options = options};
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    buf_init(&e.line, LINE_BYTES_MAX);
    enum td_status status = config_load(options->config, &config, err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, err);
    if (status == TD_OK && !(e.out = open_output(options->lines, config->ledger.path, err)))
        status = err->status;
    if (status == TD_OK)
        status = ledger_reader_each(reader, options->since.wall_ms, write_exchange, &e, err);
    bool ended = !e.out || (e.out == stdout ? fflush(stdout) : fclose(e.out)) == 0;
    if (status == TD_OK && !ended)
        status = error_set(err, TD_IO, "cannot write: %s", strerror(errno));
    if (status == TD_OK)
        fprintf(stderr, "ledger: %llu exchange%s\n", (unsigned long long)e.count, PLURAL(e.count));
    if (status == TD_OK && e.closed > 0)
        status = error_set(err, TD_DENIED,
                           "%llu exchanges are without their texts, which are encrypted under "
                           "another key than the one here (member texts_closed)",
                           (unsigned long long)e.closed);
    ledger_reader_close(reader);
    config_free(config);
    buf_deinit(&e.line);
    return status;
}

static enum td_status export_lines(const struct ledger_lines_options *options, struct td_error *err)
{
    struct ledger_lines lines;
    bool done;
    enum td_status status = ledger_lines_read(options, NULL, &lines, err);
    if (status == TD_OK)
        status = ledger_lines_tell(options, &lines, &done, err);
    ledger_lines_deinit(&lines);
    return status;
}

static int cmd_export(int argc, char **argv)
{
    struct ledger_lines_options o = {.on = true, .lines = "-"};
    const char *form = NULL;
    size_t count = 0, i = 0;
    since_option_init(&o.since, "all");
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &o.lines, "FILE",
         HELP_TEXT("file to write; default: standard output"), 0, 0},
        OPTION_ROW_SINCE(o.since, "all"),
        {"route", 0, OPTION_TEXT, &o.route, "NAME", HELP_TEXT("only exchanges of this route"), 0,
         0},
        {"tenant", 0, OPTION_TEXT, &o.tenant, "TENANT",
         HELP_TEXT("only exchanges of this tenant, as 'tandem explain' names it; none = those "
                   "without one, "
                   "all = of all"),
         0, 0},
        {"tier", 0, OPTION_TEXT, &o.tier, "NAME",
         HELP_TEXT("with probe and confidence: whose answers; default: the device's"), 0, 0},
        OPTION_ROW_CONFIG(o.config),
    };
    const struct option_spec spec = {
        .verb = "ledger export",
        .arguments = "[FORM]",
        .summary = HELP_TEXT(
            "Writes exchanges as JSON lines, oldest first: what 'tandem explain' shows of "
            "each, with attempts, stored texts, feedback, shadows and reactions. A FORM "
            "joins them to what is learnt from: 'router' for 'tandem router train', "
            "'probe' for 'tandem probe train', 'confidence' for 'tandem router "
            "confidence', 'traffic' for all prompts. These leave out texts that are "
            "contractual or restricted."),
        .example = HELP_TEXT("  tandem ledger export router -o lines.jsonl"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &form, &count);
    while (count && i < sizeof forms / sizeof *forms && strcmp(forms[i].name, form) != 0)
        i++;
    if (i == sizeof forms / sizeof *forms)
        return options_misuse("ledger export",
                              "'%s' is none of router, probe, confidence and traffic", form);
    struct td_error err = {0};
    o.kind = forms[i].kind;
    enum td_status status = count ? export_lines(&o, &err) : export_exchanges(&o, &err);
    return status == TD_OK ? 0 : command_fail("ledger export", &err);
}

const struct verb verb_ledger_export = {
    "export", cmd_export, HELP_TEXT("write exchanges as JSON lines, also to learn from")};
