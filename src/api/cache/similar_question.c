#include "api/cache/similar_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 127

struct similar_question *similar_question_new(const uint8_t scope[static CRYPTO_SHA256_BYTES],
                                              const struct question_marks *marks,
                                              const float *vector, size_t size)
{
    float largest = 0;
    int64_t squares = 0;
    for (size_t i = 0; i < size && size <= SIMILAR_VECTOR_MAX; i++) {
        if (!isfinite(vector[i]))
            return NULL;
        largest = fmaxf(largest, fabsf(vector[i]));
    }
    struct similar_question *question = largest > 0 ? calloc(1, sizeof *question + size) : NULL;
    if (!question)
        return NULL;
    memcpy(question->scope, scope, sizeof question->scope);
    question->marks = *marks;
    question->size = size;
    for (size_t i = 0; i < size; i++) {
        question->vector[i] = (int8_t)lrintf(vector[i] / largest * LEVELS);
        squares += question->vector[i] * question->vector[i];
    }
    question->norm = sqrtf((float)squares);
    return question;
}

size_t similar_question_bytes(const struct similar_question *question)
{
    return question ? sizeof *question + question->size : 0;
}

void similar_question_free(struct similar_question *question)
{
    if (question)
        crypto_wipe(question, similar_question_bytes(question));
    free(question);
}

float similar_question_compare(const struct similar_question *one,
                               const struct similar_question *other)
{
    int32_t product = 0; /* at most 127 * 127 * SIMILAR_VECTOR_MAX */
    if (one->size != other->size)
        return -1;
    for (size_t i = 0; i < one->size; i++)
        product += one->vector[i] * other->vector[i];
    return (float)product / (one->norm * other->norm);
}
