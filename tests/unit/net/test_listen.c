/* Where a server listens, whose PROXY headers are believed, and what those say. */
#include "base/core/str.h"
#include "http_fixture.h"
#include "net/transport/address_set.h"
#include "net/transport/listen.h"
#include "net/transport/proxy_header.h"
#include "test.h"

#include <errno.h>
#include <sys/un.h>

/* --- sets of addresses --- */

static bool has(const struct address_set *set, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_set_has(set, (struct sockaddr *)&v4);
    CHECK(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
    return address_set_has(set, (struct sockaddr *)&v6);
}

static void test_a_network_has_its_addresses_and_no_others(void)
{
    struct address_set set = {0};
    CHECK(address_set_add(&set, STR("10.0.0.0/8")) && address_set_add(&set, STR("192.0.2.7")));
    CHECK(address_set_add(&set, STR("fd00::/9")) && address_set_add(&set, STR("172.16.0.0/12")));
    static const char *const in[] = {"10.0.0.0",   "10.255.255.255", "192.0.2.7",
                                     "fd00::1",    "fd7f:ffff::",    "::ffff:10.1.2.3",
                                     "172.16.0.1", "172.31.255.255"};
    static const char *const out[] = {"9.255.255.255", "11.0.0.0",   "192.0.2.6", "192.0.2.8",
                                      "fd80::1",       "fc00::1",    "::1",       "::a00:1",
                                      "172.15.0.1",    "172.32.0.0", "127.0.0.1"};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        CHECK(has(&set, in[i]));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        CHECK(!has(&set, out[i]));
    const struct sockaddr path = {.sa_family = AF_UNIX};
    CHECK(!address_set_has(&set, &path));
    CHECK(address_set_add(&set, STR("unix")) && address_set_has(&set, &path));
}

static void test_what_is_no_address_is_refused(void)
{
    static const char *const bad[] = {
        "",          "10",         "10.0.0.0/33", "10.0.0.0/",   "10.0.0.1/8",
        "a.example", "fd00::/129", "fd00::1/8",   "10.0.0.0/-1", "10.0.0.0/8/8",
        "[::1]",     "unix:",      "10.0.0.0 ",   "0x7f.1"};
    struct address_set set = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!address_set_add(&set, str_from(bad[i])));
    CHECK(set.count == 0);
    for (size_t i = 0; i < ADDRESS_SET_MAX; i++)
        CHECK(address_set_add(&set, STR("0.0.0.0/0")));
    CHECK(!address_set_add(&set, STR("10.0.0.1")));
    CHECK(has(&set, "8.8.8.8") && !has(&set, "2001::1")); /* all of IPv4 is not IPv6 */
}

/* --- PROXY headers --- */

/* All cuts of the bytes must come to the same, and say MORE until they are whole. */
static enum proxy_result read_cut(struct td_str bytes, struct proxy_header *out, size_t *used)
{
    enum proxy_result result = PROXY_MORE;
    for (size_t len = 0; len <= bytes.len && result == PROXY_MORE; len++)
        result = proxy_header_read(str_slice(bytes, 0, len), out, used);
    struct proxy_header whole;
    size_t whole_used;
    CHECK(proxy_header_read(bytes, &whole, &whole_used) == result);
    CHECK(strcmp(whole.client, out->client) == 0 && whole_used == *used);
    return result;
}

static void test_lines_of_version_1(void)
{
    static const struct {
        const char *text, *client;
        enum proxy_result result;
    } cases[] = {
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 65535\r\n", "192.0.2.1", PROXY_DONE},
        {"PROXY TCP6 2001:DB8::0:1 ::1 0 443\r\n", "2001:db8::1", PROXY_DONE},
        {"PROXY UNKNOWN\r\n", "", PROXY_DONE},
        {"PROXY UNKNOWN ffff::1 anything 1 2\r\n", "", PROXY_DONE},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2 \r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1  192.0.2.2 1 2\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.256 192.0.2.2 1 2\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 -1 2\r\n", "", PROXY_BAD},
        {"PROXY TCP4 ::1 ::1 1 2\r\n", "", PROXY_BAD},
        {"PROXY TCP5 ::1 ::1 1 2\r\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n", "", PROXY_BAD},
        {"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\rX", "", PROXY_BAD},
        {"PROXY \r\n", "", PROXY_BAD},
        {"proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "", PROXY_BAD},
        {"GET / HTTP/1.1\r\n", "", PROXY_BAD},
        {"PROXY UNKNOWN xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxx",
         "", PROXY_BAD},
        {"PROXY TCP4 192.0.2", "", PROXY_MORE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct proxy_header header;
        size_t used;
        enum proxy_result result = read_cut(str_from(cases[i].text), &header, &used);
        bool right = result == cases[i].result && strcmp(header.client, cases[i].client) == 0 &&
                     (result != PROXY_DONE || used == strlen(cases[i].text));
        if (!right)
            fprintf(stderr, "  %s: %d '%s'\n", cases[i].text, result, header.client);
        CHECK(right);
    }
}

/* Version 2 with a client, what follows the addresses, and the length that it announces. */
static size_t second(unsigned char *out, unsigned command, unsigned family, size_t announced)
{
    memcpy(out, "\r\n\r\n\0\r\nQUIT\n", 12);
    out[12] = (unsigned char)command;
    out[13] = (unsigned char)family;
    out[14] = (unsigned char)(announced >> 8);
    out[15] = (unsigned char)announced;
    memset(out + 16, 0, announced);
    memcpy(out + 16, family == 0x21 ? "\x20\x01\x0d\xb8" : "\xc0\0\2\1", 4);
    return 16 + announced;
}

static void test_headers_of_version_2(void)
{
    static const struct {
        unsigned command, family;
        size_t announced;
        enum proxy_result result;
        const char *client;
    } cases[] = {
        {0x21, 0x11, 12, PROXY_DONE, "192.0.2.1"},
        {0x21, 0x11, 200, PROXY_DONE, "192.0.2.1"}, /* with TLVs, which are passed over */
        {0x21, 0x21, 36, PROXY_DONE, "2001:db8::"},
        {0x20, 0x11, 12, PROXY_DONE, ""}, /* LOCAL: the proxy's own connection */
        {0x20, 0x00, 0, PROXY_DONE, ""},
        {0x21, 0x31, 216, PROXY_DONE, ""},
        {0x21, 0x00, 0, PROXY_DONE, ""},
        {0x21, 0x11, 11, PROXY_BAD, ""},
        {0x21, 0x21, 35, PROXY_BAD, ""},
        {0x11, 0x11, 12, PROXY_BAD, ""},
        {0x22, 0x11, 12, PROXY_BAD, ""},
        {0x21, 0x41, 12, PROXY_BAD, ""},
        {0x21, 0x13, 12, PROXY_BAD, ""},
        {0x21, 0x11, 2032, PROXY_DONE, "192.0.2.1"},
        {0x21, 0x11, 2033, PROXY_BAD, ""},
        {0x21, 0x11, 65535, PROXY_BAD, ""},
    };
    static unsigned char bytes[16 + 65535];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct proxy_header header;
        size_t len = second(bytes, cases[i].command, cases[i].family, cases[i].announced), used;
        struct td_str text = {(const char *)bytes, len < 3000 ? len : 3000};
        enum proxy_result result = read_cut(text, &header, &used);
        bool right = result == cases[i].result && strcmp(header.client, cases[i].client) == 0 &&
                     (result != PROXY_DONE || used == len);
        if (!right)
            fprintf(stderr, "  row %zu: %d '%s'\n", i, result, header.client);
        CHECK(right);
    }
}

/* --- sockets --- */

static char folder[] = "/tmp/tandem-listen-XXXXXX";
static char path[64];

static int dial_path(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void test_a_path_has_its_mode_and_a_stale_one_is_replaced(void)
{
    struct td_error err = {0};
    struct stat made, again, seen;
    int fd = listen_open_path(path, 0640, &made, &err);
    REQUIRE(fd >= 0 && lstat(path, &seen) == 0);
    CHECK(S_ISSOCK(seen.st_mode) && (seen.st_mode & 07777) == 0640);
    CHECK(listen_is_path(fd));
    CHECK(listen_open_path(path, 0600, &again, &err) < 0 && err.status == TD_BUSY);
    CHECK(!listen_try_path(path, NULL));
    close(fd); /* as if killed: the file stays */
    int next = listen_open_path(path, 0600, &again, &err);
    REQUIRE(next >= 0 && lstat(path, &seen) == 0);
    CHECK((seen.st_mode & 07777) == 0600);
    listen_remove(path, &made); /* that of before: the new one stays */
    int client = dial_path();
    CHECK(client >= 0);
    close(client);
    listen_remove(path, &again);
    CHECK(lstat(path, &seen) != 0 && errno == ENOENT);
    close(next);
}

static void test_a_path_that_is_something_else_is_left_alone(void)
{
    struct td_error err = {0};
    struct stat made;
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fclose(file);
    CHECK(listen_open_path(path, 0600, &made, &err) < 0 && err.status == TD_INVALID);
    CHECK(strstr(err.message, path) && strstr(err.message, "no socket"));
    CHECK(access(path, F_OK) == 0);
    unlink(path);
    char deep[300];
    snprintf(deep, sizeof deep, "%s/%0200d", folder, 1);
    err = (struct td_error){0};
    CHECK(listen_open_path(deep, 0600, &made, &err) < 0 && strstr(err.message, "at most 100"));
    err = (struct td_error){0};
    CHECK(listen_open_path("/nowhere/t.sock", 0600, &made, &err) < 0 && err.status == TD_IO);
}

static void set_inherited(long pid, const char *count)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", pid);
    setenv("LISTEN_PID", text, 1);
    setenv("LISTEN_FDS", count, 1);
}

static void test_sockets_are_inherited_only_when_they_are_for_this_process(void)
{
    struct td_error err = {0};
    int fds[4];
    size_t count = 9;
    unsetenv("LISTEN_PID");
    CHECK(listen_inherit(fds, 4, &count, &err) == TD_OK && count == 0);
    set_inherited((long)getpid() + 1, "1");
    CHECK(listen_inherit(fds, 4, &count, &err) == TD_OK && count == 0);
    CHECK(!getenv("LISTEN_PID") && !getenv("LISTEN_FDS"));
    set_inherited(getpid(), "5");
    CHECK(listen_inherit(fds, 4, &count, &err) == TD_INVALID && count == 0);
    int saved = dup(3), listener = listen_open("127.0.0.1", 0, false, &err);
    REQUIRE(listener >= 0);
    dup2(listener, 3);
    err = (struct td_error){0};
    set_inherited(getpid(), "1");
    CHECK(listen_inherit(fds, 4, &count, &err) == TD_OK && count == 1 && fds[0] == 3);
    char name[LISTEN_NAME_BYTES];
    uint16_t port = 0;
    CHECK(listen_name(3, name, &port) && strcmp(name, "127.0.0.1") == 0 && port > 0);
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    dup2(pair[0], 3); /* does not listen */
    set_inherited(getpid(), "1");
    CHECK(listen_inherit(fds, 4, &count, &err) == TD_INVALID &&
          strstr(err.message, "descriptor 3"));
    close(pair[0]);
    close(pair[1]);
    close(listener);
    if (saved >= 0)
        dup2(saved, 3);
    close(saved);
}

/* --- a server --- */

static bool start(struct fixture *fixture, const struct address_set *proxies, uint32_t timeout_ms)
{
    struct td_error err = {0};
    struct stat made;
    struct server_options options = fixture_options();
    options.header_timeout_ms = timeout_ms;
    struct server_socket by_path = {.proxies = proxies}, by_port = {.proxies = proxies};
    options.host = NULL;
    if (!fixture_make(fixture, options))
        return false;
    by_port.fd = listen_open("127.0.0.1", 0, false, &err);
    by_path.fd = listen_open_path(path, 0600, &made, &err);
    bool good = by_port.fd >= 0 && by_path.fd >= 0 &&
                server_listen(fixture->server, &by_port, &err) == TD_OK &&
                server_listen(fixture->server, &by_path, &err) == TD_OK;
    fixture->port = server_port(fixture->server);
    return good && fixture_run(fixture);
}

#define ASK "GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

static void ask(int fd, const char *text, char *out, size_t size)
{
    REQUIRE(fd >= 0 && send_text(fd, text));
    receive(fd, out, size, NULL, 30000, NULL);
    close(fd);
}

static void test_a_client_by_a_path_is_its_user(void)
{
    struct fixture fixture;
    char reply[1024], who[32];
    REQUIRE(start(&fixture, NULL, 10000));
    ask(dial_path(), ASK, reply, sizeof reply);
    snprintf(who, sizeof who, "\r\n\r\nunix:%u", geteuid());
    CHECK(code_of(reply) == 200 && strstr(reply, who));
    ask(dial(fixture.port), ASK, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\n127.0.0.1"));
    fixture_end(&fixture);
}

static void test_a_proxy_that_is_believed_says_whose_the_connection_is(void)
{
    struct fixture fixture;
    struct address_set proxies = {0};
    char reply[1024];
    unsigned char binary[128];
    REQUIRE(address_set_add(&proxies, STR("127.0.0.1")) && start(&fixture, &proxies, 10000));
    ask(dial(fixture.port), "PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n" ASK, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\n192.0.2.9"));
    ask(dial(fixture.port), "PROXY UNKNOWN\r\n" ASK, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\n127.0.0.1"));
    size_t len = second(binary, 0x21, 0x11, 12);
    int fd = dial(fixture.port);
    for (size_t i = 0; i < len; i++) { /* byte by byte */
        REQUIRE(send_bytes(fd, binary + i, 1));
        sleep_ms(1);
    }
    ask(fd, ASK, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\n192.0.2.1"));
    ask(dial(fixture.port), ASK, reply, sizeof reply); /* must have one */
    CHECK(*reply == '\0');
    fixture_end(&fixture);
}

static void test_a_forged_header_gains_nothing(void)
{
    struct fixture fixture;
    struct address_set proxies = {0};
    char reply[1024];
    REQUIRE(address_set_add(&proxies, STR("192.0.2.0/24")) && start(&fixture, &proxies, 10000));
    ask(dial(fixture.port), "PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n" ASK, reply, sizeof reply);
    CHECK(code_of(reply) == 400);
    unsigned char binary[28 + sizeof ASK];
    size_t len = second(binary, 0x21, 0x11, 12);
    int fd = dial(fixture.port);
    REQUIRE(send_bytes(fd, binary, len));
    ask(fd, ASK, reply, sizeof reply);
    CHECK(code_of(reply) == 400 && !strstr(reply, "192.0.2.1"));
    ask(dial_path(), "PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n" ASK, reply, sizeof reply);
    CHECK(code_of(reply) == 400);
    ask(dial(fixture.port), ASK, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\n127.0.0.1"));
    fixture_end(&fixture);
}

static void test_a_proxy_that_sends_no_header_does_not_keep_its_connection(void)
{
    struct fixture fixture;
    struct address_set proxies = {.has_path = true};
    char reply[64];
    bool closed = false;
    REQUIRE(start(&fixture, &proxies, 200));
    int fd = dial_path();
    REQUIRE(send_text(fd, "PROXY TCP4 192.0"));
    CHECK(receive(fd, reply, sizeof reply, NULL, 30000, &closed) == 0 && closed);
    close(fd);
    fixture_end(&fixture);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/t.sock", folder);
    RUN(test_a_network_has_its_addresses_and_no_others);
    RUN(test_what_is_no_address_is_refused);
    RUN(test_lines_of_version_1);
    RUN(test_headers_of_version_2);
    RUN(test_a_path_has_its_mode_and_a_stale_one_is_replaced);
    RUN(test_a_path_that_is_something_else_is_left_alone);
    RUN(test_sockets_are_inherited_only_when_they_are_for_this_process);
    RUN(test_a_client_by_a_path_is_its_user);
    RUN(test_a_proxy_that_is_believed_says_whose_the_connection_is);
    RUN(test_a_forged_header_gains_nothing);
    RUN(test_a_proxy_that_sends_no_header_does_not_keep_its_connection);
    unlink(path);
    rmdir(folder);
    return test_finish();
}
