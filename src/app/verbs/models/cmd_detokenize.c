/* tandem detokenize: the exact bytes of token ids. It opens only the tokenizer, so that a file
 * with a vocabulary and no weights is enough. */
#define HELP_OF 50
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/model/model_file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer.h"

#include <stdlib.h>

#define TEXT_BYTES_MAX (1u << 30)

static enum td_status decode(const struct tokenizer *tokenizer, struct td_str text, bool special,
                             struct buf *out, struct td_error *err)
{
    int32_t *ids = NULL;
    size_t count = 0;
    enum td_status status = command_parse_ids(text, &ids, &count, err);
    for (size_t i = 0; i < count && status == TD_OK; i++)
        if ((uint32_t)ids[i] >= tokenizer_count(tokenizer))
            status = error_set(err, TD_INVALID, "id %d is outside the vocabulary of %u tokens",
                               ids[i], tokenizer_count(tokenizer));
    if (status == TD_OK)
        tokenizer_decode(tokenizer, ids, count, special, out);
    if (status == TD_OK && out->failed)
        status = error_set(err, TD_LIMIT, "the text is larger than %u bytes", TEXT_BYTES_MAX);
    free(ids);
    return status;
}

static int cmd_detokenize(int argc, char **argv)
{
    const char *model_path = NULL, *id_text = NULL;
    bool special = false, json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    struct option_each ids_option = {command_take_ids, &id_text, COMMAND_IDS_NEEDED};
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"ids", 0, OPTION_EACH, &ids_option, "1,2,3", HELP_TEXT("the ids; default: standard input"),
         0, 0},
        {"special", 0, OPTION_FLAG, &special, NULL, HELP_TEXT("print special tokens as their text"),
         0, 0},
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "detokenize",
        .arguments = "< IDS",
        .summary = HELP_TEXT(
            "Turns token ids into text, byte for byte, without adding a line end. The ids "
            "are decimal, with spaces, commas or JSON brackets between them."),
        .json = HELP_TEXT("One string."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);

    struct td_error err = {0};
    char path[4096];
    struct gguf *gguf = NULL;
    struct tokenizer *tokenizer = NULL;
    struct buf input = {0}, out;
    bool printed = true;
    buf_init(&out, TEXT_BYTES_MAX);
    enum td_status status = model_file_find(model_path, NULL, path, sizeof path, &err);
    if (status == TD_OK)
        status = gguf_open(path, true, &gguf, &err);
    if (status == TD_OK)
        status = tokenizer_open(gguf, &tokenizer, &err);
    if (status == TD_OK && !id_text)
        status = command_read_all(NULL, &input, &err);
    if (status == TD_OK)
        status =
            decode(tokenizer, id_text ? str_from(id_text) : buf_view(&input), special, &out, &err);
    if (status == TD_OK)
        printed = json ? command_print_json(json_new_text(buf_view(&out)))
                       : command_print(buf_view(&out));
    buf_deinit(&out);
    buf_deinit(&input);
    tokenizer_close(tokenizer);
    gguf_close(gguf);
    return status == TD_OK ? !printed : command_fail("detokenize", &err);
}

const struct verb verb_detokenize = {"detokenize", cmd_detokenize,
                                     HELP_TEXT("turn token ids into text")};
