/* An HTTP failure in OpenAI's shape:
 *   {"error": {"message", "type", "param", "code"}}
 * and the one table that maps a td_status to an HTTP code. The official SDKs retry 408, 409, 429
 * and 5xx unless `x-should-retry: false` is sent, so a refusal by policy carries it. Plain data;
 * any thread. */
#ifndef API_FAULT_H
#define API_FAULT_H

#include "base/bytes/buf.h"

struct json;

struct fault {
    int code;               /* HTTP status; 0 = nothing went wrong */
    const char *type;       /* "invalid_request_error", ...; a literal */
    const char *error_code; /* "context_length_exceeded", ...; a literal, or NULL */
    char param[128];        /* the member or header at fault, "" = none */
    char message[1024];
    bool no_retry;          /* asking again cannot help: x-should-retry: false */
    uint32_t retry_after_s; /* 0 = none */
};

/* 400 with the place at fault; always false, so that a parser can `return fault_request(...)`. */
bool fault_request(struct fault *fault, const char *param, const char *format, ...) TD_PRINTF(3, 4);
/* json_parse of a body; false with 400 for what is not JSON. */
bool fault_parse_json(struct td_str body, struct json **out, struct fault *fault);
/* Any code; type and error_code must be literals (error_code may be NULL). */
void fault_set(struct fault *fault, int code, const char *type, const char *error_code,
               const char *format, ...) TD_PRINTF(5, 6);
/* What a failed exchange or call becomes. message and param are copied; param may be NULL. What
 * broke of this server itself goes to its log, not into the message. */
void fault_from_status(struct fault *fault, enum td_status status, const char *message,
                       const char *param);
/* A tier's server answered with nonsense, or refused this server's credentials: 502, because they
 * are the operator's to mend and 403 would tell the client that it may not ask. */
void fault_upstream(struct fault *fault, bool denied, const char *message);

/* A tier's server refused the request itself, or said that a limit or quota is reached: the client
 * learns what it would have learnt from that server. http: as the server said; error_code: a
 * literal, or NULL. */
void fault_refused(struct fault *fault, int http, const char *error_code, const char *message,
                   const char *param);

/* Always false. */
bool fault_no_memory(struct fault *fault);
/* An answer that is larger than this server can send whole. */
void fault_too_large(struct fault *fault);
/* The server stops: ask again, another process may answer. */
void fault_stopping(struct fault *fault);

/* Appends {"error": {...}}. */
void fault_write(const struct fault *fault, struct buf *out);
/* The message as a value, and behind it the members code and param where they are known. */
void fault_write_words(const struct fault *fault, struct buf *out);

/* How a dialect's clients read an error, and what else they do with their paths. */
struct fault_form {
    void (*write)(const struct fault *fault, struct buf *out); /* appends a whole body */
    const char *id_header; /* with the request's id, like x-request-id; or NULL */
    bool key_in_query;     /* its clients may send their key as Google's do (http/access.c) */
};
extern const struct fault_form fault_form_openai;

#endif
