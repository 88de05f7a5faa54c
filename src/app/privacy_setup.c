#include "app/privacy_setup.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "privacy/rules.h"

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

enum td_status privacy_setup_read(const struct config *config, struct privacy_rules **out,
                                  struct td_error *err)
{
    struct td_error cause = {0};
    enum td_status status = TD_OK;
    uint32_t line = 0;
    *out = privacy_rules_new();
    if (*out == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for the privacy rules");
    for (size_t i = 0; i < config->privacy.pattern_count && status == TD_OK; i++) {
        const struct config_pattern *pattern = &config->privacy.patterns[i];
        line = pattern->line;
        status = privacy_rules_add_pattern(*out, pattern->name, pattern->regex,
                                           (enum td_data_class)pattern->data_class, pattern->score,
                                           &cause);
    }
    for (size_t i = 0; i < config->privacy.words_count && status == TD_OK; i++) {
        line = config->privacy.words[i].line;
        status = add_words(*out, &config->privacy.words[i], &cause);
    }
    if (status == TD_OK)
        return TD_OK;
    privacy_rules_free(*out);
    *out = NULL;
    return error_set(err, status, "%s:%u: %s", config->label, line, cause.message);
}

enum td_status privacy_setup(const struct config *config, struct td_error *err)
{
    struct privacy_rules *rules;
    enum td_status status = privacy_setup_read(config, &rules, err);
    if (status == TD_OK)
        privacy_rules_install(rules);
    return status;
}

enum td_status privacy_setup_file(const char *path, struct td_error *err)
{
    struct config *config;
    enum td_status status = config_load(path, NULL, NULL, &config, err);
    if (status != TD_OK)
        return status;
    status = privacy_setup(config, err);
    config_free(config);
    return status;
}
