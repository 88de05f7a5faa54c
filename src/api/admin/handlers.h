/* The endpoints about the server, its models and what it did. Their table is api.c's. */
#ifndef API_ADMIN_HANDLERS_H
#define API_ADMIN_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn models_handle_list, models_handle_one, gemini_handle_models,
    gemini_handle_model; /* models_handler.c */
api_handler_fn exchanges_handle_list, exchanges_handle_one, report_handle,
    shadows_handle_list;                                /* exchanges_handler.c */
api_handler_fn ramps_handle_list, ramps_handle_restart; /* ramps_handler.c */
api_handler_fn capabilities_handle;                     /* capabilities_handler.c */
api_handler_fn capabilities_handle_events;              /* capability_events.c */
api_handler_fn alarms_handle;                           /* alarms_handler.c */
api_handler_fn feedback_handle;                         /* feedback.c */
api_handler_fn consents_handle_grant, consents_handle_list,
    consents_handle_revoke; /* consents_handler.c */
api_handler_fn keys_handle_list, keys_handle_new, keys_handle_one, keys_handle_change,
    keys_handle_rotate, keys_handle_revoke, tenants_handle_change;           /* keys_handler.c */
api_handler_fn forget_handle;                                                /* forget_handler.c */
api_handler_fn health_handle_live, health_handle_ready, health_handle_hello; /* health_handler.c */
api_handler_fn ollama_handle_tags, ollama_handle_show, ollama_handle_ps, ollama_handle_version,
    ollama_handle_pull; /* ollama_models.c */

#endif
