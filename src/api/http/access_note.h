/* What the access log says of a request: how it was framed and answered, and what its exchange came
 * to. Nothing of its content. A handler notes its exchange with the request (http_request_note, of
 * which this is the first member). One loop's thread. */
#ifndef API_ACCESS_NOTE_H
#define API_ACCESS_NOTE_H

#include "api/http/api_internal.h"
#include "base/bytes/buf.h"
#include "exchange/machine/exchange.h"
#include "net/server/server.h"

#define ACCESS_NAME_BYTES 64

struct access_note {
    uint32_t exchange_count; /* several, where a request has several prompts */
    char exchange[32];       /* the first one's id; "" = there is none */
    char tier[ACCESS_NAME_BYTES], route[ACCESS_NAME_BYTES];
    double ttft_ms, cost_usd; /* of the first that had text; of all */
    uint64_t prompt_tokens, completion_tokens;
    enum tier_cache cache;
    bool keeps_nothing; /* then nothing is said of who asked */
};

/* Adds an exchange that has ended. http NULL: the client is gone, and so is its note. */
void access_note_exchange(struct http_request *http, const struct exchange_summary *summary);

/* The same for what is answered here without one. */
struct access_local {
    const char *id, *route, *tier;
    uint64_t prompt_tokens;
};
void access_note_local(struct http_request *http, const struct access_local *local);

struct access_line {
    const struct access_note *note;
    const struct http_request *request;
    const struct http_outcome *outcome;
    const char *path; /* of the table of endpoints; NULL = of none of them */
    const struct trace *trace;
    const struct auth_who *who;
    uint64_t wall_ms, now_ms; /* now; monotonic */
};

/* One object of JSON. */
void access_note_write(const struct access_line *line, struct buf *out);

#endif
