#include "test.h"

#include "app/cli/options.h"
#include "tandem/engine.h"

struct values {
    const char *text, *rest[2];
    bool flag;
    uint32_t number;
    double real, share;
    uint64_t seed;
    enum td_cpu cpu;
    size_t rest_count;
};

static enum options_outcome run(struct values *values, const char *const *arguments)
{
    const struct option options[] = {
        {"text", 'm', OPTION_TEXT, &values->text, "FILE", "a text", 0, 0},
        {"flag", 0, OPTION_FLAG, &values->flag, NULL, "a flag", 0, 0},
        {"number", 'n', OPTION_UINT, &values->number, "N", "a number", 1, 100},
        {"real", 0, OPTION_NUMBER, &values->real, "R", "a real", 0, 2},
        {"share", 0, OPTION_NUMBER, &values->share, "S", "a share", 0, 1},
        {"seed", 0, OPTION_U64, &values->seed, "N", "a seed", 0, 0},
        OPTION_ROW_CPU(values->cpu),
    };
    const struct option_spec spec = {.verb = "verb",
                                     .arguments = "[X]",
                                     .summary = "Tests.",
                                     OPTION_TABLE(options),
                                     .positional_max = 2};
    char storage[12][32], *argv[12];
    int argc = 1;
    argv[0] = storage[0];
    snprintf(storage[0], sizeof storage[0], "verb");
    for (; arguments[argc - 1]; argc++) {
        snprintf(storage[argc], sizeof storage[argc], "%s", arguments[argc - 1]);
        argv[argc] = storage[argc];
    }
    enum options_outcome outcome =
        options_parse(&spec, argc, argv, values->rest, &values->rest_count);
    values->text = values->text ? "given" : NULL; /* points into this frame */
    return outcome;
}

#define RUN_OPTIONS(values, ...) run(values, (const char *const[]){__VA_ARGS__, NULL})

static void test_long_and_short_forms_take_values(void)
{
    struct values values = {.number = 1};
    CHECK(RUN_OPTIONS(&values, "-m", "f", "--flag", "--number=7", "--real", "0.5", "--seed",
                      "18446744073709551615", "--cpu=ref", "pos") == OPTIONS_RUN);
    CHECK(values.text && values.flag && values.number == 7 && values.real == 0.5);
    CHECK(values.seed == UINT64_MAX && values.cpu == TD_CPU_REF && values.rest_count == 1);
    struct values attached = {0};
    CHECK(RUN_OPTIONS(&attached, "-n42") == OPTIONS_RUN);
    CHECK(attached.number == 42);
}

static void test_a_share_may_be_a_percentage(void)
{
    struct values values = {0};
    CHECK(RUN_OPTIONS(&values, "--share", "5%") == OPTIONS_RUN);
    CHECK(values.share == 0.05);
    CHECK(RUN_OPTIONS(&values, "--share=100%") == OPTIONS_RUN);
    CHECK(values.share == 1);
    CHECK(RUN_OPTIONS(&values, "--share", ".5") == OPTIONS_RUN);
    CHECK(values.share == 0.5);
    CHECK(RUN_OPTIONS(&values, "--share", "101%") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--share", "5") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--share", "%") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--share", "5%%") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--real", "5%") == OPTIONS_USAGE);
}

static void test_mistakes_are_usage_errors(void)
{
    struct values values = {0};
    CHECK(RUN_OPTIONS(&values, "--flga") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--flag=1") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-x") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-n") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-n", "0") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-n", "101") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-n", "-5") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "-n", "x") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--real", "nan") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--real", "3") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "--cpu=vax") == OPTIONS_USAGE);
    CHECK(RUN_OPTIONS(&values, "a", "b", "c") == OPTIONS_USAGE);
}

static void test_help_and_the_end_of_options(void)
{
    struct values values = {0};
    CHECK(RUN_OPTIONS(&values, "--help") == OPTIONS_HELP);
    CHECK(RUN_OPTIONS(&values, "--flag", "-h") == OPTIONS_HELP);
    CHECK(RUN_OPTIONS(&values, "--", "--flag", "-h") == OPTIONS_RUN);
    CHECK(values.rest_count == 2);
    CHECK(RUN_OPTIONS(&values, "-") == OPTIONS_RUN); /* a lone dash is standard input */
    CHECK(values.rest_count == 1);
}

int main(void)
{
    RUN(test_long_and_short_forms_take_values);
    RUN(test_a_share_may_be_a_percentage);
    RUN(test_mistakes_are_usage_errors);
    RUN(test_help_and_the_end_of_options);
    return test_finish();
}
