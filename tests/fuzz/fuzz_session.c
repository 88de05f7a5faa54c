/* Any bytes as a saved session of a tiny model, whose layers all have attention, or some of whose
 * layers are short convolutions or Mamba-2 layers. They are refused with words and without a
 * change, or restored, and then the session can run and be saved again. The first byte says how
 * long the session is and whether length and checksum are corrected, so that the code after these
 * checks is reached. */
#include "../unit/engine/architecture_model.h"
#include "engine/session/session.h"
#include "engine/session/session_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void save_again(const struct td_session *session)
{
    size_t bytes, count = td_session_length(session);
    uint8_t *out = malloc((size_t)session_file_bytes(&session->sequence, 0, (uint32_t)count));
    if (out == NULL)
        abort();
    bytes = (size_t)session_file_bytes(&session->sequence, 0, (uint32_t)count);
    if (td_session_export(session, 0, (uint32_t)count, out, bytes, &bytes, NULL) != TD_OK)
        abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct td_session *sessions[3];
    static const int32_t begin[] = {5, 6, 7};
    struct td_error err = {0};
    int kind = size == 0 ? 0 : data[0] & 8 ? 2 : data[0] >> 2 & 1;
    struct td_session *session = sessions[kind];
    if (session == NULL) {
        const struct td_session_options options = {.context_tokens = 100, .thread_count = 1};
        struct spec spec = usual_spec(kind == 2 ? "granitehybrid" : "lfm2");
        const struct td_model *model = kind ? make(&spec, TD_CPU_AUTO, &err) : tiny_model(1);
        if (model == NULL || td_session_new(model, &options, &session, &err) != TD_OK)
            abort();
        sessions[kind] = session;
    }
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size); /* exact, and sealing writes */
    if (copy == NULL)
        abort();
    memcpy(copy, data + 1, size - 1);
    if ((data[0] & 1) && size > SESSION_FILE_HEADER_BYTES)
        session_file_seal(copy, size - 1);
    td_session_truncate(session, 0);
    uint32_t length = data[0] & 2 ? 3 : 0;
    if (td_session_forward(session, begin, length, NULL, 0, &err) != TD_OK)
        abort();
    enum td_status status = td_session_import(session, copy, size - 1, &err);
    if (status == TD_OK) {
        (void)td_session_forward(session, begin, 1, NULL, 0, &err);
        save_again(session);
    } else if (err.message[0] == '\0' || td_session_length(session) != length) {
        abort();
    }
    free(copy);
    return 0;
}
