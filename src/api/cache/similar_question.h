/* A question that an answer was given to, as far as it is needed to compare it with another one: no
 * text is kept. Immutable; any thread. */
#ifndef API_SIMILAR_QUESTION_H
#define API_SIMILAR_QUESTION_H

#include "api/cache/question_marks.h"
#include "base/crypto/crypto.h"

#define SIMILAR_VECTOR_MAX 8192 /* elements; no model of embeddings has more */

struct similar_question {
    uint8_t scope[CRYPTO_SHA256_BYTES]; /* of all else that must be the same (cache_key.h) */
    struct question_marks marks;
    size_t size;     /* elements */
    float norm;      /* 2-norm of the vector */
    int8_t vector[]; /* [size] */
};

/* Elements are rounded to 1/127 of the largest one: a quarter of the bytes, and similarities change
 * by less than .002 (tests/unit/api/test_similar.c). **returns new** (similar_question_free); NULL
 * without memory, and of a vector that is zero, too long or has elements that are no numbers. */
struct similar_question *similar_question_new(const uint8_t scope[static CRYPTO_SHA256_BYTES],
                                              const struct question_marks *marks,
                                              const float *vector, size_t size);
/* Wipes it: a vector tells much of its text. Accepts NULL. */
void similar_question_free(struct similar_question *question);
size_t similar_question_bytes(const struct similar_question *question); /* NULL: 0 */
/* The cosine of the two vectors; -1 when they are of different sizes. */
float similar_question_compare(const struct similar_question *one,
                               const struct similar_question *other);

#endif
