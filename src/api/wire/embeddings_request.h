/* The wire formats of embeddings: the request's JSON into a struct, vectors into the answer's.
 * OpenAI's is written here. Others are a struct embedding_form that translates into it. */
#ifndef API_EMBEDDINGS_REQUEST_H
#define API_EMBEDDINGS_REQUEST_H

#include "api/http/fault.h"
#include "engine/embedding/embedding_service.h"

struct json;

/* OpenAI's own limit. */
#define EMBEDDINGS_INPUTS_MAX 2048
/* A value takes some 30 bytes of memory. Token ids are values: as many as fill most inputs. */
#define EMBEDDINGS_VALUES_MAX 1048576
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

/* A wire format of what is answered by vectors. */
struct embedding_form {
    const char *route;     /* in the record; a literal */
    const char *id_prefix; /* of the record's id; two letters */
    const char *input;     /* as the client calls its texts, and the size of vectors */
    const char *dimensions;
    /* **returns new** (json_free) the body of the request for embeddings that is asked by `body`,
     * or NULL with the fault. Members that its answer needs are handed on. NULL: the body is one.
     */
    struct json *(*translate)(const struct json *body, struct fault *fault);
    /* Appends the answer. took_ms: since the request; Ollama's clients are told. */
    void (*write)(const struct embeddings_request *request, const struct embedding_answer *answer,
                  const char *model, double took_ms, struct buf *out);
};
extern const struct embedding_form embedding_form_openai;

/* named: the model that the path names, or "". model (may be NULL): bounds dimensions and ids.
 * False with *fault; embeddings_request_deinit in either case. */
bool embeddings_request_read(const struct embedding_form *form, struct td_str text,
                             struct td_str named, const struct td_model *model,
                             struct embeddings_request *out, struct fault *fault);
/* The same of OpenAI's form. */
bool embeddings_request_parse(struct td_str text, const struct td_model *model,
                              struct embeddings_request *out, struct fault *fault);
void embeddings_request_deinit(struct embeddings_request *request);

/* Appends the answer in OpenAI's form. */
void embeddings_write(const struct embeddings_request *request,
                      const struct embedding_answer *answer, const char *model, double took_ms,
                      struct buf *out);
/* Appends one of its vectors, of as many dimensions as were asked for. */
void embeddings_write_vector(const struct embeddings_request *request,
                             const struct embedding_answer *answer, size_t index, struct buf *out);

#endif
