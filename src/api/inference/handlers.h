/* The endpoints that a model answers. Their table is api.c's. */
#ifndef API_INFERENCE_HANDLERS_H
#define API_INFERENCE_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn chat_handle, responses_handle, messages_handle; /* chat_handler.c */
api_handler_fn messages_handle_count;                          /* messages_count.c */
api_handler_fn completions_handle;                             /* completions_handler.c */
api_handler_fn embeddings_handle;                              /* embeddings_handler.c */

#endif
