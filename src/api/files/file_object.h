/* A file as its owner sees it, and what the handlers of files and batches share. One loop's
 * thread. */
#ifndef API_FILE_OBJECT_H
#define API_FILE_OBJECT_H

#include "api/http/api_internal.h"
#include "ledger/store/file_store.h"

struct json;

#define FILES_REPLY_BYTES_MAX ((size_t)64 << 20)

/* Who owns what this caller uploads: its tenant, or where no keys are needed its address.
 * **borrows** who. */
const char *file_owner(const struct auth_who *who);
/* False, and answered, where this server keeps no files. */
bool files_are_kept(struct api *api, struct http_request *request);
/* {"id", "object": "file", ...}. **returns new** (json_free). */
struct json *file_object(const struct stored_file *file);
/* The text of a path's first part: "abc" of "abc/content". **borrows** rest. */
struct td_str file_path_name(const char *rest);
/* 404: what: "File" or "Batch". */
void file_reply_absent(struct api *api, struct http_request *request, const char *what,
                       struct td_str id);

/* What the store said; a full one is 413. */
void file_reply_status(struct api *api, struct http_request *request, enum td_status status,
                       const struct td_error *err);

/* ?after, limit, order and purpose. The texts stand in `texts`. False with the fault. */
struct file_page_texts {
    char after[STORED_ID_BYTES], purpose[STORED_PURPOSE_BYTES];
};
bool file_page_read(const struct http_request *request, uint32_t limit_otherwise,
                    uint32_t limit_max, struct file_page_texts *texts, struct stored_page *page,
                    struct fault *fault);
/* A list of at most limit of the objects in `data`, which it **takes**. absent: what page->after is
 * not the id of, or NULL. */
void file_page_reply(struct api *api, struct http_request *request, const struct stored_page *page,
                     struct json *data, const char *absent);

#endif
