/* Any metadata as the heads of a small model. Input: the number of pairs (1 byte), then the pairs
 * as in a file. They are refused with words, or everything that the heads point to can be read. */
#include "../unit/engine/tiny_model.h"

#include "engine/model/heads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double sum_of(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum;
}

static double walk(const struct td_model *model)
{
    static float hidden[TINY_WIDE];
    static double mean[PROBE_WIDTH_MAX];
    const struct heads *heads = model->heads;
    double sum = 0;
    for (uint32_t i = 0; heads && i < heads->exit_count; i++) {
        const struct exit_head *head = &heads->exits[i];
        const uint8_t *bytes = head->output.data;
        if (head->layer == 0 || head->layer >= model->layer_count ||
            heads_exit_at(model, head->layer) != head)
            abort();
        sum += sum_of(head->norm, TINY_WIDE) + bytes[0] +
               bytes[(size_t)head->output.rows * head->output.row_bytes - 1];
    }
    if (heads && heads->probe.stage_count) {
        float probability = probe_evaluate(&heads->probe, hidden, mean);
        if (!(probability >= 0 && probability <= 1))
            abort();
        sum += (double)probability + heads_kept_width(model);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct td_model *tiny;
    static volatile double sink;
    if (tiny == NULL && (tiny = tiny_model(1)) == NULL)
        abort();
    if (size < 1)
        return 0;
    struct buf file;
    buf_init(&file, 1 << 24);
    buf_append(&file, "GGUF", 4);
    builder_put_u32(&file, 3);
    builder_put_u64(&file, 0);
    builder_put_u64(&file, data[0]);
    buf_append(&file, data + 1, size - 1);
    struct td_model model = *tiny;
    struct td_error err = {0};
    model.heads = NULL;
    if (gguf_open_memory(file.data, file.len, "fuzz", false, &model.gguf, &err) == TD_OK) {
        enum td_status status = heads_load(&model, &err);
        if (status == TD_OK)
            sink = sink + walk(&model);
        else if (err.message[0] == '\0')
            abort();
        heads_free(model.heads);
        gguf_close(model.gguf);
    }
    buf_deinit(&file);
    return 0;
}
