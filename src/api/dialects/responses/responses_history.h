/* What a request of /v1/responses goes on from: previous_response_id, conversation, and items that
 * stand for others. What they name is put before the request's own items, and then the whole is
 * read like any other request: it is scanned, classified and limited as if the client had sent it.
 *
 * Names that the caller has nothing of are not found, whoever else may have it. No thread state. */
#ifndef API_RESPONSES_HISTORY_H
#define API_RESPONSES_HISTORY_H

#include "api/history/turn.h"
#include "api/http/api_internal.h"
#include "api/http/fault.h"
#include "base/json/json.h"

/* Whose history, and how much of it may stand before a request. */
struct responses_history {
    struct history *history; /* NULL = nothing is kept */
    const char *caller;
    size_t bytes_max;
    const uint8_t *key; /* of compactions (responses_compact.h); NULL = there are none */
};

/* What the server has of whoever asks now. */
struct responses_history responses_history_of(const struct api *api);

/* Reads `asked` into *turn, which has to be freed with responses_history_deinit. **returns new**
 * *whole (json_free), or NULL where it would be the same: the body with all items in `input`.
 * *earlier: how many of them are not the request's own. False with the fault. */
bool responses_history_read(const struct responses_history *from, const struct json *asked,
                            struct history_turn *turn, struct json **whole, size_t *earlier,
                            struct fault *fault);
void responses_history_deinit(struct history_turn *turn);

/* The items of a response or conversation as they are shown, oldest first; of a response with those
 * of earlier ones and without its answer. False: there is none of that id, or it is not whole any
 * more. **returns new** *out (json_free). */
bool responses_history_show(const struct responses_history *from, struct td_str id,
                            struct json **out);
/* The texts of items[], which stand at `place`, with what references stand for. **returns new**
 * (history_text_free), or NULL with the fault. */
struct history_text *responses_history_copy(const struct responses_history *from,
                                            const struct json *items, const char *place,
                                            struct history_class *data_class, struct fault *fault);

#endif
