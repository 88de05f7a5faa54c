/* Each allocation of a request is made to fail once, from the HTTP bytes to the answer: ours, the
 * JSON library's and the event library's.
 *
 * Nothing crashes, hangs or leaks. What may not leave stays here, and so does a conversation whose
 * class forbids it. The client gets the whole answer, or an error that says whose fault it is, or a
 * closed connection, and never a part as if it were the whole. The next request is answered.
 *
 * Every fifth allocation is tried, or every ALLOCATION_STEP-th: 1 tries all. Not those of libcurl
 * (see test_alloc.c of net) and of SQLite. */
#include "base/json/json.h"
#include "recorded_server.h"
#include "test.h"

#include <event2/event.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>

/* The linker redirects every call of these functions in our objects here (--wrap). */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

static atomic_long until_failure = LONG_MAX; /* counts down to the allocation that fails */
static atomic_bool failed;

static bool fails_now(void)
{
    if (recorded_own || atomic_load(&until_failure) == LONG_MAX)
        return false;
    bool now = atomic_fetch_sub(&until_failure, 1) == 0;
    if (now)
        atomic_store(&failed, true);
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return fails_now() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
    return fails_now() ? NULL : __real_strndup(text, bytes);
}

/* --- the server --- */

#define CARD "5500005555555559"
#define MAIL "nina.kowalczyk@acmecorp.com"

static const char config_text[] =
    "engine: {model: '" NANO "', threads: 1, slots: 1}\n"
    "tiers:\n"
    "  - {name: local, kind: local}\n"
    "  - {name: device, kind: openai, place: device, model: m, base_url: 'http://127.0.0.1:9/v1',\n"
    "     completions: true}\n"
    "  - {name: cloud, kind: openai, place: cloud, model: m, base_url: 'https://cloud/v1',\n"
    "     completions: true}\n"
    "routes:\n"
    "  - {name: auto, kind: hybrid, tiers: [device, cloud],\n"
    "     gates: {g2: {tokens: 1, confidence_min: 0.4}, g3: {confidence_min: 0.5}}}\n"
    "  - {name: home, kind: local-only, tiers: [local], mode: only-local}\n"
    "ledger: {path: '%s/ledger.db', egress: '%s/egress', store_prompts: true}\n"
    "privacy: {confine: false, pseudonyms: {on: true}}\n";

static char folder[] = "/tmp/tandem-allocation-XXXXXX";

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
    (void)stat, (void)kind, (void)at;
    return remove(path);
}

static void open_server(void)
{
    char config[sizeof config_text + 2 * sizeof folder];
    if (!mkdtemp(folder))
        abort();
    snprintf(config, sizeof config, config_text, folder, folder);
    setenv("TANDEM_STATE_DIR", folder, 1);
    recorded_open(config);
}

/* --- requests --- */

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define SAID USER("Good morning.") ",{\"role\":\"assistant\",\"content\":\"Yes?\"},"
#define TOOLS                                                                                    \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"Looks.\"," \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}}],"
#define CLOUD "\"tandem\":{\"mode\":\"prefer-cloud\"},"

static const struct scene {
    const char *name, *path, *body;
    enum recorded_reply replies[2]; /* the first one, and all that follow */
    bool stays;                     /* it may not leave the device */
    const char *kept;               /* what may not, though the rest of it may; or NULL */
    const char *before;             /* a request of the same conversation, or NULL */
    const char *after;              /* if it was answered, this may not leave either; or NULL */
    const char *answer;             /* in a whole answer; NULL = RECORDED_ANSWER */
} scenes[] = {
    {.name = "a chat",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"cloud\"," TOOLS "\"metadata\":{\"a\":\"b\"},\"stop\":[\"x\"],"
             "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}," USER("Hi") "]}"},
    {.name = "a stream",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"cloud\",\"stream\":true,\"messages\":[" USER("Hi") "]}"},
    {.name = "messages",
     .path = "/v1/messages",
     .body = "{\"model\":\"cloud\",\"max_tokens\":9,\"system\":\"Be brief.\",\"messages\":["
             "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}"},
    {.name = "a stream of messages",
     .path = "/v1/messages",
     .body =
         "{\"model\":\"cloud\",\"max_tokens\":9,\"stream\":true,\"messages\":[" USER("Hi") "]}"},
    {.name = "a response",
     .path = "/v1/responses",
     .body = "{\"model\":\"cloud\",\"instructions\":\"Be brief.\",\"input\":[" USER("Hi") "]}"},
    {.name = "a stream of a response",
     .path = "/v1/responses",
     .body = "{\"model\":\"cloud\",\"stream\":true,\"input\":\"Hi\"}"},
    {.name = "a completion",
     .path = "/v1/completions",
     .body = "{\"model\":\"cloud\",\"prompt\":\"Hi\",\"max_tokens\":9}"},
    {.name = "a stream of a completion",
     .path = "/v1/completions",
     .body = "{\"model\":\"cloud\",\"prompt\":\"Hi\",\"stream\":true}"},
    {.name = "a climb after a failure",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"auto\",\"messages\":[" USER("Hi") "]}",
     .replies = {REPLY_DENIED, REPLY_WHOLE}},
    {.name = "a climb after doubt",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"auto\",\"stream\":true,\"messages\":[" USER("Hi") "]}",
     .replies = {REPLY_UNSURE, REPLY_WHOLE}},
    {.name = "an answer that is continued",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"auto\",\"stream\":true,\"messages\":[" USER("Hi") "]}",
     .replies = {REPLY_CUT, REPLY_WHOLE}},
    {.name = "a card",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"auto\"," CLOUD TOOLS "\"messages\":[" SAID USER("My card is " CARD) "]}",
     .after = "{\"model\":\"auto\"," CLOUD "\"messages\":[" SAID USER("And now?") "]}",
     .stays = true},
    {.name = "a card in a stream of messages",
     .path = "/v1/messages",
     .body = "{\"model\":\"auto\"," CLOUD
             "\"max_tokens\":9,\"stream\":true,\"messages\":[" USER("My card is " CARD) "]}",
     .stays = true},
    {.name = "a surrogate",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"auto\"," CLOUD TOOLS "\"metadata\":{\"a\":\"" MAIL "\"},"
             "\"messages\":[" SAID USER("Write to " MAIL) "]}",
     .kept = MAIL},
    {.name = "a surrogate in a response",
     .path = "/v1/responses",
     .body = "{\"model\":\"auto\"," CLOUD "\"stream\":true,\"input\":\"Write to " MAIL "\"}",
     .kept = MAIL},
    {.name = "a conversation that held a card",
     .path = "/v1/chat/completions",
     .before = "{\"model\":\"auto\"," CLOUD "\"messages\":[" SAID USER("My card is " CARD) "]}",
     .body = "{\"model\":\"auto\"," CLOUD "\"messages\":[" SAID USER("And now?") "]}",
     .stays = true},
    {.name = "the engine",
     .path = "/v1/chat/completions",
     .body = "{\"model\":\"home\",\"max_tokens\":3,\"messages\":[" USER("What can you do?") "]}",
     .stays = true,
     .answer = "\"content\":\""},
    {.name = "a schema",
     .path = "/v1/chat/completions",
     .body =
         "{\"model\":\"cloud\",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"
         "\"name\":\"n\",\"schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"b\","
         "\"c\"]}}}}},\"messages\":[" USER("Hi") "]}"},
};

static bool ask(const char *path, const char *body)
{
    static char bytes[16384];
    int len = snprintf(bytes, sizeof bytes,
                       "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       path, strlen(body), body);
    return recorded_ask((struct td_str){bytes, (size_t)len}, true);
}

static bool has(const char *text)
{
    return recorded.reply.len > 0 && strstr(recorded.reply.data, text) != NULL;
}

static int code_of_reply(void)
{
    return recorded.reply.len > 12 ? atoi(recorded.reply.data + 9) : 0;
}

/* --- what must hold --- */

static void say(const struct scene *scene, long at, const char *what)
{
    fprintf(stderr, "%s, allocation %ld: %s\n" STR_FMT "\n", scene->name, at, what,
            STR_ARG(buf_view(&recorded.reply)));
    test_case_failed = 1;
}

static bool ends_with(const char *text)
{
    return str_ends_with(buf_view(&recorded.reply), str_from(text));
}

/* The connection was closed before the end that its framing announced. */
static bool is_cut(void)
{
    if (recorded.reply.len == 0 || !has("\r\n\r\n"))
        return true;
    if (has("Transfer-Encoding: chunked"))
        return !ends_with("\r\n0\r\n\r\n");
    const char *length = strstr(recorded.reply.data, "Content-Length: "),
               *body = strstr(recorded.reply.data, "\r\n\r\n");
    return !length || strlen(body + 4) != strtoul(length + 16, NULL, 10);
}

static bool is_whole(const struct scene *scene)
{
    static const char *const ends[] = {"data: [DONE]", "message_stop", "response.completed"};
    bool ended = !has("event-stream");
    if (is_cut() || has("\"error\":{") || code_of_reply() != 200)
        return false;
    if (ended)
        return has(scene->answer ? scene->answer : RECORDED_ANSWER);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        ended |= has(ends[i]);
    return ended && has("Remote") && has(" answer."); /* in pieces */
}

/* 5xx before the stream, or an error in it; the words are about memory. */
static bool is_honest(void)
{
    return (code_of_reply() >= 500 || (code_of_reply() == 200 && has("\"error\":{"))) &&
           (has("memory") || has("out_of_memory"));
}

static void look_at_reply(const struct scene *scene, long at, bool answered)
{
    if (!answered)
        say(scene, at, "never answered");
    else if (!is_cut() && !is_whole(scene) && !is_honest())
        say(scene, at,
            code_of_reply() == 200 ? "a part of an answer, as if it were the whole"
                                   : "an error that does not say what happened");
}

static void look_at_sent(const struct scene *scene, long at)
{
    for (size_t i = 0; i < recorded.sent_count; i++) {
        const struct sent *sent = &recorded.sent[i];
        bool holds =
            scene->kept && str_find(buf_view(&sent->body), str_from(scene->kept), 0) != SIZE_MAX;
        if (strstr(sent->url, "//cloud") && (scene->stays || holds))
            say(scene, at, "left the device");
    }
}

static void set_replies(const struct scene *scene)
{
    recorded.replies[0] = scene->replies[0];
    recorded.replies[1] = scene->replies[1];
    recorded.reply_count = 2;
    recorded.reply_next = 0;
}

static void try_allocation(const struct scene *scene, long at)
{
    recorded_renew();
    if (scene->before) {
        recorded.reply_count = 1;
        recorded.replies[0] = REPLY_WHOLE;
        ask(scene->path, scene->before);
    }
    set_replies(scene);
    atomic_store(&failed, false);
    atomic_store(&until_failure, at);
    bool answered = ask(scene->path, scene->body);
    atomic_store(&until_failure, LONG_MAX);
    look_at_reply(scene, at, answered);
    if (scene->after && code_of_reply() == 200)
        ask(scene->path, scene->after);
    look_at_sent(scene, at);
    set_replies(scene);
    if (!ask(scene->path, scene->body) || !is_whole(scene)) /* and what it left behind is sound */
        say(scene, at, "the next request is not answered");
    look_at_sent(scene, at);
}

static long step(void)
{
    const char *text = getenv("ALLOCATION_STEP");
    return text && atol(text) > 0 ? atol(text) : 5;
}

/* Other scenes begin elsewhere, so that all together try more places. */
static void try_scene(const struct scene *scene, long first)
{
    try_allocation(scene, LONG_MAX - 1); /* libraries make here what they keep */
    long at = first;
    do
        try_allocation(scene, at), at += step();
    while (atomic_load(&failed) && at < 1000000);
    printf("%s: %ld allocations\n", scene->name, at);
}

int main(void)
{
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    json_watch_memory();
    open_server();
    const char *only = getenv("ALLOCATION_SCENE");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if ((only && !strstr(scenes[i].name, only)) || !test_begin(scenes[i].name))
            continue;
        try_scene(&scenes[i], (long)i % step());
        test_end();
    }
    recorded_close();
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return test_finish();
}
