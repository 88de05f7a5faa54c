/* A request, for an answer or for vectors, and the pieces of what comes back, as the bytes between a server and its confined worker, which
 * are two processes of one program: plain structs go as they lie in memory. What comes from the worker
 * is checked as if it were an enemy's. */
#ifndef TIER_SANDBOX_WIRE_H
#define TIER_SANDBOX_WIRE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "engine/embedding/embedding_service.h"
#include "request/request.h"
#include "tier/tier.h"

/* The text of a request, its tokens and its members: each may be as large as a server lets a body
 * be. */
#define SANDBOX_REQUEST_BYTES_MAX (256u << 20)
#define SANDBOX_FRAME_BYTES_MAX (8u << 20)
/* Of vectors in one frame. */
#define SANDBOX_FLOATS_MAX (256u << 10)

/* Members of a request that the worker reads: the messages with their calls, and the tools. */
#define SANDBOX_MEMBERS 2

/* A request and what it points to: not to be moved. */
struct sandbox_request {
    /* Texts to embed; NULL: it is a request for an answer, which has the members from `tier` on. */
    struct embedding_input *inputs; /* [input_count] */
    size_t input_count;
    const char *caller; /* of an embedding */
    const char *tier;
    struct td_request request; /* without grammar */
    struct td_completion completion;
    struct request_member members[SANDBOX_MEMBERS];
    struct json *values[SANDBOX_MEMBERS], *schema;
    struct arena *arena;
};

/* out->failed when it does not fit. */
void sandbox_write_request(const char *tier, const struct td_request *request, struct buf *out);
/* loop and callbacks stay here. */
void sandbox_write_embedding(const struct embedding_request *request, struct buf *out);
/* TD_CORRUPT. Fills *out (sandbox_request_deinit, also after a failure). */
TD_MUST_CHECK enum td_status sandbox_read_request(struct td_str bytes, struct sandbox_request *out,
                                                  struct td_error *err);
void sandbox_request_deinit(struct sandbox_request *request);

/* Frames: length (4 bytes, of what follows), kind (1 byte), content. */
enum sandbox_frame_kind { SANDBOX_PIECE = 1, SANDBOX_DONE, SANDBOX_VECTORS };

void sandbox_write_piece(const struct tier_piece *piece, struct buf *out);
/* In as many frames as it takes. */
void sandbox_write_vectors(const float *floats, size_t count, struct buf *out);
void sandbox_write_done(const struct tier_result *result, struct buf *out);

struct sandbox_frame {
    enum sandbox_frame_kind kind;
    struct tier_piece piece; /* its texts point into the bytes read */
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
    struct json *delta; /* piece.raw_delta (sandbox_frame_deinit) */
    struct tier_result result;
    struct td_str floats; /* VECTORS: whole floats, not aligned; in the bytes read */
};

/* Reads the first frame of the bytes and tells how long it was; *used 0: there is no whole one yet.
 * TD_CORRUPT. */
TD_MUST_CHECK enum td_status sandbox_read_frame(struct td_str bytes, size_t *used,
                                                struct sandbox_frame *out, struct td_error *err);
void sandbox_frame_deinit(struct sandbox_frame *frame);

#endif
