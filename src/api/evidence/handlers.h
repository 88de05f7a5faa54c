/* The endpoints that show what the program knows of itself: what is private in a text, what left,
 * what confidence is worth, and what another policy would have done; and those that change its
 * configuration. Their rows are api.c's. */
#ifndef API_EVIDENCE_HANDLERS_H
#define API_EVIDENCE_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn privacy_handle_check; /* privacy_handler.c */
api_handler_fn egress_handle;        /* egress_handler.c */
api_handler_fn calibration_handle;   /* calibration_handler.c */
api_handler_fn replay_handle;        /* replay_handler.c */
/* store_handler.c */
api_handler_fn store_handle_list, store_handle_choose;
api_handler_fn store_handle_state, store_handle_pull, store_handle_cancel;
api_handler_fn desk_handle_config, desk_handle_schema, desk_handle_check, desk_handle_apply,
    desk_handle_run, desk_handle_start, desk_handle_cancel, desk_handle_keep; /* desk_handler.c */

#endif
