/* POST /v1/files, multipart/form-data: file, purpose, and optionally expires_after[seconds] with
 * expires_after[anchor].
 *
 * The file goes to the disk as its bytes come, so its size costs no memory. What is wrong is said
 * as soon as it is seen. When the body is whole, a thread flushes the file to the disk, and then it
 * has an id. */
#include "api/files/file_object.h"
#include "api/files/handlers.h"
#include "api/files/multipart.h"
#include "api/http/background_reply.h"
#include "api/http/reply.h"
#include "api/wire/media_parts.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define OTHER_PARTS_BYTES_MAX (64 * 1024)
#define TEXT_BYTES_MAX 64
#define PARTS_MAX 32
/* OpenAI's range of expires_after[seconds]: an hour to 30 days. */
#define EXPIRES_S_MIN 3600
#define EXPIRES_S_MAX 2592000

/* The texts of a form. */
enum field { FIELD_PURPOSE, FIELD_ANCHOR, FIELD_SECONDS, FIELD_COUNT, FIELD_FILE, FIELD_OTHER };

static const char *const field_names[FIELD_COUNT] = {
    [FIELD_PURPOSE] = "purpose",
    [FIELD_ANCHOR] = "expires_after[anchor]",
    [FIELD_SECONDS] = "expires_after[seconds]",
};

struct upload {
    struct file_store *store;
    uint64_t file_bytes_max;
    char owner[STORED_OWNER_BYTES];
    struct multipart multipart;
    enum field field; /* of the part that comes */
    uint32_t part_count;
    char texts[FIELD_COUNT][TEXT_BYTES_MAX];
    struct file_draft *draft;
    struct stored_file file;
    int code; /* why it is refused; 0 = it is not */
    char reason[256];
};

static void upload_free(void *ctx)
{
    struct upload *upload = ctx;
    file_draft_drop(upload->draft);
    free(upload);
}

static bool refuse(struct upload *upload, int code, const char *reason)
{
    if (!upload->code)
        snprintf(upload->reason, sizeof upload->reason, "%s", reason);
    upload->code = upload->code ? upload->code : code;
    return false;
}

static bool refuse_status(struct upload *upload, const struct td_error *err)
{
    bool full = err->status == TD_LIMIT;
    return refuse(upload, full ? 413 : 503, full ? err->message : "the file could not be written");
}

/* --- its parts --- */

/* Of the ending, where the client has not said what it is. */
static const char *type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".pdf", "application/pdf"},   {".png", "image/png"},    {".jpg", "image/jpeg"},
        {".jpeg", "image/jpeg"},       {".gif", "image/gif"},    {".webp", "image/webp"},
        {".txt", "text/plain"},        {".md", "text/markdown"}, {".csv", "text/csv"},
        {".json", "application/json"}, {".html", "text/html"},   {".xml", "application/xml"},
        {".wav", "audio/wav"},         {".mp3", "audio/mpeg"},   {".jsonl", "application/jsonl"},
    };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t ending = strlen(types[i].ending);
        if (len >= ending &&
            str_equal_nocase(str_from(name + len - ending), str_from(types[i].ending)))
            return types[i].type;
    }
    return "application/octet-stream";
}

static bool begin_file(struct upload *upload, const struct multipart_part *part)
{
    struct td_error err = {0};
    struct fault fault;
    if (upload->draft)
        return refuse(upload, 400, "a request uploads one file; there is a second part 'file'");
    if (!part->filename)
        return refuse(upload, 400, "the part 'file' has no file name");
    const char *name = part->filename; /* without the folders of the client */
    for (const char *at = name; *at; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    snprintf(upload->file.name, sizeof upload->file.name, "%s", *name ? name : "file");
    struct td_str type = str_from(part->type);
    type = str_trim(str_slice(type, 0, str_find(type, STR(";"), 0)));
    bool said = type.len > 0 && !str_equal_nocase(type, STR("application/octet-stream")) &&
                type.len < sizeof upload->file.type && media_check_type(type, "file", &fault);
    snprintf(upload->file.type, sizeof upload->file.type, STR_FMT,
             STR_ARG(said ? type : str_from(type_of(upload->file.name))));
    return file_draft_new(upload->store, upload->owner, &upload->draft, &err) == TD_OK ||
           refuse_status(upload, &err);
}

static bool on_part(void *ctx, const struct multipart_part *part)
{
    struct upload *upload = ctx;
    upload->field = FIELD_OTHER;
    if (!part)
        return true;
    if (++upload->part_count > PARTS_MAX)
        return refuse(upload, 400, "the form has too many parts");
    if (strcmp(part->name, "file") == 0) {
        upload->field = FIELD_FILE;
        return begin_file(upload, part);
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(part->name, field_names[i]) != 0)
            continue;
        if (*upload->texts[i])
            return refuse(upload, 400, "a part of the form stands twice");
        upload->field = (enum field)i;
    }
    return true;
}

static bool on_data(void *ctx, struct td_str bytes)
{
    struct upload *upload = ctx;
    struct td_error err = {0};
    if (upload->field == FIELD_OTHER)
        return true;
    if (upload->field == FIELD_FILE) {
        if (file_draft_bytes(upload->draft) + bytes.len > upload->file_bytes_max)
            return refuse(upload, 413, "the file is larger than files.file_mb_max allows");
        return file_draft_write(upload->draft, bytes, &err) == TD_OK || refuse_status(upload, &err);
    }
    char *text = upload->texts[upload->field];
    size_t len = strlen(text);
    if (len + bytes.len >= TEXT_BYTES_MAX || memchr(bytes.data, '\0', bytes.len))
        return refuse(upload, 400, "a part of the form is too long");
    memcpy(text + len, bytes.data, bytes.len);
    return true;
}

static int take(void *ctx, struct td_str piece, const char **reason)
{
    struct upload *upload = ctx;
    if (!multipart_feed(&upload->multipart, piece))
        refuse(upload, 400,
               upload->multipart.fault ? upload->multipart.fault : "the form is malformed");
    *reason = upload->reason;
    return upload->code;
}

/* --- the request --- */

enum http_body_use files_admit_upload(struct api *api, struct http_request *request)
{
    struct fault fault;
    if (!files_are_kept(api, request))
        return HTTP_BODY_DROP;
    struct upload *upload = calloc(1, sizeof *upload);
    if (!upload) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return HTTP_BODY_DROP;
    }
    const struct multipart_events events = {on_part, on_data, upload};
    if (!multipart_init(&upload->multipart, http_request_header(request, "Content-Type"),
                        &events)) {
        free(upload);
        fault_request(&fault, NULL,
                      "a file is uploaded as multipart/form-data with a boundary, with the parts "
                      "'file' and 'purpose'");
        api_reply_fault(api, request, &fault);
        return HTTP_BODY_DROP;
    }
    upload->store = api->host->files;
    upload->file_bytes_max = api->host->file_bytes_max;
    snprintf(upload->owner, sizeof upload->owner, "%s", file_owner(&api->who));
    const struct http_sink sink = {.bytes_max = upload->file_bytes_max + OTHER_PARTS_BYTES_MAX,
                                   .take = take,
                                   .free_ctx = upload_free,
                                   .ctx = upload};
    http_request_set_sink(request, &sink);
    return HTTP_BODY_KEEP;
}

static bool read_purpose(struct upload *upload, struct fault *fault)
{
    static const char *const purposes[] = {"assistants", "batch",     "fine-tune",
                                           "vision",     "user_data", "evals"};
    const char *text = upload->texts[FIELD_PURPOSE];
    for (size_t i = 0; i < sizeof purposes / sizeof *purposes; i++)
        if (strcmp(text, purposes[i]) == 0) {
            snprintf(upload->file.purpose, sizeof upload->file.purpose, "%s", purposes[i]);
            return true;
        }
    return fault_request(
        fault, "purpose",
        "purpose must be assistants, batch, evals, fine-tune, user_data or vision");
}

static bool read_expiry(struct upload *upload, struct fault *fault)
{
    const char *anchor = upload->texts[FIELD_ANCHOR], *text = upload->texts[FIELD_SECONDS];
    uint64_t seconds;
    if (*anchor && strcmp(anchor, "created_at") != 0)
        return fault_request(fault, "expires_after.anchor",
                             "expires_after[anchor] must be created_at");
    if (!*text)
        return !*anchor || fault_request(fault, "expires_after.seconds",
                                         "expires_after[seconds] is required with an anchor");
    if (!str_to_u64(str_from(text), &seconds) || seconds < EXPIRES_S_MIN || seconds > EXPIRES_S_MAX)
        return fault_request(fault, "expires_after.seconds",
                             "expires_after[seconds] must be from %d to %d", EXPIRES_S_MIN,
                             EXPIRES_S_MAX);
    upload->file.expires_s = -(int64_t)seconds; /* from when it is kept */
    return true;
}

static bool check(struct upload *upload, struct fault *fault)
{
    if (!multipart_is_whole(&upload->multipart))
        return fault_request(fault, NULL, "the form ends before its last boundary");
    if (!upload->draft)
        return fault_request(fault, "file", "the part 'file' is required");
    return read_purpose(upload, fault) && read_expiry(upload, fault);
}

/* What the thread works on. */
struct keep_work {
    struct background_reply reply; /* first */
    struct file_draft *draft;
    struct stored_file file;
};

static void work_run(void *ctx)
{
    struct keep_work *work = ctx;
    struct file_draft *draft = work->draft;
    work->draft = NULL;
    work->reply.status = file_draft_keep(draft, &work->file, &work->reply.err);
}

static void work_deinit(void *ctx)
{
    file_draft_drop(((struct keep_work *)ctx)->draft);
}

static void work_reply(struct api *api, struct http_request *request, void *ctx)
{
    const struct keep_work *work = ctx;
    if (request && work->reply.status == TD_OK)
        api_reply_value(api, request, file_object(&work->file), FILES_REPLY_BYTES_MAX);
    else if (request)
        file_reply_status(api, request, work->reply.status, &work->reply.err);
}

void files_handle_upload(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct upload *upload = http_request_sink(request);
    struct fault fault = {0};
    if (!check(upload, &fault)) {
        api_reply_fault(api, request, &fault);
        return;
    }
    struct keep_work *work = calloc(1, sizeof *work);
    if (work) {
        *work = (struct keep_work){.reply = {.run = work_run,
                                             .reply = work_reply,
                                             .deinit = work_deinit,
                                             .goes_on = true}, /* the file is kept */
                                   .draft = upload->draft,
                                   .file = upload->file};
        upload->draft = NULL;
    }
    background_reply_begin(api, request, work);
}
