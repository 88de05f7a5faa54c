/* A page of a list in the form of OpenAI's: the query's `limit` (1 to 100, else 20), `order`
 * (`desc` unless it is `asc`) and `after` (the id of the last entry that the client has). */
#ifndef API_KEPT_PAGE_H
#define API_KEPT_PAGE_H

#include "api/http/api_internal.h"

struct json;

/* Replies with a page of the items, which are there oldest first. **takes** items. */
void kept_page_reply(struct api *api, struct http_request *request, struct json *items);
/* The beginning of a path's rest up to the next '/'. */
struct td_str kept_page_name(const char *rest);
/* 404 as OpenAI says it: what is "Response" or another word, id the name that was asked for. */
void kept_page_reply_absent(struct api *api, struct http_request *request, const char *what,
                            struct td_str id);
/* What answers about what is kept may have. */
#define KEPT_REPLY_BYTES_MAX ((size_t)512 << 20)

#endif
