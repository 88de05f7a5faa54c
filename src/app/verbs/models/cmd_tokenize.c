/* tandem tokenize: a text as token ids. */
#define HELP_OF 58
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>

static bool print_ids(const int32_t *ids, size_t count, bool json)
{
    bool ok = true;
    if (json)
        putchar('[');
    for (size_t i = 0; i < count; i++)
        ok = printf("%s%d", i ? (json ? "," : " ") : "", ids[i]) > 0 && ok;
    ok = fputs(json ? "]\n" : "\n", stdout) >= 0 && ok;
    return fflush(stdout) == 0 && ok;
}

static int cmd_tokenize(int argc, char **argv)
{
    const char *model_path = NULL, *text = NULL;
    bool no_bos = false, no_special = false, json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"prompt", 'p', OPTION_TEXT, &text, "TEXT", HELP_TEXT("the text; default: standard input"),
         0, 0},
        {"no-bos", 0, OPTION_FLAG, &no_bos, NULL,
         HELP_TEXT("do not add the tokens that begin and end a text (BOS, EOS)"), 0, 0},
        {"no-special", 0, OPTION_FLAG, &no_special, NULL,
         HELP_TEXT("read the text of special tokens as plain text"), 0, 0},
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "tokenize",
        .arguments = "< TEXT",
        .summary = HELP_TEXT(
            "Turns standard input, byte for byte, into token ids. A GGUF file with only a "
            "vocabulary is enough."),
        .json = HELP_TEXT("One array of numbers."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);

    struct td_error err = {0};
    struct td_model *model = NULL;
    struct buf input = {0};
    int32_t *ids = NULL;
    size_t count = 0;
    bool printed = true;
    enum td_status status = command_open_model(model_path, cpu, true, &model, &err);
    if (status == TD_OK && !text)
        status = command_read_all(NULL, &input, &err);
    if (status == TD_OK)
        status = command_tokenize(model, text ? str_from(text) : buf_view(&input), !no_bos,
                                  !no_special, &ids, &count, &err);
    if (status == TD_OK)
        printed = print_ids(ids, count, json);
    free(ids);
    buf_deinit(&input);
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("tokenize", &err);
}

const struct verb verb_tokenize = {"tokenize", cmd_tokenize, HELP_TEXT("turn text into token ids")};
