/* A folder for each test program, and exchanges to put. */
#ifndef TESTS_LEDGER_FIXTURE_H
#define TESTS_LEDGER_FIXTURE_H

#include "base/json/json.h"
#include "ledger/record/ledger.h"

#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char fixture_directory[64] = "/tmp/tandem-ledger-XXXXXX";

static inline void fixture_begin(void)
{
    if (mkdtemp(fixture_directory) == NULL)
        abort();
}

static inline const char *fixture_path(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_directory, name);
    return path;
}

static inline void fixture_end(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", fixture_directory);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", fixture_directory);
}

/* A plain answered exchange; `id` is **borrowed**. */
static inline struct ledger_exchange fixture_exchange(const char *id, uint64_t wall_ms)
{
    return (struct ledger_exchange){
        .id = id,
        .wall_ms = wall_ms,
        .requested_model = "auto",
        .tier = "local",
        .model = "nano",
        .place = "device",
        .data_class = "public",
        .status = ENDED_OK,
        .finish = "stop",
        .confidence = 0.9,
        .prompt_tokens = 10,
        .completion_tokens = 5,
        .ttft_ms = 8,
        .total_ms = 20,
        .cost_usd = 0.001,
        .all_cloud_cost_usd = 0.004,
        .signals_json = "{\"tokens\":10}",
        .reasons_json = "[]",
    };
}

/* The number of exchanges in the file, or -1. */
static inline int64_t fixture_count(const char *path)
{
    struct ledger_reader *reader;
    struct json *report = NULL;
    int64_t count = -1;
    if (ledger_reader_open(path, &reader, NULL) != TD_OK)
        return -1;
    if (ledger_reader_report(reader, 0, &report, NULL) == TD_OK)
        count = json_int(json_get(report, "exchanges"), -1);
    json_free(report);
    ledger_reader_close(reader);
    return count;
}

#endif
