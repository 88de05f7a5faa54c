#include "router/learn/train.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/crypto/rng.h"
#include "router/judge/classifier_format.h"
#include "test.h"

#include <math.h>
#include <unistd.h>

/* Two kinds of prompts: what is easy both tiers get right, what is hard only the strong one, nine
 * times in ten. */
static void write_lines(struct buf *out, size_t count, uint64_t seed)
{
    static const char *const easy[] = {"set an alarm for", "what is the capital of",
                                       "turn on the light in", "play some music by"};
    static const char *const hard[] = {"prove the theorem about", "derive the integral of",
                                       "refactor the kernel of", "solve the puzzle of"};
    static const char *const nouns[] = {"monday", "paris",    "kitchen", "groups",
                                        "series", "matrices", "morning", "queues"};
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        bool is_hard = rng_below(&rng, 2), noise = rng_below(&rng, 10) == 0;
        const char *begin = is_hard ? hard[rng_below(&rng, 4)] : easy[rng_below(&rng, 4)];
        buf_printf(
            out,
            "{\"text\":\"%s %s number %u\",\"local_ok\":%s,\"strong_ok\":true,\"task\":\"%s\"}\n",
            begin, nouns[rng_below(&rng, 8)], (unsigned)rng_below(&rng, 90),
            is_hard != noise ? "false" : "true", is_hard ? "reasoning" : "command");
    }
}

static char path[64];

static enum td_status train(const char *lines, uint64_t seed, struct train_report *report,
                            struct td_error *err)
{
    struct examples examples;
    enum td_status status = examples_read(str_from(lines), &examples, err);
    if (status == TD_OK)
        status =
            train_classifier(&examples, &(struct train_options){.seed = seed}, path, report, err);
    examples_deinit(&examples);
    return status;
}

static struct classifier *train_and_open(uint64_t seed)
{
    struct buf lines;
    struct train_report report;
    struct classifier *classifier = NULL;
    buf_init(&lines, 1 << 20);
    write_lines(&lines, 400, 7);
    if (train(lines.data, seed, &report, NULL) != TD_OK ||
        classifier_open(path, &classifier, NULL) != TD_OK)
        classifier = NULL;
    buf_deinit(&lines);
    return classifier;
}

static struct verdict judge(const struct classifier *classifier, const char *text)
{
    static struct classifier_work work;
    struct utterance utterance;
    struct features features;
    struct verdict verdict;
    utterance_read_text(str_from(text), &utterance);
    features_read(&utterance, &features);
    classifier_judge(classifier, &utterance, &features, &work, &verdict);
    return verdict;
}

static void test_what_was_learnt_is_told_of_new_texts(void)
{
    struct classifier *classifier = train_and_open(1);
    REQUIRE(classifier != NULL);
    REQUIRE(classifier_task_count(classifier) == 2);
    CHECK(strcmp(classifier_task_name(classifier, 0), "command") == 0);
    CHECK(strcmp(classifier_task_name(classifier, 1), "reasoning") == 0);
    struct verdict easy = judge(classifier, "please set an alarm for tuesday");
    struct verdict hard = judge(classifier, "now prove the theorem about lattices");
    CHECK(easy.task == 0 && hard.task == 1);
    CHECK(easy.task_p > 0.5f && easy.task_p <= 1);
    CHECK(hard.gain > 0.6f && easy.gain < 0.4f);
    CHECK(easy.p_local > 0.75f && hard.p_local < 0.35f);
    CHECK(hard.p_strong > 0.9f);
    float sum = easy.task_probability[0] + easy.task_probability[1];
    CHECK(sum > 0.999f && sum < 1.001f);
    classifier_close(classifier);
}

#define EASY "please set an alarm for tuesday morning and play some music by groups"
#define HARD "prove the theorem about matrices, derive the integral of series"

static void test_words_at_an_end_do_not_decide_alone(void)
{
    struct classifier *classifier = train_and_open(1);
    REQUIRE(classifier != NULL);
    struct verdict easy = judge(classifier, EASY), hard = judge(classifier, HARD);
    REQUIRE(easy.gain < 0.3f && hard.gain > 0.6f);
    CHECK(hard.gain >= hard.gain_whole && hard.gain <= hard.gain_whole);
    struct verdict raised = judge(classifier, EASY " " HARD);
    CHECK(raised.gain_whole > easy.gain + 0.25f);
    CHECK(raised.gain < raised.gain_whole - 0.25f && raised.p_local > 0.5f);
    struct verdict prefixed = judge(
        classifier, HARD " " EASY ", turn on the light in the kitchen, what is the capital of "
                         "paris, set an alarm for monday, play some music by queues");
    CHECK(prefixed.gain < 0.4f);
    struct verdict all = judge(classifier, HARD ", refactor the kernel of queues " HARD);
    CHECK(all.gain > 0.6f);
    classifier_close(classifier);
}

static void test_text_without_blanks_is_cut_between_characters(void)
{
    struct classifier *classifier = train_and_open(1);
    char text[1200];
    REQUIRE(classifier != NULL);
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, i / 3 % 2 ? "\xE6\x97\xA5" : "\xE6\x9C\xAC", 4);
    for (size_t len = 3; len < sizeof text - 3; len += 3) {
        char part[sizeof text];
        snprintf(part, sizeof part, "%.*s", (int)len, text);
        CHECK(isfinite(judge(classifier, part).gain));
    }
    classifier_close(classifier);
}

static void test_probabilities_are_calibrated(void)
{
    struct classifier *classifier = train_and_open(1);
    struct buf lines;
    buf_init(&lines, 1 << 20);
    write_lines(&lines, 2000, 99);
    REQUIRE(classifier != NULL);
    struct examples examples;
    REQUIRE(examples_read(buf_view(&lines), &examples, NULL) == TD_OK);
    double said = 0, was = 0;
    struct td_str rest = buf_view(&lines), line;
    for (size_t i = 0; str_next(&rest, '\n', &line) && i < examples.count; i++) {
        char text[100];
        size_t end = str_find(line, STR("\","), 9);
        snprintf(text, sizeof text, "%.*s", (int)(end - 9), line.data + 9);
        said += (double)judge(classifier, text).p_local;
        was += (double)examples.items[i].outcome[OUTCOME_LOCAL];
    }
    CHECK(fabs(said - was) / (double)examples.count < 0.05);
    examples_deinit(&examples);
    buf_deinit(&lines);
    classifier_close(classifier);
}

static void test_a_seed_gives_the_same_file(void)
{
    struct classifier *one = train_and_open(5), *other = train_and_open(5);
    REQUIRE(one && other);
    CHECK(classifier_hash(one) == classifier_hash(other));
    classifier_close(one);
    classifier_close(other);
}

static void test_labels_may_be_any_subset(void)
{
    struct buf lines;
    struct train_report report;
    struct classifier *classifier = NULL;
    buf_init(&lines, 1 << 20);
    for (int i = 0; i < 60; i++)
        buf_printf(&lines, "{\"text\":\"%s %d\",\"local_ok\":%s}\n{\"text\":\"no label %d\"}\n",
                   i % 2 ? "yes good" : "no bad", i, i % 2 ? "1" : "0.25", i);
    REQUIRE(train(lines.data, 1, &report, NULL) == TD_OK);
    REQUIRE(classifier_open(path, &classifier, NULL) == TD_OK);
    CHECK(report.lines == 120 && report.labelled[OUTCOME_LOCAL] == 60 &&
          report.labelled[OUTCOME_STRONG] == 0);
    CHECK(classifier_has(classifier, OUTCOME_LOCAL) && !classifier_has(classifier, OUTCOME_STRONG));
    struct verdict verdict = judge(classifier, "yes good 7");
    CHECK(isnan(verdict.p_strong) && verdict.task == SIZE_MAX);
    CHECK(verdict.gain == 1 - verdict.p_local); /* the most that a strong tier can gain */
    CHECK(verdict.p_local > judge(classifier, "no bad 7").p_local);
    classifier_close(classifier);
    buf_deinit(&lines);
}

static void test_broken_lines_are_refused_with_number_and_reason(void)
{
    static const struct {
        const char *lines, *wanted;
    } cases[] = {
        {"{\"text\":\"a\"}\n\n{\"text\":\"b\"", "line 3: "},
        {"[1]\n", "line 1: not an object"},
        {"{\"texts\":\"a\"}\n", "line 1: no \"text\""},
        {"{\"text\":7}\n", "line 1: no \"text\""},
        {"{\"text\":\"a\",\"local_ok\":\"yes\"}", "line 1: \"local_ok\" is neither"},
        {"{\"text\":\"a\",\"strong_ok\":1.5}", "line 1: \"strong_ok\" is neither"},
        {"{\"text\":\"a\",\"task\":3}", "line 1: \"task\" is no name"},
        {"{\"text\":\"a\",\"task\":\"a name that is longer than the file has room for\"}",
         "line 1: \"task\" is no name"},
        {"{\"text\":\"a\",\"text\":\"b\"}", "line 1: "},
        {"\n \n", "no lines to train on"},
        {"{\"text\":\"a\",\"local_ok\":true}", "1 lines have a label, at least"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        struct train_report report;
        CHECK(train(cases[i].lines, 1, &report, &err) == TD_INVALID);
        CHECK(strstr(err.message, cases[i].wanted) != NULL);
        if (!strstr(err.message, cases[i].wanted))
            fprintf(stderr, "'%s' without '%s'\n", err.message, cases[i].wanted);
    }
}

static void test_too_many_tasks_are_refused(void)
{
    struct buf lines;
    struct td_error err = {0};
    struct train_report report;
    buf_init(&lines, 1 << 20);
    for (int i = 0; i <= CLASSIFIER_TASKS_MAX; i++)
        buf_printf(&lines, "{\"text\":\"a\",\"task\":\"t%d\"}\n", i);
    CHECK(train(lines.data, 1, &report, &err) == TD_INVALID &&
          strstr(err.message, "line 61: more than 60") != NULL);
    buf_deinit(&lines);
}

/* --- files --- */

static struct buf file;

static bool read_file(void)
{
    struct classifier *classifier = train_and_open(1);
    buf_init(&file, CLASSIFIER_BYTES_MAX);
    bool good = classifier && buf_read_file(&file, path, NULL) == TD_OK;
    classifier_close(classifier);
    return good;
}

static bool refused(struct buf *data, const char *wanted)
{
    struct classifier *classifier = NULL;
    struct td_error err = {0};
    bool right = classifier_read(data->data, data->len, &classifier, &err) == TD_INVALID &&
                 strstr(err.message, wanted);
    if (!right)
        fprintf(stderr, "'%s' without '%s'\n", err.message, wanted);
    classifier_close(classifier);
    return right;
}

static void set_hash(struct buf *data)
{
    uint64_t hash =
        hash_words64(data->data + CLASSIFIER_HASHED_FROM, data->len - CLASSIFIER_HASHED_FROM);
    memcpy(data->data + 16, &hash, sizeof hash);
}

static void change(struct buf *data, size_t at, uint32_t value)
{
    memcpy(data->data + at, &value, sizeof value);
    set_hash(data);
}

static void test_a_file_of_another_version_is_refused(void)
{
    REQUIRE(read_file());
    change(&file, 8, CLASSIFIER_VERSION + 1);
    CHECK(refused(&file, "format version 3, this program reads 2"));
    change(&file, 8, CLASSIFIER_VERSION);
    change(&file, 12, FEATURES_VERSION + 1);
    CHECK(refused(&file, "features of version 2"));
    buf_deinit(&file);
}

static void test_a_damaged_file_is_refused(void)
{
    REQUIRE(read_file());
    size_t len = file.len;
    file.len = len - 1;
    CHECK(refused(&file, "it is cut"));
    file.len = 63;
    CHECK(refused(&file, "between 64 and"));
    file.len = len;
    file.data[len - 5] ^= 1;
    CHECK(refused(&file, "do not have the hash"));
    file.data[len - 5] ^= 1;
    static const uint32_t bad[] = {0, 7, 19, 255, UINT32_MAX};
    for (size_t field = 24; field <= 36; field += 4) {
        uint32_t old;
        memcpy(&old, file.data + field, sizeof old);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            change(&file, field, bad[i]);
            CHECK(refused(&file, "header"));
        }
        change(&file, field, old);
    }
    change(&file, 64, 0x7FC00000); /* NaN */
    CHECK(refused(&file, "no number"));
    file.data[0] = 'X';
    CHECK(refused(&file, "not a router classifier"));
    buf_deinit(&file);
}

static void test_what_is_no_file_is_refused(void)
{
    struct classifier *classifier = NULL;
    struct td_error err = {0};
    CHECK(classifier_open("/nonexistent/x.tdr", &classifier, &err) == TD_NOT_FOUND);
    err = (struct td_error){0};
    CHECK(classifier_open("/", &classifier, &err) == TD_INVALID &&
          strstr(err.message, "no regular file"));
    CHECK(classifier == NULL);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/test_classifier_%d.tdr", (int)getpid());
    RUN(test_what_was_learnt_is_told_of_new_texts);
    RUN(test_words_at_an_end_do_not_decide_alone);
    RUN(test_text_without_blanks_is_cut_between_characters);
    RUN(test_probabilities_are_calibrated);
    RUN(test_a_seed_gives_the_same_file);
    RUN(test_labels_may_be_any_subset);
    RUN(test_broken_lines_are_refused_with_number_and_reason);
    RUN(test_too_many_tasks_are_refused);
    RUN(test_a_file_of_another_version_is_refused);
    RUN(test_a_damaged_file_is_refused);
    RUN(test_what_is_no_file_is_refused);
    unlink(path);
    return test_finish();
}
