/* Feedback and reactions: stored beside the exchange; the newest counts; feedback is read as
 * labels. */
#include "ledger_fixture.h"

#include "base/core/str.h"
#include "base/text/names.h"
#include "base/time/log.h"

static void put(struct ledger *ledger, const char *id, uint64_t wall_ms,
                enum attempt_outcome outcome, double confidence)
{
    struct ledger_exchange x = fixture_exchange(id, wall_ms);
    const struct ledger_attempt attempts[2] = {
        {.tier = "local", .place = "device", .outcome = outcome, .confidence = confidence},
        {.tier = "cloud", .place = "cloud", .outcome = ATTEMPT_ANSWERED, .confidence = NAN},
    };
    bool kept = outcome == ATTEMPT_ANSWERED;
    x.status = ENDED_OK;
    x.tier = kept ? "local" : "cloud";
    x.signals_json = "{\"probe\":0.5,\"task\":\"chat\"}";
    x.attempts = attempts;
    x.attempt_count = kept ? 1 : 2;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
}

static enum td_status say(struct ledger *ledger, const char *id, double score, const char *comment)
{
    struct ledger_feedback feedback = {id, 5000, score, comment};
    return ledger_put_feedback(ledger, &feedback, NULL);
}

static struct ledger *ledger_of_four(const char *path)
{
    struct ledger *ledger = NULL;
    if (ledger_open(path, &ledger, NULL) != TD_OK)
        abort();
    put(ledger, "ex_a", 1000, ATTEMPT_ANSWERED, 0.9);
    put(ledger, "ex_b", 2000, ATTEMPT_ANSWERED, 0.8);
    put(ledger, "ex_c", 3000, ATTEMPT_ESCALATED, 0.3);
    put(ledger, "ex_d", 4000, ATTEMPT_ANSWERED, NAN);
    CHECK(say(ledger, "ex_a", 1, NULL) == TD_OK);
    CHECK(say(ledger, "ex_b", 1, NULL) == TD_OK);
    CHECK(say(ledger, "ex_b", 0.25, "wrong \"city\"") == TD_OK); /* a change of mind */
    CHECK(say(ledger, "ex_c", 0.5, NULL) == TD_OK);
    return ledger;
}

struct seen {
    int count, stop_after;
    char line[256];
};

static enum td_status see(void *ctx, const struct ledger_judged *row, struct td_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    size_t len = strlen(seen->line);
    snprintf(seen->line + len, sizeof seen->line - len, STR_FMT ":%.1f:%d:%.2f ", STR_ARG(row->id),
             row->confidence, row->kept, row->score);
    CHECK(str_starts_with(row->signals_json, STR("{\"probe\"")));
    return ++seen->count == seen->stop_after ? TD_CANCELLED : TD_OK;
}

static void test_judged_answers_come_with_their_newest_word(void)
{
    const char *path = fixture_path("judged.db");
    struct ledger_reader *reader;
    struct td_error err = {0};
    ledger_close(ledger_of_four(path));
    REQUIRE(ledger_reader_open(path, &reader, &err) == TD_OK);
    struct seen seen = {0};
    CHECK(ledger_reader_judged(reader, 0, see, &seen, &err) == TD_OK);
    CHECK(strcmp(seen.line, "ex_a:0.9:1:1.00 ex_b:0.8:1:0.25 ex_c:0.3:0:0.50 ex_d:nan:1:nan ") ==
          0);
    struct seen since = {0};
    CHECK(ledger_reader_judged(reader, 2500, see, &since, &err) == TD_OK && since.count == 2);
    struct seen stopped = {.stop_after = 1};
    CHECK(ledger_reader_judged(reader, 0, see, &stopped, &err) == TD_CANCELLED);
    CHECK(stopped.count == 1);
    ledger_reader_close(reader);
}

static void put_check(struct ledger *ledger, const char *id, bool right)
{
    const struct ledger_shadow row = {.exchange = id,
                                      .wall_ms = 6000,
                                      .tier = right ? "cloud" : "local",
                                      .place = right ? "cloud" : "device",
                                      .agreement = right ? 1 : 0,
                                      .same = right,
                                      .kind = LEDGER_SHADOW_VERIFIED};
    CHECK(ledger_put_shadow(ledger, &row, NULL) == TD_OK);
}

static void test_what_a_stronger_tier_found_judges_where_nobody_has(void)
{
    const char *path = fixture_path("checked.db");
    struct ledger_reader *reader;
    struct ledger *ledger = NULL;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put(ledger, "ex_a", 1000, ATTEMPT_ANSWERED, 0.9);
    put(ledger, "ex_b", 2000, ATTEMPT_ESCALATED, 0.8); /* found wrong, and replaced */
    put(ledger, "ex_c", 3000, ATTEMPT_ESCALATED, 0.3); /* left by another gate */
    put_check(ledger, "ex_a", true);
    put_check(ledger, "ex_b", false);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    struct seen seen = {0};
    CHECK(ledger_reader_judged(reader, 0, see, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.line, "ex_a:0.9:1:1.00 ex_b:0.8:1:0.00 ex_c:0.3:0:nan ") == 0);
    ledger_reader_close(reader);
}

static void test_the_report_has_the_mean_by_tier(void)
{
    const char *path = fixture_path("report.db");
    struct ledger_reader *reader;
    struct json *report = NULL;
    ledger_close(ledger_of_four(path));
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_report(reader, 0, &report, NULL) == TD_OK);
    CHECK(json_int(json_get(report, "feedback"), -1) == 3);
    CHECK(fabs(json_number(json_get(report, "score"), -1) - 1.75 / 3) < 1e-12);
    const struct json *local = json_at(json_get(report, "tiers"), 0);
    CHECK(strcmp(json_cstr(json_get(local, "tier")), "local") == 0);
    CHECK(json_int(json_get(local, "feedback"), -1) == 2);
    CHECK(json_number(json_get(local, "score"), -1) == 0.625);
    json_free(report);
    REQUIRE(ledger_reader_report(reader, 3500, &report, NULL) == TD_OK);
    CHECK(json_int(json_get(report, "feedback"), -1) == 0);
    CHECK(json_kind_of(json_get(report, "score")) == JSON_KIND_NULL);
    json_free(report);
    ledger_reader_close(reader);
}

static void test_feedback_on_nothing_is_dropped_and_what_is_no_score_refused(void)
{
    struct ledger *ledger = ledger_of_four(fixture_path("none.db"));
    log_set_level(LOG_LEVEL_OFF);
    CHECK(say(ledger, "ex_", 1, NULL) == TD_OK); /* a prefix is no id */
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK);
    CHECK(ledger_dropped(ledger) == 1);
    CHECK(say(ledger, "ex_a", 1.5, NULL) == TD_INVALID &&
          say(ledger, "ex_a", NAN, NULL) == TD_INVALID);
    CHECK(say(ledger, "", 1, NULL) == TD_INVALID && say(ledger, NULL, 1, NULL) == TD_INVALID);
    CHECK(ledger_dropped(ledger) == 5);
    put(ledger, "ex_e", 9000, ATTEMPT_ANSWERED, 0.7); /* the rest of that batch was written */
    CHECK(ledger_flush(ledger, 5000, NULL) == TD_OK && ledger_dropped(ledger) == 5);
    ledger_close(ledger);
}

enum { KINDS = REACTION_COUNT, SEQUENCES = KINDS * KINDS * KINDS };

/* One of the sequences of up to three reactions, of which 0 is nothing. */
struct sequence {
    int said[3], last;
    char id[16];
};

static struct sequence sequence_at(int number)
{
    struct sequence s = {{number / KINDS / KINDS, number / KINDS % KINDS, number % KINDS}, 0, ""};
    for (int i = 0; i < 3; i++)
        s.last = s.said[i] ? s.said[i] : s.last;
    snprintf(s.id, sizeof s.id, "ex_%03d", number);
    return s;
}

/* Each answer is of a tier of its own, so that the report has a row for each. */
static void put_sequences(struct ledger *ledger)
{
    for (int number = 0; number < SEQUENCES; number++) {
        const struct sequence s = sequence_at(number);
        struct ledger_exchange x = fixture_exchange(s.id, 1000);
        x.tier = s.id;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
        for (uint64_t i = 0; i < 3; i++) {
            const struct ledger_reaction reaction = {s.id, 2000 + i, (enum reaction)s.said[i]};
            CHECK(s.said[i] == 0 || ledger_put_reaction(ledger, &reaction, NULL) == TD_OK);
        }
    }
}

static void test_of_several_reactions_to_an_answer_the_last_one_counts(void)
{
    const char *path = fixture_path("reactions.db");
    struct ledger_reader *reader;
    struct ledger *ledger;
    struct json *report = NULL;
    size_t row = 0;
    REQUIRE(ledger_open(path, &ledger, NULL) == TD_OK);
    put_sequences(ledger);
    ledger_close(ledger);
    REQUIRE(ledger_reader_open(path, &reader, NULL) == TD_OK);
    REQUIRE(ledger_reader_report(reader, 0, &report, NULL) == TD_OK);
    for (int number = 1; number < SEQUENCES; number++) { /* without 0, 0, 0 */
        const struct sequence s = sequence_at(number);
        const struct json *tier = json_at(json_get(report, "reactions"), row++);
        CHECK(str_equal(json_text(json_get(tier, "tier")), str_from(s.id)));
        for (int kind = 1; kind < REACTION_COUNT; kind++)
            CHECK(json_int(json_get(tier, names_reaction((enum reaction)kind)), -1) ==
                  (kind == s.last));
    }
    CHECK(json_count(json_get(report, "reactions")) == row);
    json_free(report);
    ledger_reader_close(reader);
}

int main(void)
{
    fixture_begin();
    RUN(test_judged_answers_come_with_their_newest_word);
    RUN(test_what_a_stronger_tier_found_judges_where_nobody_has);
    RUN(test_the_report_has_the_mean_by_tier);
    RUN(test_feedback_on_nothing_is_dropped_and_what_is_no_score_refused);
    RUN(test_of_several_reactions_to_an_answer_the_last_one_counts);
    fixture_end();
    return test_finish();
}
