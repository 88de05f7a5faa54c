/* The request that leaves has the shape of the one that came: the same messages, with marks in the
 * place of documents, and the protocol (private/document_jobs.h) before them. Each round appends
 * what the tier said and what the device found. All of it is scanned and masked anew before it
 * leaves, like any request.
 *
 * However a tier asks, no more than a share of the documents is ever quoted to it. */
#include "exchange/machine/staying.h"

#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "exchange/machine/exchange_core.h"

#include <stdlib.h>

/* Of whatever length the text is: one passage may always leave. */
#define QUOTED_BYTES_MIN DOCUMENT_PASSAGE_BYTES_MAX
#define JOBS_TOKENS_MIN 512 /* a round of jobs cut off would be none */
#define QUOTED_BYTES_MAX (64 * 1024)
#define LEFT_BYTES_MAX (16 * 1024 * 1024)

/* --- what is sent first --- */

static const char *obstacle_of(const struct td_request *request, const struct documents *documents)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_TOOL)
            return "the conversation has results of tools";
    if (request->has_calls || request->tool_count > 0)
        return "the request has tools";
    if (request->completion || request->labels || request->continues)
        return "the request is no question";
    if (request->media.kinds)
        return "the request has media";
    if (request->format != TD_FORMAT_TEXT && !request->format_is_guessed)
        return "the request asks for an output format";
    if (request->logprobs)
        return "the request asks for log-probabilities";
    if (documents->too_many)
        return "the request has too many documents";
    return documents->asked ? NULL : "the request has no question beside it";
}

/* Members would have the texts once more. What they say of sampling stays behind with them. */
static void write_request(struct exchange *ex, struct staying *own, const size_t *ends)
{
    const struct td_request *came = &ex->request;
    size_t begin = 0, count = 0;
    document_jobs_write_task(own->settings->rounds, &own->task);
    own->messages[count++] =
        (struct td_message){.role = TD_ROLE_SYSTEM, .content = buf_view(&own->task)};
    for (size_t i = 0; i < came->message_count; i++) {
        own->messages[count++] = (struct td_message){
            .role = came->messages[i].role,
            .content = str_slice(buf_view(&own->left), begin, ends[i]),
        };
        begin = ends[i];
    }
    own->request = *came;
    own->request.messages = own->messages;
    own->request.message_count = count;
    own->request.parts = NULL;
    own->request.members = NULL;
    own->request.member_count = 0;
    own->request.media = (struct request_media){0};
    own->request.signatures = NULL;
    own->request.signature_count = 0;
    own->request.completion = NULL;
    own->request.labels = NULL;
    own->request.stop_count = 0;
    if (own->request.tokens_max > 0 && own->request.tokens_max < JOBS_TOKENS_MIN)
        own->request.tokens_max = JOBS_TOKENS_MIN;
    own->request.tool_count = 0;
    own->request.format = TD_FORMAT_TEXT;
    own->request.schema = NULL;
    own->request.grammar = NULL;
    own->request.grammar_source = (struct td_str){NULL, 0};
    own->request.call_grammar = NULL;
    own->request.logprobs = false;
    own->request.top_logprobs = 0;
    own->request.cache = CACHE_OFF; /* it rests on what the device found, not on the question */
}

static struct staying *staying_new(const struct exchange *ex, const struct document_settings *by)
{
    struct staying *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->settings = by;
    buf_init(&own->left, LEFT_BYTES_MAX);
    buf_init(&own->task, 4096);
    for (size_t i = 0; i < DOCUMENT_ROUNDS_MAX; i++) {
        buf_init(&own->said[i], DOCUMENT_SAID_BYTES_MAX);
        buf_init(&own->found[i], 2 * QUOTED_BYTES_MAX);
    }
    own->messages =
        calloc(ex->request.message_count + 1 + 2 * DOCUMENT_ROUNDS_MAX, sizeof *own->messages);
    return own;
}

void staying_prepare(struct exchange *ex, const struct route *route)
{
    if (!route->documents.on)
        return;
    struct staying *own = staying_new(ex, &route->documents);
    size_t *ends = calloc(ex->request.message_count, sizeof *ends);
    ex->staying = own;
    if (!own || !own->messages || !ends) {
        shortage_note();
    } else {
        documents_find(&ex->request, own->settings->bytes_min, &own->documents, &own->left, ends);
        if (own->left.failed)
            shortage_note();
        write_request(ex, own, ends);
        own->facts = (struct staying_facts){
            .document_count = own->documents.count,
            .characters = own->documents.characters,
            .chunk_count = own->documents.chunk_count,
            .quotes = own->quotes,
            .obstacle = obstacle_of(&ex->request, &own->documents),
        };
    }
    free(ends);
    if (own && own->documents.count > 0)
        return;
    staying_free(own); /* nothing is long */
    ex->staying = NULL;
}

void staying_free(struct staying *own)
{
    if (!own)
        return;
    document_reader_free(own->reader);
    buf_deinit(&own->left);
    buf_deinit(&own->task);
    for (size_t i = 0; i < DOCUMENT_ROUNDS_MAX; i++) {
        buf_deinit(&own->said[i]);
        buf_deinit(&own->found[i]);
    }
    free(own->messages);
    free(own);
}

bool staying_from(const struct exchange *ex, const struct tier_facts *facts)
{
    return ex->staying && facts->place > ex->staying->settings->place;
}

/* --- rounds --- */

static uint64_t characters_before(struct td_str text, size_t offset)
{
    uint64_t count = 0;
    for (size_t i = 0; i < offset; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

/* The number of a quotation, from 1; 0: no more may leave. *again: it has left before. */
static size_t number_of(struct staying *own, const struct document_quote *quote, bool *again)
{
    struct staying_facts *facts = &own->facts;
    uint64_t most = (uint64_t)(own->settings->share_max * (double)own->documents.bytes);
    most = most < QUOTED_BYTES_MIN ? QUOTED_BYTES_MIN : most;
    most = most > QUOTED_BYTES_MAX ? QUOTED_BYTES_MAX : most;
    *again = true;
    for (size_t i = 0; i < facts->quote_count; i++)
        if (own->quotes[i].passage == quote->passage)
            return i + 1;
    *again = false;
    if (facts->quote_count == STAYING_QUOTES_MAX || own->quoted_bytes + quote->text.len > most)
        return 0;
    struct td_str text = own->documents.texts[quote->document];
    uint64_t from = characters_before(text, (size_t)(quote->text.data - text.data));
    uint64_t to = from + characters_before(quote->text, quote->text.len);
    own->quoted_bytes += quote->text.len;
    facts->quoted_characters += to - from;
    own->quotes[facts->quote_count++] = (struct staying_quote){
        .passage = quote->passage,
        .document = (uint32_t)quote->document + 1,
        .from = from,
        .to = to,
    };
    return facts->quote_count;
}

static void write_found(struct staying *own, const struct document_plan *plan, struct buf *out)
{
    for (size_t j = 0; j < plan->job_count; j++) {
        struct document_quote quotes[DOCUMENT_QUOTES_MAX];
        size_t count = document_reader_find(own->reader, &plan->jobs[j], quotes);
        own->facts.jobs++;
        own->facts.abstained += count == 0;
        buf_printf(out, "Job %zu:%s\n", j + 1, count ? "" : " nothing was found.");
        for (size_t i = 0; i < count; i++) {
            bool again;
            size_t number = number_of(own, &quotes[i], &again);
            if (number == 0) {
                buf_append_str(out, STR("(More was found, but no more of the text may leave.)\n"));
                break;
            }
            buf_printf(out, "[%zu] ", number);
            if (again)
                buf_append_str(out, STR("as above"));
            else
                json_write_text(quotes[i].text, out);
            buf_append_char(out, '\n');
        }
    }
}

bool staying_add_round(struct staying *own, struct td_str said, const struct document_plan *plan,
                       const char *told, bool final)
{
    struct buf *mine = &own->said[own->round_count], *found = &own->found[own->round_count];
    if (plan && !own->reader && !(own->reader = document_reader_new(&own->documents)))
        return false;
    said = str_slice(said, 0, DOCUMENT_SAID_BYTES_MAX / 2);
    said.len = utf8_complete_len(said);
    buf_append_str(mine, said);
    if (plan)
        write_found(own, plan, found);
    if (told)
        buf_printf(found, "%s\n", told);
    if (final)
        buf_append_str(found, STR("Ask no further jobs. Answer the user now, in plain text.\n"));
    size_t at = own->request.message_count;
    own->messages[at++] = (struct td_message){.role = TD_ROLE_ASSISTANT, .content = buf_view(mine)};
    own->messages[at++] = (struct td_message){.role = TD_ROLE_USER, .content = buf_view(found)};
    own->request.message_count = at;
    own->round_count++;
    own->facts.rounds += plan != NULL;
    return !mine->failed && !found->failed;
}

void staying_write(const struct staying_facts *facts, const char *name, struct json_writer *to)
{
    json_writer_open(to, name, '{');
    json_writer_int(to, "count", (int64_t)facts->document_count);
    json_writer_int(to, "characters", (int64_t)facts->characters);
    json_writer_int(to, "quoted_characters", (int64_t)facts->quoted_characters);
    json_writer_int(to, "rounds", facts->rounds);
    json_writer_int(to, "jobs", facts->jobs);
    json_writer_int(to, "abstained", facts->abstained);
    if (facts->obstacle)
        json_writer_text(to, "obstacle", facts->obstacle);
    json_writer_open(to, "quotes", '[');
    for (size_t i = 0; i < facts->quote_count; i++) {
        const struct staying_quote *quote = &facts->quotes[i];
        json_writer_open(to, NULL, '{');
        json_writer_int(to, "number", (int64_t)i + 1);
        json_writer_int(to, "document", quote->document);
        json_writer_int(to, "from", (int64_t)quote->from);
        json_writer_int(to, "to", (int64_t)quote->to);
        json_writer_close(to, '}');
    }
    json_writer_close(to, ']');
    json_writer_close(to, '}');
}
