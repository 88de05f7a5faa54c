/* The numbers of sampling by all their names: in the body of a request, as options of a command,
 * and as users of llama.cpp know them. One table serves both readers, so that a name means the same
 * everywhere. */
#ifndef API_SAMPLING_KEYS_H
#define API_SAMPLING_KEYS_H

#include "request/request.h"

enum { SAMPLING_KEYS_MAX = 32 };

struct sampling_key {
    const char *name, *alias;          /* in a body; alias may be NULL */
    const char *option, *option_alias; /* without dashes; NULL = none */
    const char *argument, *help;       /* of the option */
    bool integer;
    double min, max;
    double body_max; /* where OpenAI's limit is lower; 0 = max */
    bool has_minus_one;
    double minus_one;             /* what -1 stands for */
    enum request_setting setting; /* which a model's file may recommend; 0 = it cannot */
    size_t offset; /* in struct td_sampling, when there is no `set`: float or uint32_t */
    void (*set)(struct td_sampling *sampling, double number);
};

/* In the order in which they are to be set: later ones correct earlier ones. NULL at the end. */
const struct sampling_key *sampling_key_at(size_t index);

/* Whether the number is one of the key's; `body`: of a request's body. */
bool sampling_key_takes(const struct sampling_key *key, double number, bool body);
/* "a number from 0 to 1", "an integer from 0 to 4096, or -1". */
void sampling_key_describe(const struct sampling_key *key, bool body, char *out, size_t size);
/* The number must be one that it takes. */
void sampling_key_set(const struct sampling_key *key, double number, struct td_sampling *sampling);

#endif
