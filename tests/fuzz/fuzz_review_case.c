/* What people are told of a question. Any bytes as a kept case are read or refused; and of any
 * question that could be masked, an answer that repeats the masked text gets every value back. */
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "exchange/private/review_case.h"
#include "privacy/scan/scanner.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BYTES_MAX ((size_t)1 << 22)

static void read_kept(struct td_str text)
{
    struct buf out;
    struct json *what = NULL;
    struct td_str rest = text, line;
    buf_init(&out, BYTES_MAX);
    if (str_next(&rest, '\n', &line) && json_parse(line, &what, NULL) == TD_OK)
        (void)!review_case_restore(what, rest, &out, NULL);
    json_free(what);
    buf_deinit(&out);
}

static void repeat(const struct json *what, struct td_str question)
{
    struct buf back;
    const struct json *masked = json_get(json_get(what, "masked"), "question");
    if (!masked)
        return;
    buf_init(&back, BYTES_MAX);
    if (review_case_restore(what, json_text(json_at(masked, 0)), &back, NULL) != TD_OK ||
        back.failed || !str_equal(buf_view(&back), question))
        abort();
    buf_deinit(&back);
}

static void make(struct td_str question, const struct privacy_scanner *scanner)
{
    const struct td_message message = {.role = TD_ROLE_USER, .content = question};
    const struct td_request request = {.messages = &message, .message_count = 1};
    const struct review_candidate candidate = {
        .tier = "local", .model = "m", .confidence = (double)NAN, .text = question};
    const struct mask_rules rules = {.scanner = scanner,
                                     .strict = true,
                                     .classes = {false, true, true, true},
                                     .kinds = {[PRIVACY_PERSON] = true}};
    const struct review_case what = {.request = &request,
                                     .candidates = &candidate,
                                     .candidate_count = 1,
                                     .route = "auto",
                                     .rules = &rules};
    struct buf out;
    struct json *read = NULL;
    buf_init(&out, BYTES_MAX);
    if (review_case_write(&what, &out, NULL) == TD_OK) {
        if (json_parse(buf_view(&out), &read, NULL) != TD_OK)
            abort();
        repeat(read, question);
    }
    json_free(read);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct privacy_scanner *scanner;
    const struct td_str text = {(const char *)data, size};
    if (!scanner)
        scanner = privacy_scanner_new(&(struct privacy_scanner_parts){.name_min_score = 1});
    if (size > 65536)
        return 0;
    read_kept(text);
    if (utf8_is_valid(text) && size > 0 && !memchr(data, '\0', size))
        make(text, scanner);
    return 0;
}
