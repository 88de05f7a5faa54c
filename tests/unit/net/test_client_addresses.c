/* The upstream client and hosts with several addresses, some of which refuse or never answer. The
 * name many.test has the addresses that a test gives it: getaddrinfo and epoll_ctl below stand
 * before those of the C library, for libcurl and libevent too. */
#include "client_fixture.h"

#include "base/time/clock.h"
#include "net/client/client_watch.h"
#include "net/client/loop_event.h"

#include <dlfcn.h>
#include <netdb.h>
#include <sys/epoll.h>

#define FILL_MAX 4
#define STOOD_STILL_MS 900 /* the kernel sends a second SYN after a second */
#define TRIES 20

typedef int getaddrinfo_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);
typedef int epoll_ctl_fn(int, int, int, struct epoll_event *);

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
    __attribute__((visibility("default")));
int epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event)
    __attribute__((visibility("default")));

static const char *const *addresses; /* of many.test, NULL-terminated */
static _Thread_local int late_count; /* sockets that closed before their watch was removed */

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    getaddrinfo_fn *next;
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (node == NULL || strcmp(node, "many.test") != 0)
        return next(node, service, hints, out);
    struct addrinfo **end = out;
    for (size_t i = 0; addresses[i]; i++) {
        struct addrinfo numeric = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
        int bad = next(addresses[i], service, &numeric, end);
        if (bad)
            return bad;
        end = &(*end)->ai_next;
    }
    return 0;
}

/* libcurl 7.88 tells late of a socket that it has closed (net/client/client_watch.c). By then its
 * number may be a socket of the fixture's thread, which is not in our epoll set, so nothing happens
 * to it; but ThreadSanitizer sees one thread use what another has just opened. */
#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#else
#define AnnotateIgnoreReadsBegin(file, line) (void)0
#define AnnotateIgnoreReadsEnd(file, line) (void)0
#endif

int epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event)
{
    epoll_ctl_fn *next;
    *(void **)&next = dlsym(RTLD_NEXT, "epoll_ctl");
    if (op == EPOLL_CTL_DEL)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    int bad = next(epoll_fd, op, fd, event);
    if (op == EPOLL_CTL_DEL)
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    late_count += bad && op == EPOLL_CTL_DEL;
    return bad;
}

/* An address at the fixture's port that neither takes nor refuses connections. */
struct silent {
    int listen_fd, fill[FILL_MAX];
};

static bool silent_open(struct silent *silent, const char *address)
{
    struct sockaddr_in ip4 = {.sin_family = AF_INET, .sin_port = htons(fixture.port)};
    struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6, .sin6_port = htons(fixture.port)};
    bool old = inet_pton(AF_INET, address, &ip4.sin_addr) == 1;
    const struct sockaddr *place = old ? (struct sockaddr *)&ip4 : (struct sockaddr *)&ip6;
    socklen_t len = old ? sizeof ip4 : sizeof ip6;
    CHECK(old || inet_pton(AF_INET6, address, &ip6.sin6_addr) == 1);
    silent->listen_fd = socket(place->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = bind(silent->listen_fd, place, len) == 0 && listen(silent->listen_fd, 0) == 0;
    for (int i = 0; i < FILL_MAX; i++) { /* the queue is full after one or two */
        silent->fill[i] = socket(place->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (good)
            (void)!connect(silent->fill[i], place, len);
    }
    return good;
}

static void silent_close(const struct silent *silent)
{
    for (int i = 0; i < FILL_MAX; i++)
        close(silent->fill[i]);
    close(silent->listen_fd);
}

static struct client_request request_to(struct call *call, const char *const *list)
{
    static char url[64];
    addresses = list;
    snprintf(url, sizeof url, "http://many.test:%u/peer", fixture.port);
    struct client_request request = request_for(call, url);
    request.connect_timeout_ms = 2000;
    request.direct = true;
    return request;
}

static void check_reached(const char *const *list)
{
    struct call call = {0};
    struct client_request request = request_to(&call, list);
    call_alone(&call, &request);
    CHECK(call.status == TD_OK && call.code == 200);
    if (call.status != TD_OK)
        fprintf(stderr, "%s\n", call.err.message);
    buf_deinit(&call.body);
}

static void test_each_address_that_refuses_leads_to_the_next(void)
{
    check_reached((const char *const[]){"127.0.0.2", "127.0.0.1", NULL});
    check_reached((const char *const[]){"127.0.0.2", "127.0.0.3", "127.0.0.1", NULL});
    check_reached((const char *const[]){"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5",
                                        "127.0.0.1", NULL});
}

static void test_an_address_that_does_not_answer_leads_to_the_next(void)
{
    struct silent silent;
    CHECK(silent_open(&silent, "127.0.0.2"));
    check_reached((const char *const[]){"127.0.0.2", "127.0.0.1", NULL});
    silent_close(&silent);
}

static void test_both_families_are_tried_beside_each_other(void)
{
    struct silent silent;
    if (silent_open(&silent, "::1")) {
        check_reached((const char *const[]){"::1", "127.0.0.1", NULL});
        check_reached((const char *const[]){"::1", "127.0.0.2", "127.0.0.3", "127.0.0.1", NULL});
    } else {
        SKIP("test_both_families_are_tried_beside_each_other", "there is no IPv6");
    }
    silent_close(&silent);
}

static void cancel_now(void *ctx)
{
    call_cancel(ctx);
}

/* One call that its limit ends and one that is cancelled while it connects. */
static void end_two_early(void)
{
    const char *const list[] = {"127.0.0.2", NULL};
    struct call late = {0}, cancelled = {0};
    struct client_request request = request_to(&late, list);
    request.connect_timeout_ms = 100;
    call_alone(&late, &request);
    CHECK(late.status == TD_TIMEOUT && strstr(late.err.message, "no connection within 100 ms"));
    loop_begin();
    request = request_to(&cancelled, list);
    call_start(&cancelled, &request);
    struct loop_timer *timer = loop_timer_new(loop, cancel_now, &cancelled);
    loop_timer_start(loop, timer, 100);
    loop_until_all_ended();
    loop_timer_free(loop, timer);
    loop_end();
    CHECK(cancelled.done_count == 0);
    buf_deinit(&late.body), buf_deinit(&cancelled.body);
}

/* In other threads the number of a closed socket may be one of theirs at once. Where this machine
 * stood still for so long that the kernel gave up the first connection, libcurl closes it before we
 * can, so that does not count. */
static void test_a_watch_goes_before_its_socket(void)
{
    struct silent silent;
    CHECK(silent_open(&silent, "127.0.0.2"));
    double took_ms = STOOD_STILL_MS;
    for (int i = 0; i < TRIES && took_ms >= STOOD_STILL_MS; i++) {
        late_count = 0;
        double start_ms = clock_monotonic_ms(NULL);
        end_two_early();
        took_ms = clock_monotonic_ms(NULL) - start_ms;
    }
    CHECK(took_ms < STOOD_STILL_MS && late_count == 0);
    silent_close(&silent);
}

static void on_event(evutil_socket_t fd, short what, void *ctx)
{
    (void)what;
    *(int *)ctx = fd;
    loop_event_stop(loop);
}

static void test_a_new_socket_has_the_watch_of_its_number(void)
{
    int seen_fd = -1, old[2], new[2];
    loop_begin();
    struct client_watches watches = {
        .base = loop_event_base(loop), .on_event = on_event, .ctx = &seen_fd};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, old) == 0 &&
          socketpair(AF_UNIX, SOCK_STREAM, 0, new) == 0);
    CHECK(client_watch_replace(&watches, NULL, NULL, old[0], CURL_POLL_IN) != NULL);
    CHECK(dup2(new[0], old[0]) == old[0]); /* closes the old one */
    client_watches_renew(&watches, old[0]);
    CHECK(write(new[1], "x", 1) == 1);
    loop_until_all_ended();
    CHECK(seen_fd == old[0]);
    client_watches_free(&watches);
    close(old[0]), close(old[1]), close(new[0]), close(new[1]);
    loop_end();
}

int main(void)
{
    if (!fixture_start(&fixture, fixture_options()))
        return 1;
    RUN(test_each_address_that_refuses_leads_to_the_next);
    RUN(test_an_address_that_does_not_answer_leads_to_the_next);
    RUN(test_both_families_are_tried_beside_each_other);
    RUN(test_a_watch_goes_before_its_socket);
    RUN(test_a_new_socket_has_the_watch_of_its_number);
    fixture_end(&fixture);
    return test_finish();
}
