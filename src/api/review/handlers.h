/* The handlers of reviews: review_handler.c. */
#ifndef API_REVIEW_HANDLERS_H
#define API_REVIEW_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn review_handle_list;
api_handler_fn review_handle_one;
api_handler_fn review_handle_take;
api_handler_fn review_handle_step;
api_handler_fn review_handle_answer;

#endif
