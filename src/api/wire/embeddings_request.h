/* OpenAI's wire format of embeddings: the request's JSON into a struct, vectors into the
 * answer's. */
#ifndef API_EMBEDDINGS_REQUEST_H
#define API_EMBEDDINGS_REQUEST_H

#include "api/http/fault.h"
#include "engine/embedding/embedding_service.h"

struct json;

/* OpenAI's own limit. */
#define EMBEDDINGS_INPUTS_MAX 2048
/* Vectors of one answer before they are written: bounds the memory of a request. */
#define EMBEDDINGS_VECTOR_BYTES_MAX ((size_t)16 << 20)
/* A float takes at most 16 characters and a comma where a stored one takes four bytes. */
#define EMBEDDINGS_ANSWER_BYTES_MAX (5 * EMBEDDINGS_VECTOR_BYTES_MAX)

struct embeddings_request {
    struct json *body; /* what the rest borrows from */
    const char *model;
    const char *user; /* NULL = none */
    struct embedding_input *inputs;
    size_t input_count;
    int32_t *ids; /* of all inputs that came as ids */
    bool base64;
    uint32_t dimensions; /* 0 = all */
};

/* model (may be NULL): bounds dimensions and ids. False with *fault; embeddings_request_deinit in
 * either case. */
bool embeddings_request_parse(struct td_str text, const struct td_model *model,
                              struct embeddings_request *out, struct fault *fault);
void embeddings_request_deinit(struct embeddings_request *request);

/* Appends the answer. */
void embeddings_write(const struct embeddings_request *request,
                      const struct embedding_answer *answer, const char *model, struct buf *out);

#endif
