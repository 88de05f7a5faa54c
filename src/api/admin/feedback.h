/* The body of POST /tandem/v1/feedback. */
#ifndef API_FEEDBACK_H
#define API_FEEDBACK_H

#include "api/http/fault.h"

struct json;

struct feedback {
    char id[64];
    double score; /* 0 = wrong, 1 = right */
    char comment[2048];
};

/* False: *fault says what is wrong. */
bool feedback_read(const struct json *body, struct feedback *out, struct fault *fault);

#endif
