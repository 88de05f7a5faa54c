/* The endpoints of files and batches. Their table is api.c's. */
#ifndef API_FILES_HANDLERS_H
#define API_FILES_HANDLERS_H

#include "api/http/endpoint.h"

api_handler_fn files_handle_upload; /* upload.c */
/* What becomes of an upload's body; to be asked with its head. */
enum http_body_use files_admit_upload(struct api *api, struct http_request *request);
api_handler_fn files_handle_list, files_handle_one, files_handle_delete,
    files_handle_content; /* files_handler.c */
api_handler_fn batches_handle_new, batches_handle_list, batches_handle_one,
    batches_handle_cancel; /* batches_handler.c */

#endif
