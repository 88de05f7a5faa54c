/* Replies to a request, counted by their HTTP code. One loop's thread. */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "api/http/api_internal.h"

struct json;

/* fault_parse_json of the request's body; false when it was replied that it cannot be read. */
bool api_read_body(struct api *api, struct http_request *request, struct json **out);

void api_reply_text(struct api *api, struct http_request *request, int code, const char *type,
                    struct td_str body);
/* Where the handling of a request or of an event begins. */
void api_begin_event(struct api *api);
/* False when an allocation has failed since, with the fault: what was made then has a hole. */
bool api_has_memory(const struct api *api, struct fault *fault);

/* A body that failed becomes an error of its own. */
void api_reply_json(struct api *api, struct http_request *request, int code, struct buf *body);
/* 200 with the value, which it **takes**, written in at most bytes_max. */
void api_reply_value(struct api *api, struct http_request *request, struct json *value,
                     size_t bytes_max);
/* In the form of the request's path. */
void api_reply_fault(struct api *api, struct http_request *request, const struct fault *fault);
/* In another one, where the path has several. */
void api_reply_fault_in(struct api *api, struct http_request *request,
                        const struct fault_form *form, const struct fault *fault);
/* param: the member at fault, or NULL. */
void api_reply_status(struct api *api, struct http_request *request, enum td_status status,
                      const struct td_error *err, const char *param);
void api_count_code(struct api *api, int code);

/* How errors look below this path. Never NULL. */
const struct fault_form *api_fault_form(const struct api *api, const char *path);

#endif
