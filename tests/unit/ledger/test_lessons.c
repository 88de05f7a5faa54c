/* What is learnt from the ledger: which answers were the device's, and how right they were. */
#include "ledger_fixture.h"

#include "base/core/error.h"

static struct ledger *ledger;
static struct ledger_reader *reader;

static bool begin(const char *name)
{
    return ledger_open(fixture_path(name), &ledger, NULL) == TD_OK;
}

/* Closes what was put and reads it. */
static bool read_again(const char *name)
{
    ledger_close(ledger);
    return ledger_reader_open(fixture_path(name), &reader, NULL) == TD_OK;
}

static void put(const char *id, const char *place, enum exchange_end status,
                const struct ledger_attempt *attempts, size_t count)
{
    struct ledger_exchange x = fixture_exchange(id, 1000);
    char signals[32];
    snprintf(signals, sizeof signals, "{\"id\":\"%s\"}", id);
    x.place = place;
    x.status = status;
    x.signals_json = signals;
    x.attempts = attempts;
    x.attempt_count = count;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
}

static void shadow(const char *id, const char *tier, const char *place, double agreement, bool same)
{
    const struct ledger_shadow row = {.exchange = id,
                                      .tier = tier,
                                      .place = place,
                                      .model = "mirror",
                                      .agreement = agreement,
                                      .same = same,
                                      .kind = "text"};
    CHECK(ledger_put_shadow(ledger, &row, NULL) == TD_OK);
}

static void say(const char *id, double score)
{
    const struct ledger_feedback feedback = {id, 2000, score, NULL};
    CHECK(ledger_put_feedback(ledger, &feedback, NULL) == TD_OK);
}

static const struct ledger_attempt device = {
    .tier = "local", .model = "nano", .place = "device", .outcome = ATTEMPT_ANSWERED};

struct outcomes {
    char line[512];
};

static void see_outcome(void *ctx, const char *signals, double right)
{
    struct outcomes *seen = ctx;
    size_t len = strlen(seen->line);
    snprintf(seen->line + len, sizeof seen->line - len, "%s=%.2f ", signals, right);
}

/* Feedback on the device's whole answers, and shadows between the device and elsewhere. */
static void test_only_answers_of_the_device_are_outcomes(void)
{
    REQUIRE(begin("outcomes.db"));
    put("dev", "device", ENDED_OK, &device, 1);
    put("cloud", "cloud", ENDED_OK, NULL, 0);
    put("failed", "device", ENDED_FAILED, &device, 1);
    say("dev", 0.25);
    say("cloud", 0.5);
    say("failed", 0.75);
    struct outcomes seen = {0};
    put("s1", "device", ENDED_OK, &device, 1);
    shadow("s1", "cloud", "cloud", 0.9, true); /* the device beside a cloud */
    put("s2", "cloud", ENDED_OK, NULL, 0);
    shadow("s2", "local", "device", 0.1, false); /* and the other way round */
    put("s3", "cloud", ENDED_OK, NULL, 0);
    shadow("s3", "other", "cloud", 0.9, true); /* two clouds */
    put("s4", "device", ENDED_OK, &device, 1);
    shadow("s4", "local2", "device", 0.9, true); /* two devices */
    put("s5", "device", ENDED_OK, &device, 1);
    shadow("s5", "cloud", "cloud", NAN, true); /* no answer */
    put("s6", "cloud", ENDED_OK, NULL, 0);
    shadow("s6", "local", NULL, 0.9, true); /* an older row: known by its tier's attempts */
    put("s7", "cloud", ENDED_OK, NULL, 0);
    shadow("s7", "far", NULL, 0.9, true);
    REQUIRE(read_again("outcomes.db"));
    CHECK(ledger_reader_outcomes(reader, 0, see_outcome, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.line, "{\"id\":\"dev\"}=0.25 {\"id\":\"s1\"}=1.00 "
                            "{\"id\":\"s2\"}=0.00 {\"id\":\"s6\"}=1.00 ") == 0);
    struct outcomes later = {0};
    CHECK(ledger_reader_outcomes(reader, 1001, see_outcome, &later, NULL) == TD_OK);
    CHECK(!*later.line);
    CHECK(ledger_reader_outcomes(reader, 1000, see_outcome, &later, NULL) == TD_OK && *later.line);
    ledger_reader_close(reader);
}

static enum td_status see_lesson(void *ctx, const struct ledger_lesson *lesson,
                                 struct td_error *err)
{
    struct outcomes *seen = ctx;
    size_t len = strlen(seen->line);
    (void)err;
    snprintf(seen->line + len, sizeof seen->line - len, "%s:%d%d%d:%.2f:%.2f ",
             lesson->model ? lesson->model : "-", lesson->answered, lesson->device, lesson->review,
             lesson->score, lesson->same);
    return strstr(seen->line, "stop") ? TD_CANCELLED : TD_OK;
}

/* A lesson has one tier's whole answer, the device's model, and the newest word on it. */
static void test_a_lesson_says_whose_answer_it_is_and_how_right_it_was(void)
{
    const struct ledger_attempt both[] = {
        {.tier = "local", .model = "nano", .place = "device", .outcome = ATTEMPT_FAILED},
        {.tier = "cloud", .model = "big", .place = "cloud", .outcome = ATTEMPT_CONTINUED},
    };
    const struct ledger_attempt two_models[] = {
        {.tier = "cloud", .model = "big", .place = "cloud", .outcome = ATTEMPT_FAILED},
        {.tier = "local", .model = "first", .place = "device", .outcome = ATTEMPT_FAILED},
        {.tier = "local2", .model = "second", .place = "device", .outcome = ATTEMPT_ANSWERED},
    };
    REQUIRE(begin("lessons.db"));
    put("a", "device", ENDED_OK, &device, 1);
    say("a", 1);
    say("a", 0.25);
    put("b", "cloud", ENDED_OK, both, 2);
    put("c", "device", ENDED_FAILED, &device, 1);
    put("d", "device", ENDED_OK, two_models, 3);
    struct ledger_exchange x = fixture_exchange("e", 1000);
    x.place = "cloud";
    x.reasons_json = "[{\"code\":\"review\"}]";
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    shadow("e", "local", "device", 0.9, true);
    shadow("e", "local", "device", 0.2, false);
    shadow("e", "local", "device", NAN, false); /* no answer */
    shadow("e", "other", "cloud", 0.2, false);  /* not the device's */
    x = fixture_exchange("f", 2000);
    x.reasons_json = NULL;
    CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    REQUIRE(read_again("lessons.db"));
    struct outcomes seen = {0}, later = {0}, stopped = {.line = "stop "};
    CHECK(ledger_reader_lessons(reader, 0, see_lesson, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.line, "nano:110:0.25:nan nano:000:nan:nan nano:010:nan:nan "
                            "first:110:nan:nan mirror:101:nan:0.50 -:110:nan:nan ") == 0);
    CHECK(ledger_reader_lessons(reader, 1001, see_lesson, &later, NULL) == TD_OK);
    CHECK(strcmp(later.line, "-:110:nan:nan ") == 0);
    CHECK(ledger_reader_lessons(reader, 0, see_lesson, &stopped, NULL) == TD_CANCELLED);
    CHECK(strcmp(stopped.line, "stop nano:110:0.25:nan ") == 0);
    ledger_reader_close(reader);
}

static enum td_status see_judged(void *ctx, const struct ledger_judged *row, struct td_error *err)
{
    struct outcomes *seen = ctx;
    size_t len = strlen(seen->line);
    (void)err;
    snprintf(seen->line + len, sizeof seen->line - len, "%.*s:%d ", (int)row->id.len, row->id.data,
             row->kept);
    return TD_OK;
}

/* Kept: the device's first try is the whole answer. */
static void test_only_a_first_try_that_was_all_is_kept(void)
{
    const struct ledger_attempt twice[] = {device, device};
    const struct ledger_attempt elsewhere[] = {
        {.tier = "cloud", .place = "cloud", .outcome = ATTEMPT_FAILED}, device};
    struct ledger_attempt left = device;
    left.outcome = ATTEMPT_ESCALATED;
    REQUIRE(begin("kept.db"));
    put("one", "device", ENDED_OK, &device, 1);
    put("two", "device", ENDED_OK, twice, 2);
    put("left", "device", ENDED_OK, &left, 1);
    put("failed", "device", ENDED_FAILED, &device, 1);
    put("second", "device", ENDED_OK, elsewhere, 2);
    put("none", "device", ENDED_OK, NULL, 0);
    REQUIRE(read_again("kept.db"));
    struct outcomes seen = {0};
    CHECK(ledger_reader_judged(reader, 0, see_judged, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.line, "one:1 two:0 left:0 failed:0 ") == 0);
    ledger_reader_close(reader);
}

/* --- what keys have spent, and how servers count --- */

static void see_spent(void *ctx, const struct ledger_spent *spent)
{
    struct outcomes *seen = ctx;
    size_t len = strlen(seen->line);
    snprintf(seen->line + len, sizeof seen->line - len, "%s,%s,%s,%s:%llu:%.0f ",
             spent->app ? spent->app : "-", spent->key_id ? spent->key_id : "-",
             spent->key_digest ? spent->key_digest : "-", spent->route ? spent->route : "-",
             (unsigned long long)spent->hour, spent->cost_usd);
}

static void test_what_keys_applications_and_routes_spend_is_told_apart(void)
{
    static const struct {
        const char *signals, *route;
        uint64_t wall_ms;
    } rows[] = {
        {"{\"app\":\"mail\",\"key_id\":\"k1\"}", "auto", 0},
        {"{\"app\":\"mail\",\"key_id\":\"k2\"}", "auto", 0},
        {"{\"app\":\"mail\",\"key_id\":\"k2\"}", "auto", 3599999},
        {"{\"app\":\"mail\",\"key_id\":\"k2\"}", "auto", 3600000},
        {"{\"app\":\"mail\",\"key_id\":\"k2\"}", "fast", 0},
        {"{\"key\":\"0123\"}", NULL, 0}, /* as older rows have it */
        {"not JSON", NULL, 0},
        {NULL, NULL, 0},
    };
    static const char *const expected[] = {"mail,k1,-,auto:0:1 ", "mail,k2,-,auto:0:6 ",
                                           "mail,k2,-,auto:1:8 ", "mail,k2,-,fast:0:16 ",
                                           "-,-,0123,-:0:32 ",    "-,-,-,-:0:192 "};
    REQUIRE(begin("keys.db"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[16];
        snprintf(id, sizeof id, "ex_%zu", i);
        struct ledger_exchange x = fixture_exchange(id, rows[i].wall_ms);
        x.signals_json = rows[i].signals;
        x.route = rows[i].route;
        x.cost_usd = 1 << i;
        CHECK(ledger_put(ledger, &x, NULL) == TD_OK);
    }
    REQUIRE(read_again("keys.db"));
    struct outcomes seen = {0};
    size_t len = 0;
    CHECK(ledger_reader_spent(reader, 0, see_spent, &seen, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK(strstr(seen.line, expected[i]) != NULL);
        len += strlen(expected[i]);
    }
    CHECK(strlen(seen.line) == len);
    ledger_reader_close(reader);
}

static void see_tokens(void *ctx, const struct ledger_tokens *tokens)
{
    struct outcomes *seen = ctx;
    size_t len = strlen(seen->line);
    snprintf(seen->line + len, sizeof seen->line - len, "%s/%s:%g:%g,%g,%g,%g,%g ", tokens->tier,
             tokens->model, tokens->count, tokens->prompt_estimate, tokens->prompt_tokens,
             tokens->cached_tokens, tokens->answer_bytes, tokens->completion_tokens);
}

/* Only a server's own count of a whole text elsewhere teaches something. */
static void test_only_exact_usages_of_answers_elsewhere_are_told(void)
{
    const struct ledger_attempt good = {.tier = "cloud",
                                        .model = "big",
                                        .place = "cloud",
                                        .outcome = ATTEMPT_ANSWERED,
                                        .prompt_tokens = 30,
                                        .completion_tokens = 12,
                                        .cached_tokens = 3,
                                        .exact = true,
                                        .prompt_estimate = 20,
                                        .answer_bytes = 16};
    struct ledger_attempt attempts[11];
    for (size_t i = 0; i < 11; i++)
        attempts[i] = good;
    attempts[1].exact = false;
    attempts[2].place = "device";
    attempts[3].answer_bytes = 0;
    attempts[4].prompt_estimate = 0;
    attempts[5].outcome = ATTEMPT_FAILED;
    attempts[6].outcome = ATTEMPT_CANCELLED;
    attempts[7].outcome = ATTEMPT_CONTINUED;
    attempts[8].outcome = ATTEMPT_ESCALATED; /* whole, though left */
    attempts[9].model = "small";
    attempts[10].model = NULL;
    REQUIRE(begin("usages.db"));
    put("a", "cloud", ENDED_OK, attempts, 11);
    REQUIRE(read_again("usages.db"));
    struct outcomes seen = {0};
    CHECK(ledger_reader_tokens(reader, see_tokens, &seen, NULL) == TD_OK);
    CHECK(strcmp(seen.line, "cloud/big:2:40,60,6,32,24 cloud/small:1:20,30,3,16,12 ") == 0);
    ledger_reader_close(reader);
}

/* --- texts --- */

static bool is_text(const char *got, const char *put)
{
    return put ? got && strcmp(got, put) == 0 : !got;
}

static enum td_status same_lesson(void *ctx, const struct ledger_lesson *got, struct td_error *err)
{
    const struct ledger_exchange *x = *(const struct ledger_exchange **)ctx;
    (void)err;
    CHECK(is_text(got->tenant, x->tenant) && is_text(got->route, x->route));
    CHECK(is_text(got->tier, x->tier) && is_text(got->data_class, x->data_class));
    CHECK(is_text(got->prompt, x->prompt_text) && is_text(got->answer, x->answer_text));
    CHECK(is_text(got->signals_json, x->signals_json) && is_text(got->model, "nano"));
    return TD_OK;
}

static enum td_status same_history(void *ctx, const struct ledger_history *got,
                                   struct td_error *err)
{
    const struct ledger_exchange *x = *(const struct ledger_exchange **)ctx;
    (void)err;
    CHECK(is_text(got->id, x->id) && is_text(got->requested_model, x->requested_model));
    CHECK(is_text(got->route, x->route) && is_text(got->tier, x->tier));
    CHECK(is_text(got->place, x->place) && is_text(got->user, x->user));
    CHECK(is_text(got->signals_json, x->signals_json) && got->status == x->status);
    CHECK(is_text(got->reasons_json, x->reasons_json) && got->attempt_count == 1);
    return TD_OK;
}

static enum td_status same_judged(void *ctx, const struct ledger_judged *got, struct td_error *err)
{
    const struct ledger_exchange *x = *(const struct ledger_exchange **)ctx;
    const char *signals = x->signals_json;
    (void)err;
    CHECK(got->id.len == strlen(x->id) && memcmp(got->id.data, x->id, got->id.len) == 0);
    CHECK(got->signals_json.len == (signals ? strlen(signals) : 0));
    CHECK(!signals || memcmp(got->signals_json.data, signals, got->signals_json.len) == 0);
    return TD_OK;
}

static void same_spent(void *ctx, const struct ledger_spent *got)
{
    const struct ledger_exchange *x = *(const struct ledger_exchange **)ctx;
    CHECK(is_text(got->tenant, x->tenant) && is_text(got->user, x->user));
    CHECK(is_text(got->route, x->route));
}

/* A text of one member never stands in another, such as a tenant's name in a user's place. */
static void test_every_text_comes_back_as_itself_in_every_reading(void)
{
    struct ledger_exchange with = fixture_exchange("with", 1000), without = with;
    with.tenant = "a tenant";
    with.user = "a user";
    with.route = "a route";
    with.data_class = "sensitive";
    with.prompt_text = "a prompt";
    with.answer_text = "an answer";
    with.reasons_json = "[1]";
    with.attempts = without.attempts = &device;
    with.attempt_count = without.attempt_count = 1;
    without.id = "without";
    without.wall_ms = 2000;
    without.tier = without.data_class = without.signals_json = without.reasons_json = NULL;
    without.requested_model = without.place = without.model = NULL;
    REQUIRE(begin("texts.db"));
    CHECK(ledger_put(ledger, &with, NULL) == TD_OK);
    REQUIRE(read_again("texts.db"));
    for (int i = 0; i < 2; i++) { /* read alone each: the first, then those since the second */
        const struct ledger_exchange *put = i ? &without : &with;
        CHECK(ledger_reader_lessons(reader, put->wall_ms, same_lesson, &put, NULL) == TD_OK);
        CHECK(ledger_reader_history(reader, put->wall_ms, same_history, &put, NULL) == TD_OK);
        CHECK(ledger_reader_judged(reader, put->wall_ms, same_judged, &put, NULL) == TD_OK);
        CHECK(ledger_reader_spent(reader, put->wall_ms, same_spent, &put, NULL) == TD_OK);
        ledger_reader_close(reader);
        if (i == 0) {
            REQUIRE(begin("texts.db"));
            CHECK(ledger_put(ledger, &without, NULL) == TD_OK);
            REQUIRE(read_again("texts.db"));
        }
    }
}

int main(void)
{
    fixture_begin();
    RUN(test_only_answers_of_the_device_are_outcomes);
    RUN(test_a_lesson_says_whose_answer_it_is_and_how_right_it_was);
    RUN(test_only_a_first_try_that_was_all_is_kept);
    RUN(test_what_keys_applications_and_routes_spend_is_told_apart);
    RUN(test_only_exact_usages_of_answers_elsewhere_are_told);
    RUN(test_every_text_comes_back_as_itself_in_every_reading);
    fixture_end();
    return test_finish();
}
