/* A text with documents in it and what a tier says of them: whatever both are, the mark takes the
 * place of each document, jobs have their bounds, and a quotation is a piece of a document. Before
 * the first NUL stands what the tier says, after it the user's text. */
#include "base/core/str.h"
#include "exchange/private/document_jobs.h"
#include "exchange/private/document_reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
    if (!holds)
        abort();
}

static void read_jobs(const struct documents *found, const struct document_plan *plan)
{
    struct document_reader *reader = document_reader_new(found);
    need(reader != NULL);
    for (size_t j = 0; j < plan->job_count; j++) {
        struct document_quote quotes[DOCUMENT_QUOTES_MAX];
        need(plan->jobs[j].chunk_from >= 1 && plan->jobs[j].word_count <= DOCUMENT_WORDS_MAX);
        size_t count = document_reader_find(reader, &plan->jobs[j], quotes);
        for (size_t i = 0; i < count; i++) {
            struct td_str whole = found->texts[quotes[i].document], part = quotes[i].text;
            need(part.data >= whole.data && part.data + part.len <= whole.data + whole.len &&
                 part.len > 0 && part.len <= DOCUMENT_PASSAGE_BYTES_MAX);
        }
    }
    document_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str all = {(const char *)data, size};
    size_t cut = str_find(all, (struct td_str){"", 1}, 0);
    struct td_str said = str_slice(all, 0, cut), text = str_slice(all, cut + 1, size);
    if (cut == SIZE_MAX)
        text = said = all;
    const struct td_message message = {TD_ROLE_USER, text};
    const struct td_request request = {.messages = &message, .message_count = 1};
    struct documents found;
    struct document_plan plan;
    struct buf left;
    size_t end;
    buf_init(&left, 2 * size + 64 * (size + 1));
    documents_find(&request, 40, &found, &left, &end);
    need(end == left.len && found.count <= DOCUMENTS_MAX);
    need(str_trim(text).len < 40 || found.count > 0 || left.len > 0);
    if (document_plan_read(said, found.chunk_count, &plan, NULL) == DOCUMENT_SAID_JOBS) {
        read_jobs(&found, &plan);
        document_plan_deinit(&plan);
    }
    buf_deinit(&left);
    return 0;
}
