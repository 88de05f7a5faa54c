/* tandem calibrate: measures what a model's confidence in its answers is worth, for the gates of
 * servers that run it (docs/thresholds.md). */
#define HELP_OF 48
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/calibrate.h"
#include "router/judge/second_signal.h"

static int cmd_calibrate(int argc, char **argv)
{
    struct calibrate_options calibrate = {
        .tokens_max = CALIBRATE_TOKENS, .seed = 1, .cpu = TD_CPU_AUTO, .cancel = &interrupted};
    const struct option options[] = {
        OPTION_ROW_MODEL(calibrate.model),
        OPTION_ROW_CONFIG(calibrate.config),
        {"tokens", 'n', OPTION_UINT, &calibrate.tokens_max, "N",
         HELP_TEXT("most tokens of an answer; default 48"), 1, 65536},
        {"judged", 0, OPTION_TEXT, &calibrate.judged, "FILE.jsonl",
         HELP_TEXT(
             "also write each question with \"right\": true or false, for 'tandem probe train'"),
         0, 0},
        {"p-true", 0, OPTION_FLAG, &calibrate.p_true, NULL,
         HELP_TEXT("also measure what it is worth to ask the model whether its answer is right "
                   "(gates.g3.second)"),
         0, 0},
        {"agreement", 0, OPTION_UINT, &calibrate.agreement, "K",
         HELP_TEXT("the same of K further short samples"), 1, SECOND_SAMPLES_MAX},
        {"seed", 0, OPTION_U64, &calibrate.seed, "S",
         HELP_TEXT("seed of the division into halves and folds; default 1"), 0, 0},
        OPTION_ROW_THREADS(calibrate.threads),
        OPTION_ROW_CPU(calibrate.cpu),
        OPTION_ROW_JSON(calibrate.json),
    };
    const struct option_spec spec = {
        .verb = "calibrate",
        .arguments = "[FILE.jsonl]",
        .summary = HELP_TEXT(
            "Asks a model questions whose right answers are known, fits how likely an answer with "
            "given token probabilities is right, and finds the thresholds with which at most 2, 5 "
            "and 10 % of all questions are kept and wrong. Half of the questions is held out and "
            "measures what came of it. The result goes into the state folder, where servers find "
            "it for this very model; gates.risk of a route chooses the threshold.\n"
            "Without FILE.jsonl it asks the questions that came with the program. A line of a file "
            "of yours: {\"prompt\" or \"messages\"} with \"answer\", and \"check\": number, words "
            "or pattern (docs/thresholds.md). It needs at least 120 lines, of which 40 are "
            "answered rightly and 40 wrongly."),
        .example = HELP_TEXT("  tandem calibrate -m model.gguf"),
        .json = HELP_TEXT(
            "{model, quantization, questions, right, held_out, risks, said_and_right, auroc, "
            "second, "
            "tokens, seconds, file}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &calibrate.questions, NULL);
    interrupt_watch();
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = calibrate_run(&calibrate, &printed, &err);
    return status == TD_OK ? !printed : command_fail("calibrate", &err);
}

const struct verb verb_calibrate = {"calibrate", cmd_calibrate,
                                    HELP_TEXT("measure what a model's confidence is worth")};
