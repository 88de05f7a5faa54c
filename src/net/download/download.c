/* A download hands the pieces of the file to a few streams. Each stream is a request on one libcurl
 * multi handle, which is driven here. A stream that fails gives its piece back with the bytes that
 * it has.
 *
 * All trouble is answered the same way: wait a little, ask again where the file is (signed
 * addresses of a hub's storage expire), and go on. Only a server that contradicts itself ends the
 * download at once. When the file turns out to differ from the one that the existing bytes belong
 * to, the download starts again, once.
 *
 * Rejected: a speed test that chooses the number of streams. Four streams are faster where a single
 * connection is limited (a limit per connection, a long round trip) and cost nothing elsewhere. */
#include "net/download/download.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "net/download/download_part.h"
#include "net/download/download_request.h"
#include "net/download/download_url.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS_DEFAULT 4
#define POLL_MS 100
#define PROGRESS_MS 200
#define SAVE_MS 3000 /* how much a power cut may cost */
#define BACKOFF_MS 250
#define BACKOFF_DOUBLINGS_MAX 5 /* at most 8 seconds */
#define RESTARTS_MAX 1

struct download;

struct stream {
    struct download *download;
    struct download_request request;
    bool active;
    bool checked; /* the answer's head was checked */
    uint32_t piece;
    struct td_error err; /* why we stopped it */
};

struct download {
    const struct download_options *options;
    struct download_part part;
    struct download_place place;
    char *identity; /* of the address, as the state file has it */
    CURLM *multi;
    struct stream streams[DOWNLOAD_STREAMS_MAX];
    uint32_t stream_count;
    bool *taken; /* [piece_count]: a stream fetches it */
    uint64_t resumed_bytes;
    uint32_t failures; /* in a row since the last byte */
    double retry_at_ms, report_at_ms, save_at_ms;
    bool changed; /* the file is not the one of the part */
    struct td_error err;
};

/* --- one stream --- */

/* Checks that the head of the answer is the requested one, before any byte of it is kept. */
static bool check_answer(struct stream *stream)
{
    struct download *download = stream->download;
    const struct download_headers *headers = &stream->request.headers;
    const struct download_part *part = &download->part;
    long code = download_request_code(&stream->request);
    uint64_t begin = stream->piece * part->piece_bytes;
    if (code != 200 && code != 206)
        return false; /* the page of an error; judged at its end */
    if (headers->encoded) {
        error_set(&stream->err, TD_CORRUPT, "the server began to compress the file");
        return false;
    }
    if (!download->place.ranges)
        return code == 200;
    if (code == 200 || headers->total != part->total) {
        download->changed = true;
        error_set(&stream->err, TD_CORRUPT, "the file changed while it was fetched");
        return false;
    }
    if (!headers->has_range || headers->begin != begin + part->done[stream->piece] ||
        headers->end != begin + download_part_piece_bytes(part, stream->piece)) {
        error_set(&stream->err, TD_CORRUPT, "the server answers a range with another one");
        return false;
    }
    return true;
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct stream *stream = ctx;
    struct download *download = stream->download;
    if (!stream->checked && !check_answer(stream))
        return CURL_WRITEFUNC_ERROR;
    stream->checked = true;
    if (download_part_write(&download->part, stream->piece, data, size * count, &stream->err) !=
        TD_OK)
        return CURL_WRITEFUNC_ERROR;
    /* Without ranges each try begins at the front again, so bytes are no progress. */
    if (download->place.ranges)
        download->failures = 0;
    return size * count;
}

static void stream_stop(struct stream *stream)
{
    if (!stream->active)
        return;
    curl_multi_remove_handle(stream->download->multi, stream->request.easy);
    stream->download->taken[stream->piece] = false;
    stream->active = false;
}

static enum td_status stream_start(struct stream *stream, uint32_t piece, struct td_error *err)
{
    struct download *download = stream->download;
    const struct download_part *part = &download->part;
    uint64_t begin = piece * part->piece_bytes;
    uint64_t end = download->place.ranges ? begin + download_part_piece_bytes(part, piece) : 0;
    stream->piece = piece;
    stream->checked = false;
    stream->err = (struct td_error){0};
    stream->request.strayed = download->place.strayed;
    enum td_status status = download_request_prepare(
        &stream->request, download->options, download->place.url, begin + part->done[piece], end,
        download->place.ranges ? part->validator : NULL, on_body, stream, err);
    if (status != TD_OK)
        return status;
    curl_easy_setopt(stream->request.easy, CURLOPT_PRIVATE, stream);
    if (curl_multi_add_handle(download->multi, stream->request.easy) != CURLM_OK)
        return error_set(err, TD_NO_MEMORY, "no memory for a request");
    stream->active = true;
    download->taken[piece] = true;
    return TD_OK;
}

/* --- all streams --- */

static bool piece_is_whole(const struct download_part *part, uint32_t piece)
{
    return part->done[piece] == download_part_piece_bytes(part, piece);
}

static enum td_status start_idle(struct download *download, struct td_error *err)
{
    const struct download_part *part = &download->part;
    uint32_t piece = 0;
    for (uint32_t i = 0; i < download->stream_count; i++) {
        if (download->streams[i].active)
            continue;
        while (piece < part->piece_count && (download->taken[piece] || piece_is_whole(part, piece)))
            piece++;
        if (piece == part->piece_count)
            break;
        enum td_status status = stream_start(&download->streams[i], piece, err);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

/* Notes a failure and decides whether another try is worth it. A refusal by another place than the
 * one that the user named decides nothing: its signed address may have expired. */
static void note_trouble(struct download *download, const struct td_error *trouble)
{
    enum td_status status = trouble->status;
    bool elsewhere = strcmp(download->place.url, download->options->url) != 0;
    bool passing = status == TD_UNAVAILABLE || status == TD_TIMEOUT ||
                   (elsewhere && (status == TD_DENIED || status == TD_NOT_FOUND));
    if (!passing || download->failures >= download->options->retry_count) {
        error_set(&download->err, status, "%s", trouble->message);
        return;
    }
    if (download->retry_at_ms > 0)
        return; /* several streams failed with one connection: one failure */
    uint32_t doublings =
        download->failures < BACKOFF_DOUBLINGS_MAX ? download->failures : BACKOFF_DOUBLINGS_MAX;
    download->failures++;
    download->retry_at_ms = clock_monotonic_ms(NULL) + (double)(BACKOFF_MS << doublings);
}

static void stream_end(struct stream *stream, CURLcode code)
{
    struct download *download = stream->download;
    struct td_error err = stream->err;
    long http = download_request_code(&stream->request);
    bool right_code = http == (download->place.ranges ? 206 : 200);
    uint64_t *done = &download->part.done[stream->piece];
    stream_stop(stream);
    if (code == CURLE_OK && right_code && download->part.total == UINT64_MAX && *done > 0) {
        download->part.total = *done; /* the end of the file tells its size */
        return;
    }
    if (code == CURLE_OK && right_code && piece_is_whole(&download->part, stream->piece))
        return;
    if (!download->place.ranges)
        *done = 0; /* the next try begins at the front */
    if (http == 416 && download->place.ranges) {
        download->changed = true;
        error_set(&err, TD_CORRUPT, "the file became shorter while it was fetched");
    }
    if (err.status == TD_OK && code == CURLE_OK && right_code)
        error_set(&err, TD_UNAVAILABLE, "the server ended a piece early");
    if (err.status == TD_OK)
        (void)download_request_fail(
            &stream->request, code == CURLE_WRITE_ERROR && !right_code ? CURLE_OK : code, &err);
    note_trouble(download, &err);
}

static void take_finished(struct download *download)
{
    int left;
    const CURLMsg *message;
    while ((message = curl_multi_info_read(download->multi, &left))) {
        char *private = NULL;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        stream_end((void *)private, code);
    }
}

static void report(struct download *download)
{
    struct download_progress progress = {.bytes = download_part_done_bytes(&download->part),
                                         .total = download->part.total,
                                         .resumed_bytes = download->resumed_bytes,
                                         .streams = download->stream_count};
    if (download->options->on_progress)
        download->options->on_progress(download->options->ctx, &progress);
}

/* --- the plan --- */

static void stop_all(struct download *download)
{
    for (uint32_t i = 0; i < DOWNLOAD_STREAMS_MAX; i++)
        stream_stop(&download->streams[i]);
}

static enum td_status plan(struct download *download, struct td_error *err)
{
    const struct download_options *options = download->options;
    const struct download_place *place = &download->place;
    enum td_status status =
        download_part_plan(&download->part, download->identity, place->total,
                           place->ranges ? place->validator : "", &download->resumed_bytes, err);
    if (status == TD_OK)
        status = download_part_check_space(&download->part, options->bytes_max, err);
    if (status != TD_OK)
        return status;
    free(download->taken);
    download->taken = calloc(download->part.piece_count, sizeof *download->taken);
    if (download->taken == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a download");
    uint32_t wanted = options->streams ? options->streams : STREAMS_DEFAULT;
    wanted = wanted > DOWNLOAD_STREAMS_MAX ? DOWNLOAD_STREAMS_MAX : wanted;
    if (!place->ranges)
        wanted = 1;
    if (wanted > download->part.piece_count)
        wanted = download->part.piece_count;
    download->stream_count = wanted;
    return TD_OK;
}

/* Asks again where the file is and whether it is the same. Other streams wait in the kernel
 * meanwhile. */
static void resolve_again(struct download *download)
{
    struct download_place place;
    struct td_error err = {0};
    download->retry_at_ms = 0;
    if (download_resolve(download->options, &place, &err) != TD_OK) {
        if (err.status == TD_CANCELLED)
            error_set(&download->err, TD_CANCELLED, "%s", err.message);
        else
            note_trouble(download, &err);
        return;
    }
    bool same = place.ranges == download->place.ranges &&
                (!place.ranges || (place.total == download->part.total &&
                                   strcmp(place.validator, download->part.validator) == 0));
    memcpy(place.sha256, download->place.sha256, sizeof place.sha256);
    download_place_deinit(&download->place);
    download->place = place;
    if (!same) {
        download->changed = true;
        error_set(&download->err, TD_CORRUPT, "the file changed while it was fetched");
    }
}

static bool all_whole(const struct download *download)
{
    if (download->part.total == UINT64_MAX)
        return false;
    return download_part_done_bytes(&download->part) == download->part.total;
}

/* An error is not reported: a full disk shows at the next write, and a complete file needs no
 * state. */
static void save(struct download *download)
{
    struct td_error err = {0};
    if (download_part_save(&download->part, &err) != TD_OK && !all_whole(download))
        error_set(&download->err, err.status, "%s", err.message);
}

static void step(struct download *download)
{
    int running = 0;
    double now_ms = clock_monotonic_ms(NULL);
    if (download->retry_at_ms > 0 && now_ms >= download->retry_at_ms)
        resolve_again(download);
    if (download->err.status == TD_OK && download->retry_at_ms == 0)
        (void)start_idle(download, &download->err);
    if (curl_multi_perform(download->multi, &running) != CURLM_OK)
        error_set(&download->err, TD_NO_MEMORY, "no memory for a download");
    take_finished(download);
    if (now_ms >= download->report_at_ms) {
        report(download);
        download->report_at_ms = now_ms + PROGRESS_MS;
    }
    if (now_ms >= download->save_at_ms) {
        if (download->save_at_ms > 0)
            save(download);
        download->save_at_ms = now_ms + SAVE_MS;
    }
    if (download_cancelled(download->options))
        error_set(&download->err, TD_CANCELLED, "interrupted; run the same command to continue");
    if (download->err.status == TD_OK && !all_whole(download))
        curl_multi_poll(download->multi, NULL, 0, POLL_MS, NULL);
}

/* Runs until all bytes have come or a failure is final. */
static enum td_status fetch(struct download *download)
{
    while (download->err.status == TD_OK && !all_whole(download))
        step(download);
    stop_all(download);
    if (!download->changed)
        save(download);
    report(download);
    return download->err.status;
}

static enum td_status run(struct download *download, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (int restarts = 0;; restarts++) {
        download->err = (struct td_error){0};
        download->changed = false;
        download->failures = 0;
        download->retry_at_ms = 0;
        status = plan(download, err);
        if (status != TD_OK)
            return status;
        status = fetch(download);
        if (!download->changed || restarts == RESTARTS_MAX)
            break;
        /* Another file has the same name now: the existing bytes belong to the old one. */
        status = download_part_clear(&download->part, err);
        if (status == TD_OK) {
            download_place_deinit(&download->place);
            status = download_resolve(download->options, &download->place, err);
        }
        if (status != TD_OK)
            return status;
    }
    if (status != TD_OK)
        error_set(err, status, "%s", download->err.message);
    return status;
}

/* The first request may meet passing trouble, too. */
static enum td_status find_file(struct download *download, struct td_error *err)
{
    for (uint32_t tries = 0;; tries++) {
        struct td_error trouble = {0};
        enum td_status status = download_resolve(download->options, &download->place, &trouble);
        if (status == TD_OK)
            return TD_OK;
        bool passing = status == TD_UNAVAILABLE || status == TD_TIMEOUT;
        if (!passing || tries >= download->options->retry_count)
            return error_set(err, status, "%s", trouble.message);
        double until_ms =
            clock_monotonic_ms(NULL) + (double)(BACKOFF_MS << (tries < 5 ? tries : 5));
        while (clock_monotonic_ms(NULL) < until_ms && !download_cancelled(download->options))
            curl_multi_poll(download->multi, NULL, 0, POLL_MS, NULL);
        if (download_cancelled(download->options))
            return error_set(err, TD_CANCELLED, "interrupted");
    }
}

enum td_status download_file(const struct download_options *options, struct download_result *result,
                             struct td_error *err)
{
    ASSERT(options != NULL && result != NULL);
    ASSERT(options->url != NULL && options->path != NULL);
    struct download download = {.options = options};
    *result = (struct download_result){.part_fd = -1};
    for (uint32_t i = 0; i < DOWNLOAD_STREAMS_MAX; i++)
        download.streams[i].download = &download;
    enum td_status status = download_part_open(&download.part, options->path, err);
    download.multi = curl_multi_init();
    if (status == TD_OK && download.multi == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for a download");
    if (status == TD_OK && (download.identity = download_url_identity(options->url)) == NULL)
        status = error_set(err, TD_INVALID, "the source is not a valid URL");
    if (status == TD_OK)
        status = find_file(&download, err);
    if (status == TD_OK)
        status = run(&download, err);
    if (status == TD_OK) {
        result->bytes = download.part.total;
        result->resumed_bytes = download.resumed_bytes;
        result->streams = download.stream_count;
        memcpy(result->sha256, download.place.sha256, sizeof result->sha256);
        result->part_fd = download.part.fd;
        download.part.fd = -1;
    }
    for (uint32_t i = 0; i < DOWNLOAD_STREAMS_MAX; i++)
        download_request_deinit(&download.streams[i].request);
    curl_multi_cleanup(download.multi);
    download_place_deinit(&download.place);
    download_part_close(&download.part);
    free(download.taken);
    free(download.identity);
    return status;
}
