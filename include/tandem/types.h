/* Types that the C library and every part of Tandem share: statuses, errors, messages, sampling.
 *
 * Plain data, no functions but the error helpers. Everything here is borrowed unless a comment
 * says otherwise: whoever fills a struct keeps what its pointers point to alive until the call has
 * ended. */
#ifndef TANDEM_TYPES_H
#define TANDEM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TD_MUST_CHECK __attribute__((warn_unused_result))
#define TD_PUBLIC __attribute__((visibility("default")))
#define TD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TD_MUST_CHECK
#define TD_PUBLIC
#define TD_PRINTF(fmt, args)
#endif

/* What the caller should do about it. The words of td_error say where it went wrong. */
enum td_status {
    TD_OK = 0,
    TD_INVALID,     /* the caller's input is wrong: correct it, do not retry */
    TD_NOT_FOUND,   /* no such file, id or name */
    TD_UNSUPPORTED, /* well-formed, but not something this build can do */
    TD_CORRUPT,     /* a file or a peer sent something malformed */
    TD_LIMIT,       /* over a configured limit; the message names it */
    TD_BUSY,        /* a queue is full: retry later */
    TD_NO_MEMORY,   /* allocation refused */
    TD_IO,          /* a system call failed; the message has strerror */
    TD_UNAVAILABLE, /* a peer cannot be reached or refused to serve */
    TD_TIMEOUT,     /* a deadline passed */
    TD_CANCELLED,   /* the caller asked to stop */
    TD_DENIED,      /* policy or credentials forbid it */
    TD_INTERNAL     /* our own bug */
};

#define TD_ERROR_BYTES 512

/* Words for a failure. Caller-owned; start with `struct td_error err = {0}`. The first failure is
 * the cause, so a later one does not change the words. */
struct td_error {
    enum td_status status;
    char message[TD_ERROR_BYTES];
};

/* Stable lower-case name of a status ("ok", "invalid", ...). Never NULL. */
TD_PUBLIC const char *td_status_name(enum td_status status);

/* A string view: `len` bytes, not necessarily NUL-terminated. data may be NULL only if len is 0. */
struct td_str {
    const char *data;
    size_t len;
};

enum td_role { TD_ROLE_SYSTEM, TD_ROLE_DEVELOPER, TD_ROLE_USER, TD_ROLE_ASSISTANT, TD_ROLE_TOOL };

struct td_message {
    enum td_role role;
    struct td_str content; /* UTF-8; the parts of a multi-part content joined by newlines */
};

/* How keys and values are stored. Q8_0: int8 in blocks of 32, 0.53 of the memory of F16. Q4_0: 4
 * bits in blocks of 32, 0.28; keys of some models do not bear it. Two names: keys, then values. */
enum td_kv_type {
    TD_KV_F16,
    TD_KV_F32,
    TD_KV_Q8_0,
    TD_KV_Q4_0,
    TD_KV_F16_Q8_0,
    TD_KV_F16_Q4_0,
    TD_KV_Q8_0_F16,
    TD_KV_Q8_0_Q4_0,
    TD_KV_Q4_0_F16,
    TD_KV_Q4_0_Q8_0
};

enum td_finish { TD_FINISH_STOP, TD_FINISH_LENGTH, TD_FINISH_TOOL_CALLS, TD_FINISH_CONTENT_FILTER };

/* Added to the logit of one token before everything else. The id is one of the answering model. */
struct td_logit_bias {
    int32_t id;
    float bias;
};

#define TD_LOGIT_BIASES_MAX 1024

/* Sampling settings; td_sampling_default() gives OpenAI's defaults. */
struct td_sampling {
    float temperature;        /* 0 = greedy */
    uint32_t top_k;           /* 0 = off */
    float top_p;              /* 1 = off */
    float min_p;              /* 0 = off */
    float repetition_penalty; /* 1 = off; CTRL paper, section 4.1 (divides positive logits) */
    uint64_t seed;            /* used when seed_set; otherwise drawn from the system */
    bool seed_set;
    float typical_p;           /* locally typical sampling; 0 and 1 = off */
    float presence_penalty;    /* subtracted once if the token is in the answer; -2..2 */
    float frequency_penalty;   /* subtracted for each time that it is there; -2..2 */
    float mirostat_tau;        /* bits of surprise to aim at; 0 = off. Replaces the other filters */
    float mirostat_eta;        /* how fast mirostat corrects itself; 0 = 0.1 */
    uint32_t mirostat_version; /* 1 or 2; 0 = 2 */
    /* How many tokens repetition_penalty looks back; 0 = 64, at most 4096. */
    uint32_t repetition_window;
    float
        top_n_sigma; /* keep logits at most this many standard deviations below the best; 0 = off */
    float dynamic_range;    /* the temperature moves by up to this with the entropy; 0 = off */
    float dynamic_exponent; /* 0 = 1 */
    float xtc_probability;  /* how often the likeliest are excluded; 0 = off */
    float xtc_threshold;    /* of tokens at or above it only the least likely stays; 0 = 0.1 */
    float dry_multiplier;   /* penalty for going on with a repetition; 0 = off */
    float dry_base;         /* growth of that penalty with each repeated token; 0 = 1.75 */
    uint32_t dry_allowed;   /* longest repetition without a penalty; 0 = 2 */
    const struct td_logit_bias *biases; /* [bias_count], borrowed; at most TD_LOGIT_BIASES_MAX */
    size_t bias_count;
};

/* LoRA adapters that one sequence may run with. */
#define TD_ADAPTERS_MAX 8

#define TD_STOPS_MAX 16
#define TD_TOP_LOGPROBS_MAX 20

#endif
