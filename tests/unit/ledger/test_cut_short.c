/* A statement that ends in the middle, as on a broken disk or a file that is locked: a reading is
 * whole or an error, and a commit is whole or has never been. SQLite is stopped after every number
 * of its steps, each time once. */
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/database/db_sqlite.h"
#include "ledger/record/writer.h"
#include "ledger/report/reader.h"
#include "ledger_fixture.h"
#include "ledger_readings.h"

#include <sqlite3.h>

/* --- what is in the ledger --- */

static const struct ledger_attempt attempts[] = {
    {.tier = "local",
     .model = "nano",
     .place = "device",
     .outcome = ATTEMPT_ESCALATED,
     .confidence = 0.25},
    {.tier = "cloud",
     .model = "big",
     .place = "cloud",
     .outcome = ATTEMPT_ANSWERED,
     .confidence = NAN,
     .exact = true,
     .prompt_tokens = 3,
     .prompt_estimate = 2,
     .answer_bytes = 8,
     .completion_tokens = 2,
     .cost_usd = 0.5},
};
enum { EXCHANGES = 3, RECORDS = EXCHANGES + 4 };

static void make_records(struct record *out[static RECORDS])
{
    const struct ledger_feedback said = {"ex_1", 2, 0.75, "good"};
    const struct ledger_shadow shadow = {.exchange = "ex_1",
                                         .tier = "cloud",
                                         .place = "cloud",
                                         .agreement = 0.25,
                                         .kind = "text",
                                         .cost_usd = 0.25};
    const struct ledger_reaction went = {"ex_2", 3, REACTION_EDITED};
    const struct ledger_policy policy = {"v1", 1, "routes: {}"};
    int made = 0;
    for (int i = 0; i < EXCHANGES; i++) {
        char id[8];
        snprintf(id, sizeof id, "ex_%d", i);
        struct ledger_exchange x = fixture_exchange(id, 1000 + (uint64_t)i);
        x.policy_version = "v1";
        x.trace_id = "trace";
        x.request_id = "name";
        x.standing = ANSWER_FULL;
        x.all_cloud_basis = BASIS_RATIO;
        x.signals_json = "{\"task\":\"chat\",\"decision\":{\"earlier\":{\"by\":\"similar\"}}}";
        x.attempts = attempts;
        x.attempt_count = i == 1 ? 1 : 2;
        CHECK(record_new(&x, 1u << 20, &out[made++], NULL) == TD_OK);
    }
    CHECK(record_new_feedback(&said, 1u << 20, &out[made++], NULL) == TD_OK);
    CHECK(record_new_shadow(&shadow, 1u << 20, &out[made++], NULL) == TD_OK);
    CHECK(record_new_reaction(&went, &out[made++], NULL) == TD_OK);
    CHECK(record_new_policy(&policy, 1u << 20, &out[made++], NULL) == TD_OK);
}

/* --- stopping --- */

struct stop {
    uint64_t steps; /* taken */
    uint64_t at;    /* the one at which to stop; 0 = never */
};

static int count_step(void *ctx)
{
    struct stop *stop = ctx;
    return ++stop->steps == stop->at;
}

/* --- readings --- */

static struct ledger_reader *reader_of_records(const char *name)
{
    struct record *records[RECORDS];
    struct writer writer;
    struct ledger_reader *reader = NULL;
    size_t refused = 1;
    make_records(records);
    if (writer_open(fixture_path(name), &writer, NULL) != TD_OK)
        abort();
    CHECK(writer_commit(&writer, records, RECORDS, &refused, NULL) == TD_OK && refused == 0);
    writer_close(&writer);
    for (int i = 0; i < RECORDS; i++)
        free(records[i]);
    if (ledger_reader_open(fixture_path(name), &reader, NULL) != TD_OK)
        abort();
    return reader;
}

/* Stops are tried at every step at first, then ever further apart: a report takes thousands. */
static uint64_t next_stop(uint64_t at)
{
    return at + 1 + at / 64;
}

static void test_a_reading_that_is_cut_short_is_an_error(void)
{
    struct ledger_reader *reader = reader_of_records("readings.db");
    struct buf whole, got;
    struct stop stop;
    buf_init(&whole, 1u << 20);
    buf_init(&got, 1u << 20);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        struct td_error err = {0};
        buf_clear(&whole);
        stop = (struct stop){0};
        sqlite3_progress_handler(db_sqlite_handle(reader->db), 1, count_step, &stop);
        CHECK(readings[i].read(reader, &whole, &err) == TD_OK && whole.len > 0);
        uint64_t steps = stop.steps, failed = 0;
        for (uint64_t at = 1; at <= steps; at = next_stop(at)) {
            err = (struct td_error){0};
            buf_clear(&got);
            stop = (struct stop){.at = at};
            enum td_status status = readings[i].read(reader, &got, &err);
            bool same = str_equal(buf_view(&got), buf_view(&whole));
            if (status == TD_OK && !same)
                printf("%s stopped at step %d is half\n", readings[i].name, (int)at);
            CHECK(status != TD_OK || same);
            CHECK(status == err.status && (status == TD_OK || err.message[0]));
            failed += status != TD_OK;
        }
        CHECK(failed > 0);
        stop = (struct stop){0};
        buf_clear(&got);
        CHECK(readings[i].read(reader, &got, &err) == TD_OK); /* nothing of it stays */
        CHECK(str_equal(buf_view(&got), buf_view(&whole)));
    }
    buf_deinit(&whole);
    buf_deinit(&got);
    ledger_reader_close(reader);
}

/* Whether there is a second exchange of a prefix must not be a guess. */
static void test_a_prefix_is_never_unique_because_the_search_was_cut_short(void)
{
    struct ledger_reader *reader = reader_of_records("prefix.db");
    struct stop stop = {0};
    struct json *json;
    sqlite3_progress_handler(db_sqlite_handle(reader->db), 1, count_step, &stop);
    CHECK(ledger_reader_find(reader, NULL, "ex_", &json, NULL) == TD_INVALID);
    uint64_t steps = stop.steps;
    for (uint64_t at = 1; at <= steps; at++) {
        stop = (struct stop){.at = at};
        CHECK(ledger_reader_find(reader, NULL, "ex_", &json, NULL) != TD_OK && json == NULL);
    }
    ledger_reader_close(reader);
}

static int refuse(void *ctx)
{
    (void)ctx;
    return 1;
}

static void test_a_commit_that_is_cut_short_leaves_nothing_and_can_be_made_again(void)
{
    struct record *records[RECORDS];
    struct writer writer;
    struct stop stop = {0};
    struct td_error err = {0};
    size_t refused;
    make_records(records);
    REQUIRE(writer_open(fixture_path("counted.db"), &writer, NULL) == TD_OK);
    sqlite3_progress_handler(db_sqlite_handle(writer.db), 1, count_step, &stop);
    CHECK(writer_commit(&writer, records, RECORDS, &refused, &err) == TD_OK);
    uint64_t steps = stop.steps;
    writer_close(&writer);
    const char *path = fixture_path("cut.db");
    REQUIRE(writer_open(path, &writer, NULL) == TD_OK);
    sqlite3_progress_handler(db_sqlite_handle(writer.db), 1, count_step, &stop);
    CHECK(steps > RECORDS);
    for (uint64_t at = 1; at < steps; at++) { /* the last step is the commit itself */
        err = (struct td_error){0};
        stop = (struct stop){.at = at};
        enum td_status status = writer_commit(&writer, records, RECORDS, &refused, &err);
        CHECK(status != TD_OK && status == err.status && err.message[0] && refused == 0);
        CHECK(
            sqlite3_get_autocommit(db_sqlite_handle(writer.db))); /* no transaction is left open */
        stop = (struct stop){0};
        if (at % 16 == 1)
            CHECK(fixture_count(path) == 0);
    }
    sqlite3_commit_hook(db_sqlite_handle(writer.db), refuse, NULL);
    CHECK(writer_commit(&writer, records, RECORDS, &refused, &err) != TD_OK);
    CHECK(sqlite3_get_autocommit(db_sqlite_handle(writer.db)) && fixture_count(path) == 0);
    sqlite3_commit_hook(db_sqlite_handle(writer.db), NULL, NULL);
    CHECK(writer_commit(&writer, records, RECORDS, &refused, &err) == TD_OK && refused == 0);
    CHECK(fixture_count(path) == EXCHANGES);
    writer_close(&writer);
    for (int i = 0; i < RECORDS; i++)
        free(records[i]);
}

int main(void)
{
    fixture_begin();
    RUN(test_a_reading_that_is_cut_short_is_an_error);
    RUN(test_a_prefix_is_never_unique_because_the_search_was_cut_short);
    RUN(test_a_commit_that_is_cut_short_leaves_nothing_and_can_be_made_again);
    fixture_end();
    return test_finish();
}
