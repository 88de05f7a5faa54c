/* Any changes to the metadata and the directory of a small model of any architecture. Input: the
 * architecture (1 byte), then changes of 3 bytes: where (little-endian) and the new byte. The file
 * is refused with words, or the model runs. */
#include "../unit/engine/architecture_model.h"

#include "engine/session/session.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Behind the architecture's own keys, which are first, is the vocabulary. */
enum { KEYS_BYTES = 1024, CONTEXT = 64, IDS = 5, COUNT = 14 };

static void run(struct td_model *model)
{
    static const int32_t ids[IDS] = {5, 6, 7, 8, 9};
    static float logits[IDS * TINY_VOCAB];
    struct td_session *session = NULL;
    const struct td_session_options options = {.context_tokens = CONTEXT, .thread_count = 1};
    if (td_model_get_info(model)->vocab_count != TINY_VOCAB)
        return;
    if (td_session_new(model, &options, &session, NULL) == TD_OK) {
        (void)td_session_forward(session, ids, IDS, logits, IDS, NULL);
        td_session_truncate(session, 2);
        (void)td_session_forward(session, ids, 1, logits, 1, NULL);
    }
    td_session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[COUNT] = {
        "llama", "gemma3",  "gpt-oss", "granitemoe", "phi3",          "olmo2",      "stablelm",
        "lfm2",  "openelm", "deci",    "lfm2moe",    "granitehybrid", "nemotron_h", "gemma4"};
    static struct buf files[COUNT];
    static size_t directories[COUNT];
    struct td_error err = {0};
    if (size == 0)
        return 0;
    size_t which = data[0] % COUNT, directory;
    if (files[which].len == 0) {
        struct spec spec = usual_spec(names[which]);
        directories[which] = build(&spec, &files[which]);
    }
    directory = directories[which];
    struct buf file;
    buf_init(&file, 1 << 24);
    buf_append(&file, files[which].data, files[which].len);
    for (size_t at = 1; at + 3 <= size; at += 3) {
        size_t where = (size_t)(data[at] | data[at + 1] << 8) % (2 * KEYS_BYTES);
        where = where < KEYS_BYTES ? where + 24 : where - KEYS_BYTES + directory;
        if (where < file.len)
            file.data[where] = (char)data[at + 2];
    }
    struct td_model *model = tiny_open(&file, NULL, &err);
    if (model)
        run(model);
    else if (err.message[0] == '\0')
        abort();
    td_model_close(model);
    buf_deinit(&file);
    return 0;
}
