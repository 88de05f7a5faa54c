#include "api/files/file_object.h"

#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"

#define SHOWN_BYTES 100

const char *file_owner(const struct auth_who *who)
{
    return *who->tenant ? who->tenant : who->caller;
}

bool files_are_kept(struct api *api, struct http_request *request)
{
    struct fault fault;
    if (api->host->files)
        return true;
    fault_set(&fault, 403, "permission_error", "files_off",
              "this server keeps no files: files.mb_max is 0, or privacy.zero_retention is on");
    api_reply_fault(api, request, &fault);
    return false;
}

struct json *file_object(const struct stored_file *file)
{
    struct json *object = json_new_object();
    json_put(object, "id", json_new_cstr(file->id));
    json_put(object, "object", json_new_cstr("file"));
    json_put(object, "bytes", json_new_int((int64_t)file->bytes));
    json_put(object, "created_at", json_new_int(file->created_s));
    json_put(object, "expires_at",
             file->expires_s ? json_new_int(file->expires_s) : json_new_null());
    json_put(object, "filename", json_new_cstr(file->name));
    json_put(object, "purpose", json_new_cstr(file->purpose));
    json_put(object, "status", json_new_cstr("processed"));
    json_put(object, "status_details", json_new_null());
    return object;
}

struct td_str file_path_name(const char *rest)
{
    return (struct td_str){rest, strcspn(rest, "/")};
}

void file_reply_absent(struct api *api, struct http_request *request, const char *what,
                       struct td_str id)
{
    struct fault fault;
    fault_set(&fault, 404, "invalid_request_error", NULL, "No such %s object: " STR_FMT, what,
              STR_ARG(str_slice(id, 0, SHOWN_BYTES)));
    memcpy(fault.param, "id", sizeof "id");
    api_reply_fault(api, request, &fault);
}

void file_reply_status(struct api *api, struct http_request *request, enum td_status status,
                       const struct td_error *err)
{
    struct fault fault;
    if (status == TD_LIMIT)
        fault_set(&fault, 413, "invalid_request_error", "files_full", "%s", err->message);
    else
        fault_from_status(&fault, status, err->message, NULL);
    api_reply_fault(api, request, &fault);
}

bool file_page_read(const struct http_request *request, uint32_t limit_otherwise,
                    uint32_t limit_max, struct file_page_texts *texts, struct stored_page *page,
                    struct fault *fault)
{
    char order[8];
    uint64_t limit;
    if (!query_number(request, STR("limit"), limit_otherwise, &limit) || limit < 1 ||
        limit > limit_max)
        return fault_request(fault, "limit", "limit must be from 1 to %u", limit_max);
    if (!query_text(request, STR("order"), order, sizeof order) ||
        (*order && strcmp(order, "asc") != 0 && strcmp(order, "desc") != 0))
        return fault_request(fault, "order", "order must be asc or desc");
    if (!query_text(request, STR("after"), texts->after, sizeof texts->after))
        return fault_request(fault, "after", "after must be an id of this list");
    if (!query_text(request, STR("purpose"), texts->purpose, sizeof texts->purpose))
        return fault_request(fault, "purpose", "there is no such purpose");
    *page = (struct stored_page){.after = texts->after,
                                 .purpose = texts->purpose,
                                 .limit = (uint32_t)limit,
                                 .ascending = strcmp(order, "asc") == 0};
    return true;
}

void file_page_reply(struct api *api, struct http_request *request, const struct stored_page *page,
                     struct json *data, const char *absent)
{
    if (absent) {
        json_free(data);
        file_reply_absent(api, request, absent, str_from(page->after));
        return;
    }
    struct json *object = json_new_object(), *shown = json_new_array();
    size_t count = json_count(data), taken = count < page->limit ? count : page->limit;
    for (size_t i = 0; i < taken; i++)
        json_push(shown, json_clone(json_at(data, i)));
    const struct json *first = json_at(shown, 0), *last = taken ? json_at(shown, taken - 1) : NULL;
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "first_id", json_new_cstr(json_cstr(json_get(first, "id"))));
    json_put(object, "last_id", json_new_cstr(json_cstr(json_get(last, "id"))));
    json_put(object, "has_more", json_new_bool(count > taken));
    json_put(object, "data", shown);
    json_free(data);
    api_reply_value(api, request, object, FILES_REPLY_BYTES_MAX);
}
