/* The way from HTTP bytes to what leaves: a request that the input shapes, with private values in
 * it, goes through the real parser, dialects, scan, plan and door to tiers that record. Whatever
 * the request looks like and however the tiers fail, no planted value reaches a place that may not
 * see it, and every request is answered.
 *
 * The input chooses the dialect, the messages and members with their texts, where values are
 * planted and how they are written, the headers, the framing, and the tiers' answers. */
#include "../recorded_server.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "planted.h"
#include "privacy/scan/privacy.h"
#include "request_forms.h"

#define FILLER_BYTES_MAX 24
#define SEGMENTS_MAX 3
#define PLANTED_MAX 64
#define LIST_MAX 3
#define REQUESTS_MAX 2

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char config_text[] =
    "tiers:\n"
    "  - {name: device, kind: openai, place: device, model: m, base_url: 'http://127.0.0.1:9/v1'}\n"
    "  - {name: house, kind: openai, place: premises, model: m, base_url: 'http://house/v1',\n"
    "     allow_http: true, completions: true}\n"
    "  - {name: near, kind: openai, place: region, region: eu, model: m,\n"
    "     base_url: 'https://near/v1', completions: true, modalities: [text, image, audio, file]}\n"
    "  - {name: cloud, kind: openai, place: cloud, model: m, base_url: 'https://cloud/v1',\n"
    "     completions: true, modalities: [text, image, audio, file]}\n"
    "routes:\n"
    "  - {name: auto, kind: hybrid, tiers: [device, house, near, cloud]}\n"
    "  - {name: far, kind: hybrid, tiers: [device, cloud], start: cloud}\n"
    "  - {name: pair, kind: hybrid, tiers: [house, near, cloud], climb: hedged,\n"
    "     hedge: {after_ms: 1, requests_share: 1}}\n"
    "  - {name: bare, kind: hybrid, tiers: [device, cloud], pseudonyms: false}\n"
    "  - {name: strict, kind: hybrid, tiers: [device, cloud], strict: true}\n"
    "ledger: {enabled: false}\n"
    "privacy:\n" PLANT_RULES "  pseudonyms: {on: true, classes: [sensitive, restricted]}\n";

/* --- the input --- */

struct input {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct input *input, unsigned below)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++ % below;
}

/* What was planted in the requests of this input. */
static struct {
    struct td_str text; /* as written, in `texts` */
    const struct plant *plant;
} planted[PLANTED_MAX];
static size_t planted_count;
static struct buf texts;

static void fail(const char *why, const char *what)
{
    fprintf(stderr, "%s: %s\n", why, what);
    for (size_t i = 0; i < recorded.sent_count; i++)
        fprintf(stderr, "sent to %s:\n%s" STR_FMT "\n", recorded.sent[i].url,
                recorded.sent[i].headers.data, STR_ARG(buf_view(&recorded.sent[i].body)));
    abort();
}

/* --- texts --- */

/* Words between values, which the input writes. No letters and digits: they would make other values
 * of those beside them. */
static void put_filler(struct input *input, struct buf *out)
{
    static const char *const words[] = {"is",
                                        "the card",
                                        "password:",
                                        "Explain",
                                        "order no.",
                                        "total",
                                        "https://x.example/?q=",
                                        "{\"a\":",
                                        "```\n",
                                        "v1.0",
                                        "\u2603",
                                        "data:text/plain;base64,"};
    unsigned len = take(input, FILLER_BYTES_MAX + 1);
    if (len == 0)
        buf_append_str(out, str_from(words[take(input, sizeof words / sizeof *words)]));
    while (len-- > 0 && input->left > 0) {
        char c = (char)take(input, 128);
        buf_append_char(out, isalnum((unsigned char)c) || !c ? "aeiou ,."[c % 8] : c);
    }
}

static void put_value(struct input *input, struct buf *out, size_t plant_count, bool plain)
{
    const struct plant *plant = &plants[take(input, (unsigned)plant_count)];
    enum disguise disguise = (enum disguise)take(input, DISGUISE_COUNT);
    if (plain || !(plant->disguises & BIT(disguise)))
        disguise = DISGUISE_NONE;
    size_t begin = out->len;
    put_planted(out, plant, disguise);
    if (planted_count == PLANTED_MAX)
        return;
    size_t at = texts.len;
    buf_append_str(&texts, str_slice(buf_view(out), begin, out->len));
    planted[planted_count].text = (struct td_str){NULL, texts.len - at};
    planted[planted_count++].plant = plant;
}

/* Fillers and values, apart from each other. */
static void put_text(struct input *input, struct buf *out)
{
    static const char *const apart[] = {" ", "\n", ", ", "; ", ": ", " (", "\"", " = "};
    unsigned segments = take(input, SEGMENTS_MAX + 1);
    for (unsigned i = 0; i < segments; i++) {
        if (take(input, 3) == 0) {
            buf_append_str(out, str_from(apart[take(input, 8)]));
            put_value(input, out, PLANT_COUNT, false);
            buf_append_str(out, str_from(apart[take(input, 4)]));
        } else {
            put_filler(input, out);
        }
    }
    if (segments == 0)
        buf_append_str(out, STR("Explain the French revolution."));
}

/* --- JSON --- */

/* A string in one of the ways in which JSON may write it. */
static void put_string(struct input *input, struct buf *out, struct td_str text)
{
    unsigned style = take(input, 4);
    if (style < 2) {
        json_write_text(text, out);
        return;
    }
    buf_append_char(out, '"');
    for (size_t i = 0; i < text.len;) {
        uint32_t c = utf8_next(text, &i);
        if (style == 2 && c > ' ' && c != '"' && c != '\\' && c != 0x7f)
            put_code_point(out, c);
        else if (c < 0x10000)
            buf_printf(out, "\\u%04x", c);
        else
            buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
    }
    buf_append_char(out, '"');
}

static void put_form(struct input *input, struct buf *out, const char *form);

/* %J: JSON in a string, as arguments of tools are. */
static void put_arguments(struct input *input, struct buf *out)
{
    struct buf inner;
    buf_init(&inner, RECORDED_BYTES_MAX);
    put_form(input, &inner, "{%K:%S,'list':[%S,%D]}");
    put_string(input, out, buf_view(&inner));
    buf_deinit(&inner);
}

static void put_place(struct input *input, struct buf *out, char place)
{
    static unsigned keys;
    struct buf text;
    buf_init(&text, RECORDED_BYTES_MAX);
    switch (place) {
    case 'S': /* a text */
        put_text(input, &text);
        put_string(input, out, buf_view(&text));
        break;
    case 'N': /* a name */
    case 'K': /* a name that no other member has */
        if (take(input, 3) == 0)
            put_value(input, &text, PLANT_COUNT, true);
        else
            buf_append_str(&text, take(input, 2) ? STR("look_up") : STR("note"));
        if (place == 'K')
            buf_printf(&text, " k%u", keys++);
        put_string(input, out, buf_view(&text));
        break;
    case 'D': /* a number */
        if (take(input, 2))
            put_value(input, out, PLANT_NUMBERS, true);
        else
            buf_append_str(out, STR("17"));
        break;
    case 'J':
        put_arguments(input, out);
        break;
    case 'H': /* a header's value */
        if (take(input, 2))
            put_value(input, out, PLANT_COUNT, true);
        else
            buf_append_str(out, STR("a=b"));
        break;
    default:
        abort();
    }
    buf_deinit(&text);
}

static void put_form(struct input *input, struct buf *out, const char *form)
{
    for (; *form; form++) {
        if (*form == '%')
            put_place(input, out, *++form);
        else
            buf_append_char(out, *form == '\'' ? '"' : *form);
    }
}

static void put_body(struct input *input, const struct form *form, struct buf *out)
{
    static const char *const models[] = {"auto",   "far",   "pair", "bare",
                                         "strict", "cloud", "near", "house"};
    unsigned items = 1 + take(input, LIST_MAX), members = take(input, LIST_MAX);
    buf_printf(out, "{\"model\":\"%s\",\"stream\":%s,", models[take(input, 8)],
               take(input, 2) ? "true" : "false");
    put_form(input, out, form->list);
    buf_append_str(out, STR(":["));
    for (unsigned i = 0; i < items; i++) {
        buf_append_str(out, i ? STR(",") : STR(""));
        unsigned item = i + 1 < items ? take(input, form->items.count) : 0; /* the user's is last */
        put_form(input, out, form->items.items[item]);
    }
    buf_append_char(out, ']');
    unsigned first = take(input, form->members.count);
    for (unsigned i = 0; i < members; i++) { /* no member twice */
        buf_append_char(out, ',');
        put_form(input, out, form->members.items[(first + i) % form->members.count]);
    }
    buf_append_char(out, '}');
}

/* --- HTTP --- */

static void put_headers(struct input *input, struct buf *out)
{
    unsigned count = take(input, LIST_MAX + 1);
    for (unsigned i = 0; i < count; i++) {
        put_form(input, out, request_headers[take(input, HEADER_COUNT)]);
        buf_append_str(out, STR("\r\n"));
    }
}

/* Whole, or in chunks that the input cuts. */
static void put_framed(struct input *input, struct buf *out, struct td_str body)
{
    if (take(input, 2) == 0) {
        buf_printf(out, "content-length: %zu\r\n\r\n" STR_FMT, body.len, STR_ARG(body));
        return;
    }
    buf_append_str(out, STR("transfer-encoding: chunked\r\n\r\n"));
    for (size_t at = 0; at < body.len;) {
        struct td_str chunk = str_slice(body, at, at + 1 + 16 * take(input, 64));
        buf_printf(out, "%zx\r\n" STR_FMT "\r\n", chunk.len, STR_ARG(chunk));
        at += chunk.len;
    }
    buf_append_str(out, STR("0\r\n\r\n"));
}

static void put_request(struct input *input, struct buf *out)
{
    const struct form *form = &forms[take(input, FORM_COUNT)];
    struct buf body;
    buf_init(&body, RECORDED_BYTES_MAX);
    put_body(input, form, &body);
    buf_printf(out,
               "POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
               "connection: close\r\n",
               form->path);
    put_headers(input, out);
    put_framed(input, out, buf_view(&body));
    buf_deinit(&body);
}

/* --- what left --- */

/* Everything that a reader of the body sees, however it is written: names, texts and numbers. */
static void read_out(const struct json *value, struct buf *out)
{
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    while (json_next(value, &iterator, &key, &member)) {
        buf_printf(out, "%s\n", key);
        read_out(member, out);
    }
    for (size_t i = 0; json_kind_of(value) == JSON_KIND_ARRAY && i < json_count(value); i++)
        read_out(json_at(value, i), out);
    buf_append_str(out, json_text(value));
    buf_append_char(out, '\n');
}

static bool is_device(const struct sent *sent)
{
    return strstr(sent->url, "//127.0.0.1") != NULL;
}

static bool may_see(const struct sent *sent, enum td_data_class data_class)
{
    bool house = strstr(sent->url, "//house") != NULL;
    return house && data_class < TD_CLASS_RESTRICTED;
}

static bool holds(struct td_str all, struct td_str part)
{
    return part.len > 0 && str_find(all, part, 0) != SIZE_MAX;
}

static void look_at_sent(const struct sent *sent)
{
    struct json *body = NULL;
    struct td_error err = {0};
    struct buf seen, squeezed, value;
    buf_init(&seen, 8 * RECORDED_BYTES_MAX);
    buf_init(&squeezed, 8 * RECORDED_BYTES_MAX);
    buf_init(&value, 1024);
    if (json_parse(buf_view(&sent->body), &body, &err) != TD_OK)
        fail("what was sent is no JSON", err.message);
    buf_append_str(&seen, str_from(sent->url));
    buf_append_str(&seen, buf_view(&sent->headers));
    buf_append_str(&seen, buf_view(&sent->body));
    read_out(body, &seen);
    put_squeezed(&squeezed, buf_view(&seen));
    size_t at = 0;
    for (size_t i = 0; i < planted_count; i++) {
        struct td_str text = str_slice(buf_view(&texts), at, at + planted[i].text.len);
        at += planted[i].text.len;
        if (may_see(sent, planted[i].plant->data_class))
            continue;
        buf_clear(&value);
        put_squeezed(&value, str_from(planted[i].plant->text));
        if (holds(buf_view(&seen), text) || holds(buf_view(&squeezed), buf_view(&value)))
            fail("a planted value left", planted[i].plant->text);
    }
    json_free(body);
    buf_deinit(&seen);
    buf_deinit(&squeezed);
    buf_deinit(&value);
}

/* --- the target --- */

/* Every value is found in every disguise that is planted, and the search for it finds it, too. */
static void check_plants(void)
{
    size_t missed = 0;
    for (size_t i = 0; i < PLANT_COUNT; i++)
        for (int d = 0; d < DISGUISE_COUNT; d++) {
            struct buf text;
            buf_init(&text, 4096);
            put_planted(&text, &plants[i], (enum disguise)d);
            if (plants[i].disguises & BIT(d) &&
                privacy_classify(recorded.held->scanner, buf_view(&text), NULL) <
                    plants[i].data_class) {
                fprintf(stderr, "%s is not found as " STR_FMT "\n", plants[i].text,
                        STR_ARG(buf_view(&text)));
                missed++;
            }
            buf_deinit(&text);
        }
    if (missed > 0)
        abort();
}

static void check_taps(void)
{
    static const char calm[] =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n"
        "connection: close\r\ncontent-length: "
        "90\r\n\r\n{\"model\":\"far\",\"tandem\":{\"mode\":\"only-cloud\"},\"messages\":[{\"role\":"
        "\"user\",\"content\":\"Hi\"}]}";
    recorded_ask(str_from(calm), true);
    if (recorded.sent_count != 1 || !strstr(recorded.reply.data, RECORDED_ANSWER))
        fail("what is public does not reach the cloud", recorded.reply.data);
    recorded_renew();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    recorded_open(config_text);
    buf_init(&texts, RECORDED_BYTES_MAX);
    check_plants();
    check_taps();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct buf request;
    buf_init(&request, 4 * RECORDED_BYTES_MAX);
    planted_count = 0;
    buf_clear(&texts);
    recorded_renew();
    recorded.reply_count = 1 + take(&input, RECORDED_REPLIES_MAX - 1);
    for (size_t i = 0; i < recorded.reply_count; i++)
        recorded.replies[i] = (enum recorded_reply)take(&input, RECORDED_REPLY_KINDS);
    unsigned requests = 1 + take(&input, REQUESTS_MAX);
    for (unsigned i = 0; i < requests && input.left > 0; i++) {
        buf_clear(&request);
        put_request(&input, &request);
        if (request.failed)
            break;
        if (!recorded_ask(buf_view(&request), true))
            fail("a request was never answered", request.data);
    }
    for (size_t i = 0; i < recorded.sent_count && planted_count > 0; i++)
        if (!is_device(&recorded.sent[i]))
            look_at_sent(&recorded.sent[i]);
    buf_deinit(&request);
    return 0;
}
