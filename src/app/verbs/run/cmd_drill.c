/* tandem drill: lets a running server rehearse what docs/failures.md says of each fault and each
 * class of data, and says which of them hold. */
#define HELP_OF 69
#include "api/drill/drill.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/remote.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#include <stdio.h>

#define ANSWER_BYTES_MAX 65536u
#define TIMEOUT_MS 30000
#define CLASS_COUNT (TD_CLASS_RESTRICTED - TD_CLASS_PUBLIC + 1)
#define CELL_BYTES 40
#define TITLE_WIDTH 38
#define CELL_WIDTH 32

struct drill_run {
    const char *base, *model;
    struct json *cells; /* of what has run */
    uint32_t count, failed;
};

/* *out: **returns new** (json_free) */
static enum td_status ask(const struct drill_run *run, enum drill_fault fault,
                          enum td_data_class data_class, struct json **out, struct td_error *err)
{
    struct json *body = json_new_object();
    json_put(body, "fault", json_new_cstr(drill_fault_names[fault]));
    json_put(body, "data_class", json_new_cstr(names_class(data_class)));
    if (run->model)
        json_put(body, "model", json_new_cstr(run->model));
    struct remote_request request = {
        .base = run->base, .path = "/tandem/v1/drill", .timeout_ms = TIMEOUT_MS};
    enum td_status status = remote_ask(&request, body, ANSWER_BYTES_MAX, out, err);
    json_free(body);
    return status;
}

/* As the table of docs/failures.md has it. */
static void write_cell(const struct json *cell, char out[static CELL_BYTES])
{
    const char *tier = json_cstr(json_get(cell, "tier"));
    const char *code = json_cstr(json_get(json_get(cell, "error"), "code"));
    bool passed = json_bool(json_get(cell, "passed"), false);
    if (tier)
        snprintf(out, CELL_BYTES, "%s %.20s%s", passed ? "ok  " : "FAIL", tier,
                 json_bool(json_get(cell, "degraded"), false) ? ", told" : "");
    else
        snprintf(out, CELL_BYTES, "%s %d %.28s", passed ? "ok  " : "FAIL",
                 (int)json_int(json_get(cell, "status"), 0), code ? code : "");
}

static void print_failures(const struct json *cells)
{
    for (size_t i = 0; i < json_count(cells); i++) {
        const struct json *cell = json_at(cells, i);
        const char *why = json_cstr(json_get(cell, "why"));
        if (!json_bool(json_get(cell, "passed"), false))
            printf("FAIL %s, %s data: %s\n", json_cstr(json_get(cell, "fault")),
                   json_cstr(json_get(cell, "data_class")), why ? why : "");
    }
}

/* A row begins with its first answer: where no server runs, there is nothing but the error. */
static void begin_row(const struct drill_run *run, enum drill_fault fault)
{
    if (run->count == 0)
        printf("%-*s %-*s %-*s %-*s %s\n", TITLE_WIDTH, "what fails", CELL_WIDTH, "public",
               CELL_WIDTH, "sensitive", CELL_WIDTH, "contractual", "restricted");
    printf("%-*s", TITLE_WIDTH, drill_fault_titles[fault]);
}

static enum td_status run_row(struct drill_run *run, enum drill_fault fault, bool quiet,
                              struct td_error *err)
{
    char text[CELL_BYTES];
    for (int i = 0; i < CLASS_COUNT; i++) {
        struct json *cell = NULL;
        enum td_status status =
            ask(run, fault, (enum td_data_class)(TD_CLASS_PUBLIC + i), &cell, err);
        if (status != TD_OK) {
            if (!quiet && i > 0)
                printf("\n");
            return status;
        }
        if (!quiet && i == 0)
            begin_row(run, fault);
        write_cell(cell, text);
        run->count++;
        run->failed += !json_bool(json_get(cell, "passed"), false);
        json_push(run->cells, cell);
        if (!quiet)
            printf(" %-*s", i + 1 < CLASS_COUNT ? CELL_WIDTH : 0, text);
    }
    if (!quiet)
        printf("\n");
    return TD_OK;
}

static enum td_status run_all(struct drill_run *run, const char *only, bool quiet,
                              struct td_error *err)
{
    enum td_status status = TD_OK;
    for (int i = 0; i < DRILL_FAULT_COUNT && status == TD_OK; i++)
        if (!only || strcmp(only, drill_fault_names[i]) == 0)
            status = run_row(run, (enum drill_fault)i, quiet, err);
    return status;
}

static int finish(struct drill_run *run, bool json)
{
    if (json) {
        struct json *object = json_new_object();
        json_put(object, "passed", json_new_int(run->count - run->failed));
        json_put(object, "failed", json_new_int(run->failed));
        json_put(object, "cells", run->cells);
        return command_print_json(object) && run->failed == 0 ? 0 : 1;
    }
    print_failures(run->cells);
    json_free(run->cells);
    printf("%u passed, %u failed; nothing was sent and no tier computed\n",
           run->count - run->failed, run->failed);
    return run->failed > 0;
}

static int cmd_drill(int argc, char **argv)
{
    const char *config_path = NULL, *url = NULL, *fault = NULL;
    struct drill_run run = {.base = NULL};
    bool json = false;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"url", 'u', OPTION_TEXT, &url, "URL",
         HELP_TEXT("the server to ask; default: the address in the configuration"), 0, 0},
        {"fault", 0, OPTION_TEXT, &fault, "NAME", HELP_TEXT("only this one, such as http_429"), 0,
         0},
        {"model", 'm', OPTION_TEXT, &run.model, "ROUTE",
         HELP_TEXT("the route to drill; default: auto"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "drill",
        .summary = HELP_TEXT(
            "Lets a running server rehearse what happens when something fails, for each "
            "fault and each class of data, and prints whether it holds. Each cell is an "
            "exchange with stand-ins for its tiers: nothing is sent, nothing is recorded, "
            "and no other request notices. Where keys are needed, it takes an operator's "
            "in TANDEM_API_KEY. The exit code is 1 when a cell fails."),
        .json =
            HELP_TEXT("{\"passed\", \"failed\", \"cells\": what POST /tandem/v1/drill answers}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    char base[300];
    size_t which;
    if (fault && !names_table_find(drill_fault_names, str_from(fault), &which))
        return options_misuse("drill", "no fault has that name: see docs/failures.md");
    enum td_status status = url ? TD_OK : config_load(config_path, &config, &err);
    if (config)
        remote_write_base(config, base, sizeof base);
    config_free(config);
    run.base = url ? url : base;
    run.cells = json_new_array();
    if (status == TD_OK)
        status = run_all(&run, fault, json, &err);
    if (status != TD_OK) {
        json_free(run.cells);
        return command_fail_as("drill", &err, json);
    }
    return finish(&run, json);
}

const struct verb verb_drill = {"drill", cmd_drill,
                                HELP_TEXT("rehearse what happens when something fails")};
