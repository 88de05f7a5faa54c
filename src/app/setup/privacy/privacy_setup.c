/* Reads the files that the privacy section names (word lists, names.bin) and makes a scanner.
 *
 * Everything is read before the scanner exists: a scanner never changes, so a reload makes another
 * one and a broken file leaves the old one in use. A missing names.bin is an error and not a scan
 * without names, because nobody would notice that fewer values are found. */
#include "app/setup/privacy/privacy_setup.h"

#include "app/setup/model/model_file.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"

#define WORDS_BYTES_MAX ((size_t)64 << 20)

/* A list in the configuration is the same as a file with an entry a line. */
static enum td_status words_bytes(const struct config_words *words, struct buf *out,
                                  struct td_error *err)
{
    if ((words->file != NULL) == (words->list.count > 0))
        return error_set(err, TD_INVALID, "word list \"%s\" needs a file or a list, and not both",
                         words->name);
    if (words->file != NULL)
        return buf_read_file(out, words->file, err);
    for (size_t i = 0; i < words->list.count; i++) {
        buf_append_str(out, str_from(words->list.items[i]));
        buf_append_char(out, '\n');
    }
    return out->failed ? error_set(err, TD_LIMIT, "word list \"%s\" is too large", words->name)
                       : TD_OK;
}

static enum td_status add_words(struct privacy_rules *rules, const struct config_words *words,
                                struct td_error *err)
{
    struct buf bytes;
    buf_init(&bytes, WORDS_BYTES_MAX);
    enum td_status status = words_bytes(words, &bytes, err);
    if (status == TD_OK)
        status = privacy_rules_add_words(rules, words->name, buf_view(&bytes),
                                         (enum td_data_class)words->data_class, err);
    buf_deinit(&bytes);
    return status;
}

static enum td_status read_rules(const struct config *config, struct privacy_rules *rules,
                                 struct td_error *err)
{
    struct td_error cause = {0};
    enum td_status status = TD_OK;
    uint32_t line = 0;
    for (size_t i = 0; i < config->privacy.pattern_count && status == TD_OK; i++) {
        const struct config_pattern *pattern = &config->privacy.patterns[i];
        line = pattern->line;
        status = privacy_rules_add_pattern(rules, pattern->name, pattern->regex,
                                           (enum td_data_class)pattern->data_class, pattern->score,
                                           &cause);
    }
    for (size_t i = 0; i < config->privacy.words_count && status == TD_OK; i++) {
        line = config->privacy.words[i].line;
        status = add_words(rules, &config->privacy.words[i], &cause);
    }
    return status == TD_OK
               ? TD_OK
               : error_set(err, status, "%s:%u: %s", config->label, line, cause.message);
}

/* From the executable's folder: installed; build/tandem; build/src/app/tandem;
 * build/tests/unit/app. */
static const char *const beside[] = {
    "../share/tandem/names.bin",
    "../models/names/names.bin",
    "../../../models/names/names.bin",
    "../../../../models/names/names.bin",
};

static enum td_status read_names(const struct config *config, struct privacy_scanner_parts *parts,
                                 struct td_error *err)
{
    char found[4096];
    const char *file = config->privacy.names.file;
    if (!config->privacy.names.on)
        return TD_OK;
    parts->name_min_score = (float)config->privacy.names.min_score;
    parts->name_class = (enum td_data_class)config->privacy.names.data_class;
    parts->guesses_aside[READING_SYSTEM] =
        config->privacy.instructions.system == CONFIG_COUNTED_WITHOUT_NAMES;
    parts->guesses_aside[READING_TOOLS] =
        config->privacy.instructions.tools == CONFIG_COUNTED_WITHOUT_NAMES;
    enum td_status status = TD_OK;
    if (file == NULL) {
        file = found;
        if (!model_file_beside(beside, sizeof beside / sizeof *beside, found, sizeof found))
            status = error_set(err, TD_NOT_FOUND,
                               "names.bin is neither in ../share/tandem beside the program nor in "
                               "a source tree; name it with privacy.names.file");
    }
    if (status == TD_OK)
        status = tagger_open(file, &parts->tagger, err);
    if (status != TD_OK)
        error_prefix(err, "privacy.names is on");
    return status;
}

enum td_status privacy_setup(const struct config *config, struct privacy_scanner **out,
                             struct td_error *err)
{
    struct privacy_scanner_parts parts = {.rules = privacy_rules_new()};
    if (parts.rules == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the privacy rules");
    enum td_status status = read_rules(config, parts.rules, err);
    if (status == TD_OK)
        status = read_names(config, &parts, err);
    if (status != TD_OK) {
        privacy_rules_free(parts.rules);
        tagger_close(parts.tagger);
        return status;
    }
    struct privacy_scanner *scanner = privacy_scanner_new(&parts);
    if (scanner == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the privacy rules");
    *out = scanner;
    return TD_OK;
}

enum td_status privacy_setup_file(const char *path, struct privacy_scanner **out,
                                  struct td_error *err)
{
    struct config *config;
    enum td_status status = config_load(path, &config, err);
    if (status != TD_OK)
        return status;
    status = privacy_setup(config, out, err);
    config_free(config);
    return status;
}
