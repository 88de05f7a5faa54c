/* Events wait in a bounded queue of the senders. The thread takes them from there into a fixed
 * table of deliveries, one for each target, in which they are sent and wait for their next try. A
 * full table leaves the rest in the queue; a full queue drops. So memory is bounded by
 * QUEUE_EVENTS + DELIVERIES messages, some 10 MiB at most.
 *
 * What may be repeated: no connection, no answer in time, 408, 425, 429 and 5xx. Any other answer
 * is the receiver's last word, a redirect, too. The id is the same in every try, so that a receiver
 * that got a message twice can tell. */
#include "net/client/webhook.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"
#include "base/thread/loop.h"
#include "base/thread/queue.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "net/client/loopback.h"
#include "net/transport/address_set.h"

#include <netdb.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 100
#define QUEUE_EVENTS 256
#define DELIVERIES 64
#define RUNNING_MAX 16
#define TRIES_MAX 5
#define BACKOFF_FIRST_MS 1000.0 /* then four times as long each: 1, 4, 16, 64 s */
#define CONNECT_TIMEOUT_MS 5000
#define TOTAL_TIMEOUT_MS 10000 /* a receiver that hangs or dribbles */
#define ANSWER_BYTES_MAX 65536
#define LAST_MS 2000 /* for what is left at the end */
#define URL_BYTES_MAX 2048
#define ID_BYTES 32
#define SECRET_BYTES_MAX 512
#define KEY_BYTES_MIN 16 /* a shorter key can be guessed from one message */
#define EVENT_BYTES_MAX 64

/* Shared by the deliveries of one event, on the thread alone. */
struct message {
    size_t holders;
    char event[EVENT_BYTES_MAX];
    char id[ID_BYTES];
    size_t len;
    char body[];
};

struct target {
    char *name, *url;
    struct secret *secret;
    char **events; /* [event_count]; 0 = all */
    size_t event_count;
    bool allow_private;
    bool told; /* the log was told that it fails; once, until it works again */
};

struct delivery {
    struct webhooks *webhooks;
    struct message *message; /* NULL = the place is free */
    struct target *target;
    struct client_transfer *transfer; /* NULL = it waits */
    unsigned tries;
    double not_before_ms;
};

struct webhooks {
    struct target targets[WEBHOOKS_MAX];
    size_t target_count;
    struct queue *queue;
    _Atomic uint64_t sent, dropped, failures;
    atomic_bool stopping;

    /* The thread's own. */
    pthread_t thread;
    struct loop *loop;
    struct loop_timer *timer;
    struct client *client;
    struct delivery deliveries[DELIVERIES];
    double last_ms;
};

/* --- the signature --- */

/* The key that a secret stands for; *len 0 when it is none. */
static void read_key(struct td_str secret, uint8_t key[static SECRET_BYTES_MAX], size_t *len)
{
    const struct td_str prefix = STR("whsec_");
    *len = 0;
    if (secret.len == 0 || secret.len > SECRET_BYTES_MAX)
        return;
    if (!str_starts_with(secret, prefix)) {
        memcpy(key, secret.data, secret.len);
        *len = secret.len < KEY_BYTES_MIN ? 0 : secret.len;
        return;
    }
    struct td_str text = str_slice(secret, prefix.len, secret.len);
    int bytes = text.len % 4 == 0
                    ? EVP_DecodeBlock(key, (const unsigned char *)text.data, (int)text.len)
                    : -1;
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.data[text.len - 1 - padding] == '=')
        padding++;
    if (bytes > 0 && (size_t)bytes >= padding + KEY_BYTES_MIN)
        *len = (size_t)bytes - padding;
}

enum td_status webhook_sign(struct td_str secret, struct td_str signed_text,
                            char out[static WEBHOOK_SIGNATURE_BYTES], struct td_error *err)
{
    uint8_t key[SECRET_BYTES_MAX], mac[KEYED_MAC_BYTES];
    unsigned char base64[4 * (KEYED_MAC_BYTES + 2) / 3 + 2];
    size_t len;
    read_key(secret, key, &len);
    if (len > 0)
        keyed_mac_under((struct td_str){(const char *)key, len}, signed_text.data, signed_text.len,
                        mac);
    crypto_wipe(key, sizeof key);
    if (len == 0)
        return error_set(
            err, TD_INVALID,
            "the secret of a webhook must be whsec_ and base64, or a text, of %d to %d "
            "bytes",
            KEY_BYTES_MIN, SECRET_BYTES_MAX);
    EVP_EncodeBlock(base64, mac, sizeof mac);
    snprintf(out, WEBHOOK_SIGNATURE_BYTES, "v1,%s", (const char *)base64);
    return TD_OK;
}

bool webhook_is_private(const char *url)
{
    const struct addrinfo numbers = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char host[256];
    const char *after = strstr(url, "//");
    struct td_str rest = str_from(after ? after + 2 : "");
    bool six = str_starts_with(rest, STR("["));
    rest = str_slice(rest, six, six ? str_find(rest, STR("]"), 0) : strcspn(rest.data, ":/?#"));
    snprintf(host, sizeof host, STR_FMT, STR_ARG(rest));
    if (loopback_is_host(rest))
        return true;
    if (getaddrinfo(host, NULL, &numbers, &found) != 0)
        return false;
    bool inside = !address_is_public(found->ai_addr);
    freeaddrinfo(found);
    return inside;
}

enum td_status webhook_check_url(const char *url, bool allow_private, struct td_error *err)
{
    struct td_str text = str_from(url);
    bool http = str_starts_with(text, STR("http://"));
    bool known = http ? allow_private : str_starts_with(text, STR("https://"));
    bool plain =
        text.len < URL_BYTES_MAX && text.len > 0 && strcspn(url, " \t\r\n\"<>\\^`{|}@") == text.len;
    if (known && plain)
        return TD_OK;
    return error_set(err, TD_INVALID,
                     "the url of a webhook must be an https address without user and password%s",
                     http ? "; http is for allow_private alone" : "");
}

/* --- from the senders --- */

bool webhook_takes(const char *pattern, const char *event)
{
    struct td_str name = str_from(pattern);
    if (!str_ends_with(name, STR("*")))
        return str_equal(name, str_from(event));
    return str_starts_with(str_from(event), str_slice(name, 0, name.len - 1));
}

static bool takes(const struct target *target, const char *event)
{
    for (size_t i = 0; i < target->event_count; i++)
        if (webhook_takes(target->events[i], event))
            return true;
    return target->event_count == 0;
}

static struct message *message_new(const char *event, struct td_str data)
{
    uint8_t random[12];
    char now[25], hex[2 * sizeof random + 1];
    const size_t room = data.len + EVENT_BYTES_MAX + 96;
    struct message *message = malloc(sizeof *message + room);
    if (!message || crypto_random(random, sizeof random, NULL) != TD_OK) {
        free(message);
        return NULL;
    }
    crypto_hex(random, sizeof random, hex);
    message->holders = 0;
    snprintf(message->id, sizeof message->id, "msg_%s", hex);
    snprintf(message->event, sizeof message->event, "%s", event);
    clock_format_iso8601(clock_wall_ms(NULL), now);
    int len = snprintf(message->body, room, "{\"type\":\"%s\",\"timestamp\":\"%s\",\"data\":%.*s}",
                       message->event, now, (int)data.len, data.data);
    message->len = len > 0 && (size_t)len < room ? (size_t)len : 0;
    return message;
}

bool webhook_send(struct webhooks *webhooks, const char *event, struct td_str data)
{
    size_t wanted = 0;
    for (size_t i = 0; webhooks && i < webhooks->target_count; i++)
        wanted += takes(&webhooks->targets[i], event);
    if (wanted == 0)
        return true;
    bool fits = data.len > 0 && data.len <= WEBHOOK_DATA_BYTES_MAX &&
                strlen(event) < EVENT_BYTES_MAX && !atomic_load(&webhooks->stopping);
    struct message *message = fits ? message_new(event, data) : NULL;
    if (message && message->len > 0 && queue_push(webhooks->queue, message))
        return true;
    free(message);
    atomic_fetch_add(&webhooks->dropped, wanted);
    return false;
}

void webhooks_read(struct webhooks *webhooks, struct webhook_counts *out)
{
    *out = (struct webhook_counts){.sent = atomic_load(&webhooks->sent),
                                   .dropped = atomic_load(&webhooks->dropped),
                                   .failures = atomic_load(&webhooks->failures)};
}

/* --- deliveries --- */

static void end_delivery(struct delivery *delivery)
{
    if (--delivery->message->holders == 0)
        free(delivery->message);
    delivery->message = NULL;
}

static bool may_repeat(enum td_status status, int code)
{
    if (status != TD_OK)
        return status != TD_INVALID && status != TD_UNSUPPORTED;
    return code == 408 || code == 425 || code == 429 || code >= 500;
}

static void on_sent(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct delivery *delivery = ctx;
    struct webhooks *webhooks = delivery->webhooks;
    struct target *target = delivery->target;
    delivery->transfer = NULL;
    if (status == TD_OK && code >= 200 && code < 300) {
        atomic_fetch_add(&webhooks->sent, 1);
        target->told = false;
        end_delivery(delivery);
        return;
    }
    atomic_fetch_add(&webhooks->failures, 1);
    if (!target->told)
        log_event(LOG_LEVEL_WARN, "webhook_failed", "webhook=%s http_status=%d error=\"%s\"",
                  target->name, code, status != TD_OK && err ? err->message : "");
    target->told = true;
    delivery->tries++;
    if (may_repeat(status, code) && delivery->tries < TRIES_MAX) {
        double wait_ms = BACKOFF_FIRST_MS * (1u << (2 * (delivery->tries - 1)));
        delivery->not_before_ms = clock_monotonic_ms(NULL) + wait_ms;
        return;
    }
    atomic_fetch_add(&webhooks->dropped, 1);
    log_event(LOG_LEVEL_WARN, "webhook_dropped", "webhook=%s event=%s id=%s tries=%u", target->name,
              delivery->message->event, delivery->message->id, delivery->tries);
    end_delivery(delivery);
}

/* The timestamp is that of the try: receivers refuse old ones. */
static enum td_status start_transfer(struct delivery *delivery, struct td_error *err)
{
    const struct message *message = delivery->message;
    const struct target *target = delivery->target;
    char signature[WEBHOOK_SIGNATURE_BYTES], id[64], timestamp[64], signed_by[96];
    struct buf text;
    unsigned long long now_s = clock_wall_ms(NULL) / 1000;
    buf_init(&text, message->len + 128);
    buf_printf(&text, "%s.%llu.", message->id, now_s);
    buf_append(&text, message->body, message->len);
    enum td_status status =
        text.failed ? error_set(err, TD_NO_MEMORY, "no memory for a webhook")
                    : webhook_sign(secret_reveal(target->secret), buf_view(&text), signature, err);
    buf_deinit(&text);
    if (status != TD_OK)
        return status;
    snprintf(id, sizeof id, "webhook-id: %s", message->id);
    snprintf(timestamp, sizeof timestamp, "webhook-timestamp: %llu", now_s);
    snprintf(signed_by, sizeof signed_by, "webhook-signature: %s", signature);
    const char *headers[] = {"Content-Type: application/json",
                             "User-Agent: tandem/" TANDEM_VERSION,
                             id,
                             timestamp,
                             signed_by,
                             NULL};
    const struct client_request request = {
        .method = "POST",
        .url = target->url,
        .headers = headers,
        .body = {message->body, message->len},
        .allow_http = target->allow_private,
        .public_only = !target->allow_private,
        .direct = true,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .total_timeout_ms = TOTAL_TIMEOUT_MS,
        .response_bytes_max = ANSWER_BYTES_MAX,
        .on_done = on_sent,
        .ctx = delivery,
    };
    return client_start(delivery->webhooks->client, &request, &delivery->transfer, err);
}

static struct delivery *free_place(struct webhooks *webhooks)
{
    for (size_t i = 0; i < DELIVERIES; i++)
        if (!webhooks->deliveries[i].message)
            return &webhooks->deliveries[i];
    return NULL;
}

static size_t free_places(const struct webhooks *webhooks)
{
    size_t count = 0;
    for (size_t i = 0; i < DELIVERIES; i++)
        count += !webhooks->deliveries[i].message;
    return count;
}

static void take_events(struct webhooks *webhooks)
{
    struct message *message;
    while (free_places(webhooks) >= webhooks->target_count &&
           (message = queue_pop(webhooks->queue))) {
        for (size_t i = 0; i < webhooks->target_count; i++) {
            if (!takes(&webhooks->targets[i], message->event))
                continue;
            message->holders++;
            *free_place(webhooks) = (struct delivery){
                .webhooks = webhooks, .message = message, .target = &webhooks->targets[i]};
        }
    }
}

/* Starts what is due. True while anything is left to do. */
static bool send_due(struct webhooks *webhooks, bool last)
{
    double now_ms = clock_monotonic_ms(NULL);
    size_t running = 0;
    bool busy = false;
    for (size_t i = 0; i < DELIVERIES; i++)
        running += webhooks->deliveries[i].transfer != NULL;
    for (size_t i = 0; i < DELIVERIES; i++) {
        struct delivery *delivery = &webhooks->deliveries[i];
        struct td_error err = {0};
        if (!delivery->message)
            continue;
        busy = busy || delivery->transfer || !last || delivery->tries == 0;
        if (delivery->transfer || running >= RUNNING_MAX || delivery->not_before_ms > now_ms)
            continue;
        running++;
        enum td_status status = start_transfer(delivery, &err);
        if (status != TD_OK)
            on_sent(delivery, status, 0, &err);
    }
    return busy;
}

static void on_tick(void *ctx)
{
    struct webhooks *webhooks = ctx;
    double now_ms = clock_monotonic_ms(NULL);
    bool last = atomic_load(&webhooks->stopping);
    if (last && webhooks->last_ms <= 0)
        webhooks->last_ms = now_ms + LAST_MS;
    take_events(webhooks);
    bool busy = send_due(webhooks, last);
    if (last && (!busy || now_ms >= webhooks->last_ms))
        loop_event_stop(webhooks->loop);
    else
        loop_timer_start(webhooks->loop, webhooks->timer, TICK_MS);
}

/* --- life --- */

static void *webhooks_run(void *ctx)
{
    struct webhooks *webhooks = ctx;
    loop_timer_start(webhooks->loop, webhooks->timer, TICK_MS);
    loop_event_run(webhooks->loop);
    return NULL;
}

static void webhooks_release(struct webhooks *webhooks)
{
    struct message *message;
    client_free(webhooks->client);
    if (webhooks->loop) {
        loop_timer_free(webhooks->loop, webhooks->timer);
        loop_event_free(webhooks->loop);
    }
    for (size_t i = 0; i < DELIVERIES; i++)
        if (webhooks->deliveries[i].message)
            end_delivery(&webhooks->deliveries[i]);
    while (webhooks->queue && (message = queue_pop(webhooks->queue)))
        free(message);
    queue_free(webhooks->queue);
    for (size_t i = 0; i < webhooks->target_count; i++) {
        struct target *target = &webhooks->targets[i];
        for (size_t j = 0; target->events && j < target->event_count; j++)
            free(target->events[j]);
        free(target->events);
        free(target->name);
        free(target->url);
        secret_free(target->secret);
    }
    free(webhooks);
}

static enum td_status copy_target(const struct webhook_target *from, struct target *to,
                                  struct td_error *err)
{
    char signature[WEBHOOK_SIGNATURE_BYTES];
    struct td_str secret = from->secret ? secret_reveal(from->secret) : STR("");
    enum td_status status = webhook_check_url(from->url, from->allow_private, err);
    if (status == TD_OK)
        status = webhook_sign(secret, STR("x"), signature, err);
    if (status != TD_OK)
        return status;
    to->allow_private = from->allow_private;
    to->name = strdup(from->name);
    to->url = strdup(from->url);
    to->secret = secret_new(secret);
    to->events = calloc(from->event_count + 1, sizeof *to->events);
    bool ok = to->name && to->url && to->secret && to->events;
    for (size_t i = 0; ok && i < from->event_count; i++) {
        ok = (to->events[i] = strdup(from->events[i])) != NULL;
        to->event_count++;
    }
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for webhooks");
}

static enum td_status webhooks_open(struct webhooks *webhooks, const struct webhook_target *targets,
                                    size_t count, struct td_error *err)
{
    enum td_status status = count <= WEBHOOKS_MAX
                                ? TD_OK
                                : error_set(err, TD_INVALID, "at most %d webhooks", WEBHOOKS_MAX);
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        webhooks->target_count++;
        status = copy_target(&targets[i], &webhooks->targets[i], err);
    }
    if (status == TD_OK && !(webhooks->queue = queue_new(QUEUE_EVENTS)))
        status = error_set(err, TD_NO_MEMORY, "no memory for webhooks");
    if (status == TD_OK)
        status = loop_event_new(&webhooks->loop, err);
    if (status == TD_OK)
        status = client_new(webhooks->loop, &webhooks->client, err);
    if (status == TD_OK && !(webhooks->timer = loop_timer_new(webhooks->loop, on_tick, webhooks)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a timer");
    return status;
}

enum td_status webhooks_new(const struct webhook_target *targets, size_t count,
                            struct webhooks **out, struct td_error *err)
{
    struct webhooks *webhooks = calloc(1, sizeof *webhooks);
    *out = NULL;
    if (!webhooks)
        return error_set(err, TD_NO_MEMORY, "no memory for webhooks");
    enum td_status status = webhooks_open(webhooks, targets, count, err);
    if (status == TD_OK && pthread_create(&webhooks->thread, NULL, webhooks_run, webhooks) != 0)
        status = error_set(err, TD_NO_MEMORY, "no thread for webhooks");
    if (status == TD_OK)
        *out = webhooks;
    else
        webhooks_release(webhooks);
    return status;
}

void webhooks_free(struct webhooks *webhooks)
{
    if (!webhooks)
        return;
    atomic_store(&webhooks->stopping, true);
    pthread_join(webhooks->thread, NULL);
    webhooks_release(webhooks);
}
