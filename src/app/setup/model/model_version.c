#include "app/setup/model/model_version.h"

#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json_writer.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/record/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void model_version_make(const struct model_version_parts *parts, struct model_version *out)
{
    const struct confidence_binding *model = parts->identity;
    struct json_writer writer;
    struct buf text;
    *out = (struct model_version){.id = ""};
    buf_init(&text, MODEL_VERSION_TEXT_BYTES - 1);
    json_writer_begin(&writer, &text);
    json_writer_open(&writer, NULL, '{');
    json_writer_text(&writer, "model", model->model);
    json_writer_text(&writer, "quantization", model->quantization);
    json_writer_text(&writer, "fingerprint", model->fingerprint);
    json_writer_text(&writer, "weights", model->weights);
    json_writer_text(&writer, "template", model->template);
    json_writer_text(&writer, "tokenizer", model->tokenizer);
    json_writer_text(&writer, "tools", parts->tools ? parts->tools->weights : NULL);
    json_writer_open(&writer, "adapters", '[');
    for (size_t i = 0; i < parts->adapter_count; i++)
        json_writer_text(&writer, NULL, parts->adapters[i]);
    json_writer_close(&writer, ']');
    json_writer_text(&writer, "calibration", parts->calibration);
    json_writer_close(&writer, '}');
    if (!text.failed) {
        snprintf(out->text, sizeof out->text, STR_FMT, STR_ARG(buf_view(&text)));
        snprintf(out->id, sizeof out->id, "%016" PRIx64,
                 hash_fnv1a64(text.data, text.len, HASH_FNV1A64_BASIS));
    }
    buf_deinit(&text);
}

static bool has_version(struct model_version *const *versions, size_t count, const char *id)
{
    for (size_t i = 0; versions && i < count; i++)
        if (versions[i] && strcmp(versions[i]->id, id) == 0)
            return true;
    return false;
}

void model_versions_record(struct ledger *ledger, struct model_version *const *now,
                           struct model_version *const *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct model_version *version = now[i];
        struct td_error err = {0};
        if (!version || !*version->id || has_version(before, count, version->id))
            continue;
        const struct ledger_policy row = {
            .version = version->id, .wall_ms = clock_wall_ms(NULL), .text = version->text};
        if (ledger_put_model(ledger, &row, &err) != TD_OK)
            log_event(LOG_LEVEL_WARN, "model_not_recorded", "version=%s error=\"%s\"", version->id,
                      err.message);
    }
}
