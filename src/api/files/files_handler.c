/* GET /v1/files, and GET and DELETE of one: /v1/files/ID, /v1/files/ID/content. */
#include "api/files/file_object.h"
#include "api/files/handlers.h"
#include "api/http/background_reply.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT_MAX 10000
#define PIECE_BYTES (64 * 1024)

static void push(void *ctx, const struct stored_file *file)
{
    json_push(ctx, file_object(file));
}

void files_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct file_page_texts texts;
    struct stored_page page;
    struct fault fault;
    if (!files_are_kept(api, request))
        return;
    if (!file_page_read(request, LIMIT_MAX, LIMIT_MAX, &texts, &page, &fault)) {
        api_reply_fault(api, request, &fault);
        return;
    }
    struct json *data = json_new_array();
    bool listed = file_store_list(api->host->files, file_owner(&api->who), &page, push, data);
    file_page_reply(api, request, &page, data, listed ? NULL : "File");
}

static bool find(struct api *api, struct http_request *request, const char *rest,
                 struct stored_file *file)
{
    struct td_str id = file_path_name(rest);
    if (!files_are_kept(api, request))
        return false;
    if (id.len == strlen(rest) || strcmp(rest + id.len, "/content") == 0)
        if (file_store_find(api->host->files, file_owner(&api->who), id, file))
            return true;
    file_reply_absent(api, request, "File", id);
    return false;
}

void files_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct stored_file file;
    if (find(api, request, rest, &file))
        api_reply_value(api, request, file_object(&file), FILES_REPLY_BYTES_MAX);
}

void files_handle_delete(struct api *api, struct http_request *request, const char *rest)
{
    struct td_error err = {0};
    if (!files_are_kept(api, request))
        return;
    enum td_status status =
        file_store_remove(api->host->files, file_owner(&api->who), str_from(rest), &err);
    if (status == TD_OK) {
        struct json *object = json_new_object();
        json_put(object, "id", json_new_cstr(rest));
        json_put(object, "object", json_new_cstr("file"));
        json_put(object, "deleted", json_new_bool(true));
        api_reply_value(api, request, object, FILES_REPLY_BYTES_MAX);
    } else if (status == TD_BUSY) {
        struct fault fault;
        fault_set(&fault, 409, "invalid_request_error", "file_in_use", "%s", err.message);
        fault.no_retry = true;
        api_reply_fault(api, request, &fault);
    } else if (status == TD_NOT_FOUND) {
        file_reply_absent(api, request, "File", str_from(rest));
    } else {
        api_reply_status(api, request, status, &err, NULL);
    }
}

/* --- contents --- */

struct content_call {
    struct api_call base; /* first */
    struct http_request *http;
    struct loop_timer *reaper;
    int fd;
};

static void call_free(void *ctx)
{
    struct content_call *call = ctx;
    struct loop *loop = call->base.api->loop;
    api_call_end(&call->base);
    loop_timer_free(loop, call->reaper);
    close(call->fd);
    free(call);
}

static void call_gone(void *ctx)
{
    struct content_call *call = ctx;
    call->http = NULL;
    loop_timer_start(call->base.api->loop, call->reaper, 0);
}

static void call_stop(struct api_call *base)
{
    struct content_call *call = (struct content_call *)base;
    if (call->http)
        http_stream_abort(call->http);
    call_free(call);
}

/* A piece at a time: the next one when the client has taken it. */
static void send_piece(void *ctx)
{
    struct content_call *call = ctx;
    char piece[PIECE_BYTES];
    ssize_t len;
    do
        len = read(call->fd, piece, sizeof piece);
    while (len < 0 && errno == EINTR);
    if (len > 0) {
        http_stream_write(call->http, (struct td_str){piece, (size_t)len});
        http_stream_on_drain(call->http, send_piece, call);
        return;
    }
    struct http_request *http = call->http;
    call->http = NULL;
    if (len == 0)
        http_stream_end(http);
    else
        http_stream_abort(http);
    loop_timer_start(call->base.api->loop, call->reaper, 0);
}

static void send_contents(struct api *api, struct http_request *request, const char *id)
{
    struct td_error err = {0};
    int fd = -1;
    enum td_status status = file_store_read(api->host->files, id, &fd, &err);
    struct content_call *call = status == TD_OK ? calloc(1, sizeof *call) : NULL;
    struct loop_timer *reaper = call ? loop_timer_new(api->loop, call_free, call) : NULL;
    if (!reaper) {
        if (fd >= 0)
            close(fd);
        free(call);
        api_reply_status(api, request, status == TD_OK ? TD_NO_MEMORY : status, &err, NULL);
        return;
    }
    api_call_begin(api, &call->base, call_stop, false);
    call->http = request;
    call->reaper = reaper;
    call->fd = fd;
    http_request_on_gone(request, call_gone, call);
    api_count_code(api, 200);
    http_stream_start(request, 200, "application/octet-stream");
    send_piece(call);
}

/* --- contents that another node has uploaded: a thread fetches them first --- */

struct fetch_work {
    struct background_reply reply; /* first */
    struct file_store *store;
    char id[STORED_ID_BYTES];
};

static void fetch_run(void *ctx)
{
    struct fetch_work *work = ctx;
    int fd = -1;
    work->reply.status = file_store_read(work->store, work->id, &fd, &work->reply.err);
    if (fd >= 0)
        close(fd);
}

static void fetch_reply(struct api *api, struct http_request *request, void *ctx)
{
    const struct fetch_work *work = ctx;
    if (request && work->reply.status == TD_OK)
        send_contents(api, request, work->id);
    else if (request)
        api_reply_status(api, request, work->reply.status, &work->reply.err, NULL);
}

void files_handle_content(struct api *api, struct http_request *request, const char *rest)
{
    struct stored_file file;
    if (!find(api, request, rest, &file))
        return;
    if (file_store_is_near(api->host->files, file.id)) {
        send_contents(api, request, file.id);
        return;
    }
    struct fetch_work *work = calloc(1, sizeof *work);
    if (work) {
        work->reply =
            (struct background_reply){.run = fetch_run, .reply = fetch_reply, .goes_on = true};
        work->store = api->host->files;
        snprintf(work->id, sizeof work->id, "%s", file.id);
    }
    background_reply_begin(api, request, work);
}
