#include "app/setup/model/model_version.h"

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

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
