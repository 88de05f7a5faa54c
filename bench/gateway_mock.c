/* A server that answers chats at once, for bench_gateway.py. It reads no JSON: whatever stands in
 * front of it is what is measured. One thread, epoll, connections are kept.
 *
 *   gateway_mock TOKENS INTERVAL_US [PORT]   prints its port on 127.0.0.1, serves until stdin ends
 *
 * A body with `"stream":true` gets TOKENS events, one each INTERVAL_US (0: all at once, 64 at
 * most), others a whole answer. The text of each event is `@` and the time it was sent, in
 * nanoseconds of the monotonic clock, so that the load generator knows how long it was on the way.
 * All streams have one interval, so a queue in the order of due times is all the timers. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define HEAD_BYTES_MAX 16384
#define READ_BYTES 65536
#define EVENT_BYTES_MAX 768
#define WHOLE_TOKENS_MAX 64 /* of an answer in one piece */
#define WHOLE_BYTES_MAX ((WHOLE_TOKENS_MAX + 4) * EVENT_BYTES_MAX)
#define SENT_MOST 256
#define MARK "\"stream\":"

struct connection {
    int fd;
    char head[HEAD_BYTES_MAX]; /* of the request, until it is whole */
    size_t head_len, body_left;
    char tail[sizeof MARK + 5]; /* the end of what was read: the mark may lie across two reads */
    size_t tail_len;
    bool streams, waits;
    unsigned left; /* events to send */
    uint64_t due_ns;
    struct connection *next; /* in the queue of due streams */
};

static struct {
    int epoll_fd, listen_fd;
    unsigned token_count;
    uint64_t interval_ns;
    struct connection *first, *last; /* streams by due time */
    char answer[2048];
    size_t answer_len;
} mock;

static const char stream_head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "gateway_mock: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void make_answer(void)
{
    static const char body[] =
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,"
        "\"model\":\"mock\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
        "\"content\":\"The harbour is closed to large ships until the ebb, so the second convoy "
        "waits in the roads and takes on coal there.\"},\"finish_reason\":\"stop\"}],\"usage\":"
        "{\"prompt_tokens\":420,\"completion_tokens\":25,\"total_tokens\":445}}";
    int len = snprintf(mock.answer, sizeof mock.answer,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       sizeof body - 1, body);
    mock.answer_len = (size_t)len;
}

static void enqueue(struct connection *connection)
{
    connection->next = NULL;
    connection->waits = true;
    if (mock.last)
        mock.last->next = connection;
    else
        mock.first = connection;
    mock.last = connection;
}

static void dequeue(struct connection *connection)
{
    struct connection **at = &mock.first, *before = NULL;
    while (*at != connection) {
        before = *at;
        at = &before->next;
    }
    *at = connection->next;
    if (mock.last == connection)
        mock.last = before;
    connection->waits = false;
}

static void hang_up(struct connection *connection)
{
    if (connection->waits)
        dequeue(connection);
    close(connection->fd);
    free(connection);
}

/* What is sent is small and the peer reads it, so a socket that is full is a fault of the run. */
static bool send_all(struct connection *connection, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(connection->fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            usleep(100);
            continue;
        }
        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static size_t put_event(char *out, size_t size, const char *delta, const char *finish)
{
    char event[512];
    int len = snprintf(event, sizeof event,
                       "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","
                       "\"created\":1700000000,\"model\":\"mock\",\"choices\":[{\"index\":0,"
                       "\"delta\":{%s},\"finish_reason\":%s}]}\n\n",
                       delta, finish);
    return (size_t)snprintf(out, size, "%x\r\n%s\r\n", (unsigned)len, event);
}

static size_t put_token(char *out, size_t size)
{
    char delta[80];
    snprintf(delta, sizeof delta, "\"content\":\"@%llu \"", (unsigned long long)now_ns());
    return put_event(out, size, delta, "null");
}

static size_t put_start(char *out, size_t size)
{
    size_t len = (size_t)snprintf(out, size, "%s", stream_head);
    return len +
           put_event(out + len, size - len, "\"role\":\"assistant\",\"content\":\"\"", "null");
}

static size_t put_end(char *out, size_t size)
{
    size_t len = put_event(out, size, "", "\"stop\"");
    return len + (size_t)snprintf(out + len, size - len, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
}

static bool send_token(struct connection *connection)
{
    char out[EVENT_BYTES_MAX];
    return send_all(connection, out, put_token(out, sizeof out));
}

static bool send_end(struct connection *connection)
{
    char out[2 * EVENT_BYTES_MAX];
    return send_all(connection, out, put_end(out, sizeof out));
}

/* All in one piece, as it arrives from a server that had the answer ready. */
static bool send_whole_stream(struct connection *connection)
{
    char out[WHOLE_BYTES_MAX];
    size_t len = put_start(out, sizeof out);
    for (unsigned i = 0; i < mock.token_count; i++)
        len += put_token(out + len, sizeof out - len);
    len += put_end(out + len, sizeof out - len);
    return send_all(connection, out, len);
}

static bool begin_stream(struct connection *connection)
{
    char out[2 * EVENT_BYTES_MAX];
    if (mock.interval_ns == 0)
        return send_whole_stream(connection);
    size_t len = put_start(out, sizeof out);
    if (!send_all(connection, out, len) || !send_token(connection))
        return false;
    connection->left = mock.token_count - 1;
    connection->due_ns = now_ns() + mock.interval_ns;
    enqueue(connection);
    return true;
}

/* Sends what is due, but not so much that new connections wait for long; the milliseconds until the
 * next event, -1: there is none. Who is late by more than an interval does not catch up. */
static int run_queue(void)
{
    for (int sent = 0; mock.first; sent++) {
        uint64_t now = now_ns();
        struct connection *connection = mock.first;
        if (connection->due_ns > now)
            return (int)((connection->due_ns - now) / 1000000) + 1;
        if (sent == SENT_MOST)
            return 0;
        dequeue(connection);
        bool alive = connection->left > 0 ? send_token(connection) : send_end(connection);
        if (!alive) {
            hang_up(connection);
        } else if (connection->left > 0) {
            connection->left--;
            connection->due_ns += mock.interval_ns;
            if (connection->due_ns < now)
                connection->due_ns = now;
            enqueue(connection);
        }
    }
    return -1;
}

/* --- requests --- */

static size_t content_length(const char *head)
{
    const char *line = strcasestr(head, "\r\ncontent-length:");
    return line ? strtoul(line + 17, NULL, 10) : 0;
}

/* Looks for the mark in what came, and in what lies across the last read and this one. */
static void look_for_mark(struct connection *connection, const char *bytes, size_t len)
{
    char across[2 * sizeof connection->tail];
    size_t more = len < sizeof connection->tail ? len : sizeof connection->tail;
    memcpy(across, connection->tail, connection->tail_len);
    memcpy(across + connection->tail_len, bytes, more);
    const char *found = memmem(across, connection->tail_len + more, MARK "true", sizeof MARK + 3);
    if (!found)
        found = memmem(across, connection->tail_len + more, MARK " true", sizeof MARK + 4);
    if (!found)
        found = memmem(bytes, len, MARK "true", sizeof MARK + 3);
    if (!found)
        found = memmem(bytes, len, MARK " true", sizeof MARK + 4);
    connection->streams = connection->streams || found;
    memcpy(connection->tail, bytes + len - more, more);
    connection->tail_len = more;
}

static bool answer(struct connection *connection)
{
    bool streams = connection->streams;
    connection->streams = false;
    connection->tail_len = connection->head_len = 0;
    return streams ? begin_stream(connection) : send_all(connection, mock.answer, mock.answer_len);
}

/* One request at a time on each connection: nothing of the next one follows in the same read. */
static bool take(struct connection *connection, const char *bytes, size_t len)
{
    if (connection->body_left == 0) {
        if (len > HEAD_BYTES_MAX - 1 - connection->head_len) {
            size_t room = HEAD_BYTES_MAX - 1 - connection->head_len;
            memcpy(connection->head + connection->head_len, bytes, room);
            connection->head[HEAD_BYTES_MAX - 1] = '\0';
        } else {
            memcpy(connection->head + connection->head_len, bytes, len);
            connection->head[connection->head_len + len] = '\0';
        }
        char *end = strstr(connection->head, "\r\n\r\n");
        if (!end) {
            connection->head_len += len;
            return connection->head_len < HEAD_BYTES_MAX - 1;
        }
        size_t head_bytes = (size_t)(end + 4 - connection->head);
        end[2] = '\0';
        size_t of_this = head_bytes - connection->head_len;
        bytes += of_this;
        len -= of_this;
        connection->body_left = content_length(connection->head);
        if (connection->body_left == 0)
            return answer(connection);
    }
    if (len == 0)
        return true;
    if (len > connection->body_left)
        return false;
    look_for_mark(connection, bytes, len);
    connection->body_left -= len;
    return connection->body_left > 0 || answer(connection);
}

static void on_readable(struct connection *connection)
{
    static char bytes[READ_BYTES];
    ssize_t got = recv(connection->fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0 || !take(connection, bytes, (size_t)got))
        hang_up(connection);
}

static void on_new(void)
{
    int fd, one = 1;
    while ((fd = accept4(mock.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection)
            die("memory");
        connection->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        if (epoll_ctl(mock.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
            die("epoll_ctl");
    }
}

/* port 0: any. A port that another mock had a moment ago is free to take. */
static void listen_here(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int one = 1;
    mock.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (mock.listen_fd < 0 ||
        setsockopt(mock.listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(mock.listen_fd, (struct sockaddr *)&address, len) != 0 ||
        listen(mock.listen_fd, 8192) != 0 ||
        getsockname(mock.listen_fd, (struct sockaddr *)&address, &len) != 0)
        die("listen");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &mock.listen_fd};
    struct epoll_event end = {.events = EPOLLIN, .data.ptr = NULL};
    mock.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (mock.epoll_fd < 0 || epoll_ctl(mock.epoll_fd, EPOLL_CTL_ADD, mock.listen_fd, &event) != 0 ||
        epoll_ctl(mock.epoll_fd, EPOLL_CTL_ADD, 0, &end) != 0)
        die("epoll");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
}

int main(int count, char **words)
{
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: gateway_mock TOKENS INTERVAL_US [PORT] (stdin: a pipe)\n");
        return 2;
    }
    mock.token_count = (unsigned)strtoul(words[1], NULL, 10);
    mock.interval_ns = strtoul(words[2], NULL, 10) * 1000;
    if (mock.token_count == 0 || (mock.interval_ns == 0 && mock.token_count > WHOLE_TOKENS_MAX)) {
        fprintf(stderr, "gateway_mock: TOKENS must be 1 or more, at most %d without an interval\n",
                WHOLE_TOKENS_MAX);
        return 2;
    }
    make_answer();
    listen_here(count == 4 ? (unsigned)strtoul(words[3], NULL, 10) : 0);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int ready = epoll_wait(mock.epoll_fd, events, EVENTS_MAX, run_queue());
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr == NULL)
                return 0; /* who started us has ended */
            if (events[i].data.ptr == &mock.listen_fd)
                on_new();
            else
                on_readable(events[i].data.ptr);
        }
    }
}
