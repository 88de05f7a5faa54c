/* Webhooks: the signature, who is told, what is tried again, and which addresses are refused. The
 * receiver here is a thread with one socket that answers what each test says. */
#include "net/client/webhook.h"

#include "base/core/str.h"
#include "base/time/clock.h"
#include "net/transport/address_set.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define WAIT_MS 60000 /* at most, for what must come */
#define REQUEST_BYTES 8192
#define REQUESTS_MAX 16
#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

struct receiver {
    int fd;
    uint16_t port;
    pthread_t thread;
    const char *answers[REQUESTS_MAX]; /* NULL = hangs */
    atomic_int count;
    char requests[REQUESTS_MAX][REQUEST_BYTES];
};

static void read_request(int fd, char out[static REQUEST_BYTES])
{
    size_t len = 0, wanted = SIZE_MAX;
    ssize_t got;
    while (len < wanted && len + 1 < REQUEST_BYTES &&
           (got = recv(fd, out + len, REQUEST_BYTES - 1 - len, 0)) > 0) {
        len += (size_t)got;
        out[len] = '\0';
        const char *end = strstr(out, "\r\n\r\n"), *length = strcasestr(out, "content-length:");
        if (end && length)
            wanted = (size_t)(end + 4 - out) + (size_t)atoi(length + 15);
    }
}

static void *receive(void *ctx)
{
    struct receiver *receiver = ctx;
    int fd;
    while ((fd = accept(receiver->fd, NULL, NULL)) >= 0) {
        int number = atomic_load(&receiver->count);
        if (number < REQUESTS_MAX) {
            const struct timeval limit = {.tv_sec = WAIT_MS / 1000};
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            read_request(fd, receiver->requests[number]);
            const char *answer = receiver->answers[number];
            char text[256];
            int len = snprintf(text, sizeof text,
                               "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                               answer ? answer : "500 No");
            if (answer)
                (void)!send(fd, text, (size_t)len, MSG_NOSIGNAL);
            else
                usleep(300 * 1000);
        }
        atomic_fetch_add(&receiver->count, 1);
        close(fd);
    }
    return NULL;
}

static void receiver_begin(struct receiver *receiver)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    receiver->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(receiver->fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(receiver->fd, 16) == 0);
    CHECK(getsockname(receiver->fd, (struct sockaddr *)&address, &len) == 0);
    receiver->port = ntohs(address.sin_port);
    CHECK(pthread_create(&receiver->thread, NULL, receive, receiver) == 0);
}

static void receiver_end(struct receiver *receiver)
{
    shutdown(receiver->fd, SHUT_RDWR);
    close(receiver->fd);
    pthread_join(receiver->thread, NULL);
}

static bool wait_for(struct receiver *receiver, int count)
{
    double end_ms = clock_monotonic_ms(NULL) + WAIT_MS;
    while (atomic_load(&receiver->count) < count && clock_monotonic_ms(NULL) < end_ms)
        usleep(10 * 1000);
    return atomic_load(&receiver->count) >= count;
}

/* Waits for an event to have got its end. */
static struct webhook_counts wait_for_end(struct webhooks *webhooks)
{
    struct webhook_counts counts;
    double end_ms = clock_monotonic_ms(NULL) + WAIT_MS;
    do {
        usleep(10 * 1000);
        webhooks_read(webhooks, &counts);
    } while (counts.sent + counts.dropped == 0 && clock_monotonic_ms(NULL) < end_ms);
    return counts;
}

static struct webhooks *webhooks_for(const struct receiver *receiver, bool allow_private,
                                     const char *const *events, size_t event_count)
{
    static char url[96];
    struct webhooks *webhooks = NULL;
    struct td_error err = {0};
    struct secret *secret = secret_new(STR(SECRET));
    snprintf(url, sizeof url, "%s://127.0.0.1:%u/hook", allow_private ? "http" : "https",
             receiver->port);
    const struct webhook_target target = {.name = "test",
                                          .url = url,
                                          .secret = secret,
                                          .events = events,
                                          .event_count = event_count,
                                          .allow_private = allow_private};
    CHECK(webhooks_new(&target, 1, &webhooks, &err) == TD_OK);
    secret_free(secret);
    return webhooks;
}

static void test_signature_is_that_of_standard_webhooks(void)
{
    /* The example of Svix's documentation, "Verifying webhooks manually". */
    char out[WEBHOOK_SIGNATURE_BYTES];
    struct td_error err = {0};
    CHECK(webhook_sign(STR(SECRET),
                       STR("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"), out,
                       &err) == TD_OK);
    CHECK(strcmp(out, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=") == 0);
    CHECK(webhook_sign(STR("a plain text as key"), STR("x"), out, &err) == TD_OK);
    static const char *const bad[] = {"",
                                      "whsec_",
                                      "whsec_abc",
                                      "whsec_!!!!",
                                      "whsec_====",
                                      "too short",
                                      "whsec_AAAAAAAAAAAAAAAA"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(webhook_sign(str_from(bad[i]), STR("x"), out, &err) == TD_INVALID);
}

static void test_a_receiver_can_check_what_it_got(void)
{
    struct receiver receiver = {.answers = {"204 No Content"}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, true, NULL, 0);
    CHECK(webhook_send(webhooks, "answer.corrected", STR("{\"id\":\"ex_1\"}")));
    CHECK(wait_for(&receiver, 1));
    struct webhook_counts counts = wait_for_end(webhooks);
    CHECK(counts.sent == 1 && counts.dropped == 0 && counts.failures == 0);
    webhooks_free(webhooks);
    receiver_end(&receiver);
    char *request = receiver.requests[0], id[64] = "", time[32] = "", signature[64] = "";
    const char *body = strstr(request, "\r\n\r\n");
    sscanf(strcasestr(request, "webhook-id:"), "%*s %63s", id);
    sscanf(strcasestr(request, "webhook-timestamp:"), "%*s %31s", time);
    sscanf(strcasestr(request, "webhook-signature:"), "%*s %63s", signature);
    CHECK(body && strstr(body, "\"type\":\"answer.corrected\"") && strstr(body, "\"id\":\"ex_1\""));
    char text[REQUEST_BYTES], out[WEBHOOK_SIGNATURE_BYTES];
    snprintf(text, sizeof text, "%s.%s.%.4000s", id, time, body ? body + 4 : "");
    CHECK(webhook_sign(STR(SECRET), str_from(text), out, NULL) == TD_OK);
    CHECK(strcmp(out, signature) == 0);
}

static void test_a_server_error_is_tried_again_and_a_refusal_is_not(void)
{
    struct receiver receiver = {.answers = {"503 Later", "200 OK", "404 No"}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, true, NULL, 0);
    CHECK(webhook_send(webhooks, "a", STR("{}")));
    CHECK(wait_for(&receiver, 2));
    struct webhook_counts counts = wait_for_end(webhooks);
    CHECK(counts.sent == 1 && counts.failures == 1);
    char first[64] = "", second[64] = "";
    sscanf(strcasestr(receiver.requests[0], "webhook-id:"), "%*s %63s", first);
    sscanf(strcasestr(receiver.requests[1], "webhook-id:"), "%*s %63s", second);
    CHECK(*first && strcmp(first, second) == 0);
    CHECK(webhook_send(webhooks, "a", STR("{}")));
    CHECK(wait_for(&receiver, 3));
    for (double end_ms = clock_monotonic_ms(NULL) + WAIT_MS;
         counts.dropped == 0 && clock_monotonic_ms(NULL) < end_ms; usleep(10 * 1000))
        webhooks_read(webhooks, &counts);
    usleep(1500 * 1000);
    webhooks_read(webhooks, &counts);
    CHECK(counts.sent == 1 && counts.dropped == 1);
    CHECK(atomic_load(&receiver.count) == 3);
    webhooks_free(webhooks);
    receiver_end(&receiver);
}

static void test_a_redirect_is_not_followed(void)
{
    struct receiver receiver = {.answers = {"302 Found\r\nLocation: /other", "200 OK"}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, true, NULL, 0);
    CHECK(webhook_send(webhooks, "a", STR("{}")));
    struct webhook_counts counts = wait_for_end(webhooks);
    CHECK(counts.sent == 0 && counts.dropped == 1);
    CHECK(atomic_load(&receiver.count) == 1);
    webhooks_free(webhooks);
    receiver_end(&receiver);
}

static void test_a_private_address_is_refused(void)
{
    struct receiver receiver = {.answers = {"200 OK"}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, false, NULL, 0);
    CHECK(webhook_send(webhooks, "a", STR("{}")));
    double end_ms = clock_monotonic_ms(NULL) + WAIT_MS;
    struct webhook_counts counts = {0};
    while (counts.failures == 0 && clock_monotonic_ms(NULL) < end_ms) {
        usleep(10 * 1000);
        webhooks_read(webhooks, &counts);
    }
    CHECK(counts.failures >= 1 && counts.sent == 0);
    CHECK(atomic_load(&receiver.count) == 0); /* not a byte, not even a connection */
    webhooks_free(webhooks);
    receiver_end(&receiver);
    CHECK(webhook_check_url("http://example.com/", false, NULL) == TD_INVALID);
    CHECK(webhook_check_url("https://user@example.com/", false, NULL) == TD_INVALID);
    CHECK(webhook_check_url("https://example.com/\r\nX: y", false, NULL) == TD_INVALID);
    CHECK(webhook_check_url("ftp://example.com/", true, NULL) == TD_INVALID);
    CHECK(webhook_check_url("https://example.com/x", false, NULL) == TD_OK);
    CHECK(webhook_is_private("https://10.1.2.3/x") && webhook_is_private("https://[::1]:8443"));
    CHECK(webhook_is_private("https://127.1") && webhook_is_private("https://localhost:1/"));
    CHECK(!webhook_is_private("https://example.com") && !webhook_is_private("https://[") &&
          !webhook_is_private("https://93.184.216.34/x") && !webhook_is_private("x"));
}

static void test_only_wanted_events_are_sent_and_what_has_no_room_is_counted(void)
{
    static const char *const events[] = {"review.*", "answer.corrected"};
    struct receiver receiver = {.answers = {"200 OK", "200 OK"}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, true, events, 2);
    CHECK(webhook_send(NULL, "a", STR("{}"))); /* nobody to tell */
    CHECK(webhook_send(webhooks, "answer.committed", STR("{}")));
    CHECK(webhook_send(webhooks, "review.taken", STR("{}")));
    CHECK(webhook_send(webhooks, "answer.corrected", STR("{}")));
    CHECK(wait_for(&receiver, 2));
    char *large = malloc(WEBHOOK_DATA_BYTES_MAX + 1);
    memset(large, ' ', WEBHOOK_DATA_BYTES_MAX + 1);
    CHECK(!webhook_send(webhooks, "review.x", (struct td_str){large, WEBHOOK_DATA_BYTES_MAX + 1}));
    free(large);
    webhooks_free(webhooks);
    CHECK(atomic_load(&receiver.count) == 2);
    receiver_end(&receiver);
}

static void test_a_receiver_that_hangs_holds_nobody_up(void)
{
    struct receiver receiver = {.answers = {NULL}};
    receiver_begin(&receiver);
    struct webhooks *webhooks = webhooks_for(&receiver, true, NULL, 0);
    double begin_ms = clock_monotonic_ms(NULL);
    size_t taken = 0;
    for (size_t i = 0; i < 2000; i++)
        taken += webhook_send(webhooks, "a", STR("{}"));
    CHECK(clock_monotonic_ms(NULL) - begin_ms < WAIT_MS); /* each would take 300 ms */
    CHECK(taken >= 64 && taken < 2000);                   /* bounded */
    webhooks_free(webhooks); /* within its two seconds, whatever the receiver does */
    receiver_end(&receiver);
}

static bool is_public(const char *text)
{
    struct sockaddr_in six4 = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &six4.sin_addr) == 1)
        return address_is_public((const struct sockaddr *)&six4);
    CHECK(inet_pton(AF_INET6, text, &six.sin6_addr) == 1);
    return address_is_public((const struct sockaddr *)&six);
}

static void test_which_addresses_are_public(void)
{
    static const char *const open[] = {"8.8.8.8",        "172.15.0.1",       "172.32.0.1",
                                       "100.63.0.1",     "2600::1",          "2a00::1",
                                       "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "192.0.1.1"};
    static const char *const closed[] = {
        "0.0.0.0",     "10.1.2.3",    "100.64.0.1",      "127.0.0.1",  "169.254.169.254",
        "172.16.0.1",  "172.31.9.9",  "192.168.1.1",     "198.18.0.1", "192.0.2.1",
        "224.0.0.1",   "240.0.0.1",   "255.255.255.255", "::",         "::1",
        "fe80::1",     "fc00::1",     "fd12::1",         "ff02::1",    "::ffff:127.0.0.1",
        "::127.0.0.1", "2001:db8::1", "2002:7f00:1::",   "2001:0:1::", "64:ff9b::10.0.0.1",
        "64:ff9b:1::1"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        CHECK(is_public(open[i]));
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        CHECK(!is_public(closed[i]));
}

int main(void)
{
    RUN(test_signature_is_that_of_standard_webhooks);
    RUN(test_a_receiver_can_check_what_it_got);
    RUN(test_a_server_error_is_tried_again_and_a_refusal_is_not);
    RUN(test_a_redirect_is_not_followed);
    RUN(test_a_private_address_is_refused);
    RUN(test_only_wanted_events_are_sent_and_what_has_no_room_is_counted);
    RUN(test_a_receiver_that_hangs_holds_nobody_up);
    RUN(test_which_addresses_are_public);
    return test_finish();
}
