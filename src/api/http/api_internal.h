/* What the handlers of one api share. Only for files of api/. */
#ifndef API_API_INTERNAL_H
#define API_API_INTERNAL_H

#include "api/http/api_host.h"
#include "api/http/auth.h"
#include "api/http/fault.h"
#include "base/buf.h"
#include "base/rng.h"
#include "net/server.h"

struct chat;
struct completion_call;
struct embedding_call;
struct forget_call;
struct json;
struct lookup;
struct watch;

struct api {
    struct loop *loop;
    const struct api_host *host;
    uint32_t shard;
    uint64_t request_count;
    struct rng rng;         /* of paddings */
    struct chat *chats;     /* running exchanges */
    struct lookup *lookups; /* ledger look-ups that wait for a commit */
    uint32_t chat_count;
    struct completion_call *completions; /* running calls */
    uint32_t completion_count;
    struct embedding_call *embeddings; /* running calls */
    uint32_t embedding_count;
    struct forget_call *forgets;  /* that wait for the disk */
    struct ledger_reader *reader; /* opened on first use */
};

/* `rest`: what the last "*" of the route matched, "" if none. */
typedef void api_handler_fn(struct api *api, struct http_request *request, const char *rest);

api_handler_fn chat_handle, completions_handle, embeddings_handle;
api_handler_fn messages_handle, messages_handle_count, responses_handle;
api_handler_fn models_handle_list, models_handle_one;
api_handler_fn exchanges_handle_list, exchanges_handle_one, shadows_handle_list, ramps_handle_list,
    ramps_handle_restart, feedback_handle, forget_handle, alarms_handle;
/* Appends the watch's metrics (alarms_handler.c). */
void alarms_write_metrics(struct watch *watch, struct buf *out);
/* And those of ramps (ramps_handler.c). */
void ramps_write_metrics(struct ramp_table *ramps, struct buf *out);
/* And those of what ran in shadows (shadow_metrics.c). */
void shadows_write_metrics(struct shadow_pool *shadows, struct buf *out);
void consistency_write_metrics(struct consistency *consistency, struct buf *out);
void hedging_write_metrics(struct hedge_allowance *hedging, struct buf *out);
api_handler_fn consents_handle_grant, consents_handle_list, consents_handle_revoke;
api_handler_fn health_handle_live, health_handle_ready, health_handle_metrics, health_handle_hello;

/* Ends everything that still runs on this api. */
void chat_cancel_all(struct api *api);
void completions_cancel_all(struct api *api);
void embeddings_cancel_all(struct api *api);
void exchanges_cancel_all(struct api *api);
void forget_cancel_all(struct api *api);

/* Looks an exchange up in the ledger, waiting for a commit if need be, and calls found with its
 * JSON (**taken**) and ctx, or answers itself that there is none. **takes** ctx (freed with free).
 * found must reply. */
typedef void api_found_fn(struct api *api, struct http_request *request, struct json *value,
                          void *ctx);
void exchanges_find(struct api *api, struct http_request *request, const char *id,
                    api_found_fn *found, void *ctx);

/* Who asks: the API key's digest where keys are required, else where the request comes from. */
void api_find_caller(const struct api *api, const struct http_request *request,
                     char out[static AUTH_DIGEST_BYTES]);

/* A request's header, NULL when absent: openai_header_fn for a struct http_request. */
const char *api_find_header(void *http, const char *name);

/* Replies, counted by code. */
void api_reply_json(struct api *api, struct http_request *request, int code, struct buf *body);
void api_reply_text(struct api *api, struct http_request *request, int code, const char *type,
                    struct td_str body);
void api_reply_fault(struct api *api, struct http_request *request, const struct fault *fault);
void api_count_code(struct api *api, int code);

#endif
