/* GET /tandem/v1/egress?since=SECONDS: the sums of what left since then, the newest transfers, and
 * whether the whole record is complete and unchanged, as `tandem egress report` and `verify` say.
 *
 *   {"object": "egress", "state": "kept", "none" (nothing has left yet) or "off", the sums,
 *    "newest": [the record's lines], "proof": {"sound", "transfers", "heads", "bad_row", "problem",
 *    "unsigned_rows", "unwritten_rows", "key"}}
 *
 * A record may have a million lines, so it is read in the background. */
#include "api/evidence/egress_report.h"
#include "api/evidence/handlers.h"
#include "api/http/background_reply.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/egress/egress_verify.h"

#include <stdlib.h>
#include <sys/stat.h>

#define REPLY_BYTES_MAX ((size_t)8 << 20)

/* What the thread works on. */
struct work {
    struct background_reply reply; /* first */
    const char *path;
    uint64_t since_wall_ms;
};

/* --- the thread --- */

static struct json *newest_json(struct egress_report *report)
{
    struct json *list = json_new_array();
    uint64_t count = report->transfers < EGRESS_NEWEST_MAX ? report->transfers : EGRESS_NEWEST_MAX;
    for (uint64_t i = 1; i <= count; i++)
        json_push(list, json_clone(report->newest[(report->transfers - i) % EGRESS_NEWEST_MAX]));
    return list;
}

static void work_run(void *ctx)
{
    struct work *work = ctx;
    struct background_reply *reply = &work->reply;
    struct stat info;
    struct egress_report report = {0};
    struct egress_verdict verdict;
    bool there = work->path && stat(work->path, &info) == 0;
    if (there)
        reply->status = egress_verify(work->path, NULL, &verdict, &reply->err);
    /* What is damaged has no sums that mean anything. */
    if (there && reply->status == TD_OK && verdict.sound)
        reply->status = egress_report_read(work->path, work->since_wall_ms, &report, &reply->err);
    if (reply->status == TD_OK) {
        reply->value = egress_report_json(&report);
        json_put(reply->value, "object", json_new_cstr("egress"));
        json_put(reply->value, "state",
                 json_new_cstr(there        ? "kept"
                               : work->path ? "none"
                                            : "off"));
        json_put(reply->value, "newest", newest_json(&report));
        json_put(reply->value, "proof", there ? egress_proof_json(&verdict) : json_new_null());
    }
    egress_report_deinit(&report);
}

/* --- the loop --- */

void egress_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    uint64_t since;
    struct fault fault = {0};
    if (!query_check(api, request, "since"))
        return;
    if (!query_number(request, STR("since"), 0, &since) || since > (uint64_t)INT64_MAX / 1000) {
        fault_request(&fault, "since", "since must be a whole number of seconds since 1970");
        api_reply_fault(api, request, &fault);
        return;
    }
    struct work *work = calloc(1, sizeof *work);
    if (work) {
        work->reply = (struct background_reply){.run = work_run, .bytes_max = REPLY_BYTES_MAX};
        work->path = api->host->egress_path;
        work->since_wall_ms = since * 1000;
    }
    background_reply_begin(api, request, work);
}
