/* The console: a web application that the build embeds (web/), and the session of whoever works
 * there. Their table is api.c's. */
#ifndef API_CONSOLE_HANDLERS_H
#define API_CONSOLE_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn console_handle_page, console_handle_file; /* page_handler.c */
api_handler_fn session_handle_show, session_handle_open,
    session_handle_close;   /* session_handler.c */
api_handler_fn live_handle; /* live_handler.c */

#endif
