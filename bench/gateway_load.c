/* The load generator of bench_gateway.py: a closed loop of requests over kept connections. One
 * thread, epoll.
 *
 *   gateway_load PORT PATH BODY_FILE CONNECTIONS REQUESTS RAMP_US [HEADER...]
 *
 * Each connection sends the body, reads the answer to its end, and sends the next, until REQUESTS
 * were answered. Connection N begins after N times RAMP_US. The first ######## of the body becomes
 * the number of the request, so that no request is the repetition of another. Prints one line of
 * JSON: what failed, how long it took, and of each answer in nanoseconds: until its end; of streams
 * until the first token, from the first to the last one over their number less one, the longest
 * gap, and of all tokens how long they were on the way from gateway_mock. */
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 256
#define READ_BYTES 65536
#define HEAD_BYTES_MAX 8192
#define CARRY_BYTES 40 /* a token is shorter: `@` and 20 digits */
#define SILENCE_MS 30000
#define DELAYS_MAX 1000000

enum body_kind { BODY_LENGTH, BODY_CHUNKED };

struct connection {
    int fd;
    bool idle;
    size_t sent; /* of the request */
    char *request;
    uint64_t begin_ns, first_ns, last_ns, gap_ns;
    unsigned token_count;
    /* The answer: its head until it is whole, then what is left of its body. */
    char head[HEAD_BYTES_MAX];
    size_t head_len, body_left;
    bool in_body;
    enum body_kind kind;
    char end[5]; /* the last bytes of a chunked body */
    char carry[CARRY_BYTES];
    size_t carry_len;
};

static struct {
    int epoll_fd;
    struct sockaddr_in address;
    char *request;
    size_t request_len, number_at; /* 0: the body has no number */
    size_t connection_count, wanted, started, ended, failed;
    char failure[512];
    uint64_t *whole, *first, *per_token, *gap; /* [ended], [stream_count] */
    size_t stream_count;
    uint32_t *delays;
    size_t delay_count;
    uint64_t token_total;
} load;

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "gateway_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *memory(size_t count, size_t size)
{
    void *got = calloc(count ? count : 1, size);
    if (!got)
        die("memory");
    return got;
}

static void make_request(const char *port, const char *path, const char *file, char **headers)
{
    FILE *body = fopen(file, "rb");
    struct stat info;
    if (!body || fstat(fileno(body), &info) != 0)
        die(file);
    size_t bytes = (size_t)info.st_size, size = bytes + 4096;
    load.request = memory(size, 1);
    size_t at = (size_t)snprintf(load.request, size,
                                 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
                                 "Content-Type: application/json\r\nContent-Length: %zu\r\n",
                                 path, port, bytes);
    for (; *headers; headers++)
        at += (size_t)snprintf(load.request + at, size - bytes - at, "%s\r\n", *headers);
    at += (size_t)snprintf(load.request + at, size - bytes - at, "\r\n");
    if (at + bytes >= size || fread(load.request + at, 1, bytes, body) != bytes)
        die(file);
    fclose(body);
    load.request_len = at + bytes;
    char *number = memmem(load.request, load.request_len, "########", 8);
    load.number_at = number ? (size_t)(number - load.request) : 0;
}

/* --- requests --- */

static void hang_up(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}

static void watch(struct connection *connection, int how, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(load.epoll_fd, how, connection->fd, &event) != 0)
        die("epoll_ctl");
}

static void dial(struct connection *connection)
{
    int one = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&load.address, sizeof load.address) != 0)
        die("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
}

static void fail(struct connection *connection, const char *what)
{
    if (load.failed++ == 0)
        snprintf(load.failure, sizeof load.failure, "%.500s", what);
    load.ended++;
    hang_up(connection);
    connection->idle = true;
}

static void send_more(struct connection *connection)
{
    while (connection->sent < load.request_len) {
        ssize_t sent = send(connection->fd, connection->request + connection->sent,
                            load.request_len - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        if (sent <= 0) {
            fail(connection, "the connection ended while the request was sent");
            return;
        }
        connection->sent += (size_t)sent;
    }
}

static void begin(struct connection *connection)
{
    if (load.started >= load.wanted)
        return;
    if (connection->fd < 0)
        dial(connection);
    if (load.number_at) {
        char number[16];
        snprintf(number, sizeof number, "%08zu", load.started % 100000000);
        memcpy(connection->request + load.number_at, number, 8);
    }
    load.started++;
    connection->idle = connection->in_body = false;
    connection->sent = connection->head_len = connection->carry_len = 0;
    connection->token_count = 0;
    connection->gap_ns = 0;
    memset(connection->end, 0, sizeof connection->end);
    connection->begin_ns = now_ns();
    send_more(connection);
}

static void end(struct connection *connection)
{
    load.whole[load.ended++ - load.failed] = now_ns() - connection->begin_ns;
    if (connection->token_count > 0) {
        size_t at = load.stream_count++;
        uint64_t span = connection->last_ns - connection->first_ns;
        load.first[at] = connection->first_ns - connection->begin_ns;
        load.per_token[at] = connection->token_count > 1 ? span / (connection->token_count - 1) : 0;
        load.gap[at] = connection->gap_ns;
    }
    connection->idle = true;
    begin(connection);
}

/* --- answers --- */

static void take_token(struct connection *connection, const char *digits, uint64_t now)
{
    uint64_t delay = now - strtoull(digits, NULL, 10);
    if (connection->token_count++ == 0)
        connection->first_ns = now;
    else if (now - connection->last_ns > connection->gap_ns)
        connection->gap_ns = now - connection->last_ns;
    connection->last_ns = now;
    load.token_total++;
    if (load.delay_count < DELAYS_MAX)
        load.delays[load.delay_count++] = delay < UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

/* Takes the tokens whose end is here; the beginning of one is kept for the next read. */
static void find_tokens(struct connection *connection, const char *bytes, size_t len)
{
    static char text[READ_BYTES + CARRY_BYTES + 1];
    uint64_t now = now_ns();
    memcpy(text, connection->carry, connection->carry_len);
    memcpy(text + connection->carry_len, bytes, len);
    len += connection->carry_len;
    text[len] = '\0';
    connection->carry_len = 0;
    for (char *at = text; (at = memchr(at, '@', len - (size_t)(at - text)));) {
        char *stop = at + 1 + strspn(at + 1, "0123456789");
        if (*stop) {
            take_token(connection, at + 1, now);
        } else if ((size_t)(stop - at) < CARRY_BYTES) {
            connection->carry_len = (size_t)(stop - at);
            memcpy(connection->carry, at, connection->carry_len);
        }
        at = stop;
    }
}

/* Chunks are not taken apart: nothing that is sent here contains the end of a chunked body. */
static bool body_ends(struct connection *connection, const char *bytes, size_t len)
{
    if (connection->kind == BODY_LENGTH) {
        connection->body_left -= len < connection->body_left ? len : connection->body_left;
        return connection->body_left == 0;
    }
    size_t of_new = len < 5 ? len : 5;
    memmove(connection->end, connection->end + of_new, 5 - of_new);
    memcpy(connection->end + 5 - of_new, bytes + len - of_new, of_new);
    return memcmp(connection->end, "0\r\n\r\n", 5) == 0;
}

static bool read_head(struct connection *connection)
{
    char *head = connection->head;
    if (strncmp(head, "HTTP/1.1 200", 12) != 0) {
        fail(connection, head);
        return false;
    }
    const char *length = strcasestr(head, "\r\ncontent-length:");
    connection->kind = length ? BODY_LENGTH : BODY_CHUNKED;
    connection->body_left = length ? strtoul(length + 17, NULL, 10) : 0;
    connection->in_body = true;
    return true;
}

static void take(struct connection *connection, const char *bytes, size_t len)
{
    if (!connection->in_body) {
        size_t room = HEAD_BYTES_MAX - 1 - connection->head_len;
        size_t more = len < room ? len : room;
        memcpy(connection->head + connection->head_len, bytes, more);
        connection->head[connection->head_len + more] = '\0';
        char *stop = strstr(connection->head, "\r\n\r\n");
        if (!stop) {
            connection->head_len += more;
            if (more == room)
                fail(connection, "the head of an answer is too long");
            return;
        }
        size_t of_head = (size_t)(stop + 4 - connection->head) - connection->head_len;
        if (!read_head(connection))
            return;
        bytes += of_head;
        len -= of_head;
    }
    if (len > 0 && connection->kind == BODY_CHUNKED)
        find_tokens(connection, bytes, len);
    if (len > 0 && body_ends(connection, bytes, len))
        end(connection);
}

static void on_event(struct connection *connection, uint32_t events)
{
    static char bytes[READ_BYTES];
    if (connection->fd >= 0 && (events & EPOLLOUT)) {
        watch(connection, EPOLL_CTL_MOD, EPOLLIN);
        send_more(connection);
    }
    if (connection->fd < 0 || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t got = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got > 0 && !connection->idle)
        take(connection, bytes, (size_t)got);
    else if (connection->idle)
        hang_up(connection);
    else
        fail(connection, got == 0 ? "the connection was closed" : strerror(errno));
}

/* --- the whole --- */

static void run(struct connection *connections, uint64_t ramp_ns)
{
    uint64_t begin_ns = now_ns();
    size_t begun = 0;
    while (load.ended < load.wanted) {
        struct epoll_event events[EVENTS_MAX];
        for (; begun < load.connection_count && now_ns() - begin_ns >= begun * ramp_ns; begun++)
            begin(&connections[begun]);
        int ready = epoll_wait(load.epoll_fd, events, EVENTS_MAX,
                               begun < load.connection_count ? 1 : SILENCE_MS);
        if (ready == 0 && begun == load.connection_count) {
            snprintf(load.failure, sizeof load.failure, "no byte in %d ms", SILENCE_MS);
            load.failed += load.wanted - load.ended;
            return;
        }
        for (int i = 0; i < ready; i++)
            on_event(events[i].data.ptr, events[i].events);
        for (size_t i = 0; load.failed > 0 && i < begun; i++) /* go on after a failure */
            if (connections[i].idle && load.failed < 100)
                begin(&connections[i]);
        if (load.failed >= 100)
            return;
    }
}

static void put_list(const char *name, const uint64_t *values, size_t count)
{
    printf(",\"%s\":[", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)values[i]);
    printf("]");
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void put_results(double seconds)
{
    for (char *at = load.failure; *at; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
            *at = '\'';
    printf("{\"seconds\":%.6f,\"failed\":%zu,\"failure\":\"%s\",\"tokens\":%llu", seconds,
           load.failed, load.failure, (unsigned long long)load.token_total);
    size_t good = load.ended > load.failed ? load.ended - load.failed : 0;
    put_list("whole", load.whole, good);
    put_list("first", load.first, load.stream_count);
    put_list("per_token", load.per_token, load.stream_count);
    put_list("gap", load.gap, load.stream_count);
    qsort(load.delays, load.delay_count, sizeof *load.delays, by_size);
    size_t n = load.delay_count;
    printf(",\"delay_p50\":%u,\"delay_p99\":%u}\n", n ? load.delays[n / 2] : 0,
           n ? load.delays[n * 99 / 100] : 0);
}

int main(int count, char **words)
{
    if (count < 7) {
        fprintf(stderr, "usage: gateway_load PORT PATH BODY_FILE CONNECTIONS REQUESTS RAMP_US "
                        "[HEADER...]\n");
        return 2;
    }
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    make_request(words[1], words[2], words[3], words + 7);
    load.connection_count = strtoul(words[4], NULL, 10);
    load.wanted = strtoul(words[5], NULL, 10);
    load.address = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)strtoul(words[1], NULL, 10)),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    load.whole = memory(load.wanted, sizeof *load.whole);
    load.first = memory(load.wanted, sizeof *load.first);
    load.per_token = memory(load.wanted, sizeof *load.per_token);
    load.gap = memory(load.wanted, sizeof *load.gap);
    load.delays = memory(DELAYS_MAX, sizeof *load.delays);
    load.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct connection *connections = memory(load.connection_count, sizeof *connections);
    for (size_t i = 0; i < load.connection_count; i++) {
        connections[i].fd = -1;
        connections[i].idle = true;
        connections[i].request = memory(load.request_len, 1);
        memcpy(connections[i].request, load.request, load.request_len);
    }
    uint64_t begin_ns = now_ns();
    run(connections, strtoul(words[6], NULL, 10) * 1000);
    put_results((double)(now_ns() - begin_ns) / 1e9);
    return load.failed > 0;
}
