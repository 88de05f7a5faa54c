/* A request (for an answer or for vectors) and the frames of its result, as bytes between a server
 * and its confined worker. Both are processes of one program, so plain structs are copied as they
 * lie in memory. Frames are checked as if an enemy had sent them. No state; any thread. */
#ifndef TIER_SANDBOX_WIRE_H
#define TIER_SANDBOX_WIRE_H

#include "base/bytes/arena.h"
#include "base/bytes/buf.h"
#include "base/json/json.h"
#include "engine/embedding/embedding_service.h"
#include "request/request.h"
#include "tier/tier.h"

/* The texts, tokens and members of a request: each may be as large as a server accepts a body. */
#define SANDBOX_REQUEST_BYTES_MAX (256u << 20)
#define SANDBOX_FRAME_BYTES_MAX (8u << 20)
/* floats in one frame */
#define SANDBOX_FLOATS_MAX (256u << 10)

/* Members of a request that the worker reads: the messages with their calls, and the tools. */
#define SANDBOX_MEMBERS 2

/* A request with everything that it points to; it must not be moved. */
struct sandbox_request {
    /* The texts to embed. NULL: the request is for an answer and has the members from `tier` on. */
    struct embedding_input *inputs; /* [input_count] */
    size_t input_count;
    const char *caller; /* of a request for vectors */
    const char *tier;
    struct td_request request; /* without grammar */
    struct td_completion completion;
    struct td_labels labels;
    struct request_member members[SANDBOX_MEMBERS];
    struct json *values[SANDBOX_MEMBERS], *schema;
    struct arena *arena;
};

/* Appends the request; out->failed when it does not fit. */
void sandbox_write_request(const char *tier, const struct td_request *request, struct buf *out);
/* The same; its loop and callbacks are not written. */
void sandbox_write_embedding(const struct embedding_request *request, struct buf *out);
/* Reads a request; TD_CORRUPT when it is malformed. Fills *out (sandbox_request_deinit, also after
 * a failure). */
TD_MUST_CHECK enum td_status sandbox_read_request(struct td_str bytes, struct sandbox_request *out,
                                                  struct td_error *err);
void sandbox_request_deinit(struct sandbox_request *request);

/* A frame: length (4 bytes, of what follows), kind (1 byte), content. */
enum sandbox_frame_kind {
    SANDBOX_PIECE = 1,
    SANDBOX_DONE,
    SANDBOX_VECTORS,
    SANDBOX_BEAT /* empty: the worker lives, and the answer is under way */
};

void sandbox_write_piece(const struct tier_piece *piece, struct buf *out);
/* Split into as many frames as needed. */
void sandbox_write_vectors(const float *floats, size_t count, struct buf *out);
void sandbox_write_beat(struct buf *out);
void sandbox_write_done(const struct tier_result *result, struct buf *out);

struct sandbox_frame {
    enum sandbox_frame_kind kind;
    struct tier_piece piece; /* its texts borrow the bytes read */
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
    float *label_scores; /* owner of piece.label_scores */
    struct json *delta;  /* owner of piece.raw_delta (sandbox_frame_deinit) */
    struct tier_result result;
    struct td_str floats; /* VECTORS: whole floats in the bytes read, not aligned */
};

/* Reads the first frame of the bytes; *used is its length, or 0 when it is not complete yet.
 * TD_CORRUPT when it is malformed. */
TD_MUST_CHECK enum td_status sandbox_read_frame(struct td_str bytes, size_t *used,
                                                struct sandbox_frame *out, struct td_error *err);
void sandbox_frame_deinit(struct sandbox_frame *frame);

#endif
