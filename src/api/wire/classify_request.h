/* The wire format of /tandem/v1/classify: the request's JSON into a struct, probabilities into the
 * answer's. */
#ifndef API_CLASSIFY_REQUEST_H
#define API_CLASSIFY_REQUEST_H

#include "api/http/fault.h"
#include "tandem/engine.h"

struct json;

#define CLASSIFY_TEXTS_MAX 1024
#define CLASSIFY_TEXT_BYTES_MAX (1u << 20) /* no local context holds more */
#define CLASSIFY_LABELS_MAX 1024
#define CLASSIFY_LABEL_BYTES_MAX 256
#define CLASSIFY_INSTRUCTION_BYTES_MAX 4096
#define CLASSIFY_TOP_DEFAULT 5
/* Labels with scores in one answer, and what they take with the longest labels. */
#define CLASSIFY_SCORES_MAX 32768
#define CLASSIFY_ANSWER_BYTES_MAX ((size_t)64 << 20)

struct classify_request {
    struct json *body; /* what the rest borrows from */
    const char *model; /* "auto" when the request names none */
    const char *user;  /* NULL = none */
    const char *set;   /* NULL = labels */
    struct td_str *texts, *labels;
    size_t text_count, label_count;
    bool is_list; /* "texts", for the names of members */
    struct td_str instruction;
    uint32_t top; /* labels in the answer for each text; at least 1 */
};

/* False with *fault; classify_request_deinit in either case. */
bool classify_request_parse(struct td_str text, struct classify_request *out, struct fault *fault);
void classify_request_deinit(struct classify_request *request);

/* What was found for one text. */
struct classify_row {
    const float *probabilities; /* [labels of the classifier] */
    float not_mine;             /* -1 = the model has no such token */
    float mass;
};

/* Appends a row as an object, with its `top` best labels. */
void classify_write_row(const struct td_classifier *classifier, const struct classify_row *row,
                        size_t index, uint32_t top, struct buf *out);
/* The `top` best labels of probabilities [count], the best first, into order [count]. */
void classify_order(const float *probabilities, size_t count, size_t *order);

#endif
