/* The server over TLS: all that it does without, and what TLS brings: slow and broken handshakes,
 * certificates that are replaced, tickets, clients with certificates. */
#include "base/core/str.h"
#include "net/transport/address_set.h"
#include "net/transport/listen.h"
#include "test.h"
#include "tls_fixture.h"

#include <errno.h>
#include <signal.h>

static struct made authority, server, device;

struct tls_fixture {
    struct fixture http;
    struct tls_keeper *keeper;
};

static struct tls_options tls_options(void)
{
    return (struct tls_options){
        .files = {.certificate = tls_path("server.pem"), .key = tls_path("server.key")}};
}

static bool start_tls(struct tls_fixture *fixture, struct tls_options tls,
                      struct server_options options, const struct address_set *proxies)
{
    struct td_error err = {0};
    struct server_socket entrance = {.proxies = proxies};
    options.host = NULL;
    if (tls_keeper_new(&tls, &fixture->keeper, &err) != TD_OK ||
        !fixture_make(&fixture->http, options)) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    entrance.fd = listen_open("127.0.0.1", 0, false, &err);
    entrance.tls = fixture->keeper;
    bool good = entrance.fd >= 0 && server_listen(fixture->http.server, &entrance, &err) == TD_OK;
    fixture->http.port = server_port(fixture->http.server);
    return good && fixture_run(&fixture->http);
}

static void end_tls(struct tls_fixture *fixture)
{
    fixture_end(&fixture->http);
    tls_keeper_free(fixture->keeper);
}

static bool tls_dial(struct tls_client *client, uint16_t port)
{
    return tls_dial_on(client, dial(port), SSL_CTX_new(TLS_client_method()), NULL);
}

static bool tls_ask(struct tls_client *client, const char *path, char *out, size_t size)
{
    char text[256];
    int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    return tls_send(client, text, (size_t)len) && tls_receive(client, out, size, "\r\n\r\n", 5000);
}

static void test_requests_and_streams_are_as_without_tls(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    char reply[4096];
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    REQUIRE(tls_dial(&client, fixture.http.port));
    CHECK(SSL_version(client.ssl) == TLS1_3_VERSION);
    for (int i = 0; i < 3; i++) { /* on one connection */
        CHECK(tls_ask(&client, "/header", reply, sizeof reply) && code_of(reply) == 404);
        const char *post = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
        CHECK(tls_send(&client, post, strlen(post)));
        tls_receive(&client, reply, sizeof reply, "hello", 5000);
        CHECK(code_of(reply) == 200 && strstr(reply, "\r\n\r\nhello"));
    }
    const char *ask = "GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    CHECK(tls_send(&client, ask, strlen(ask)));
    tls_receive(&client, reply, sizeof reply, "0\r\n\r\n", 5000);
    CHECK(strstr(reply, "data: tick") && strstr(reply, "\r\n0\r\n\r\n"));
    CHECK(tls_receive(&client, reply, sizeof reply, NULL, 5000) == 0);
    CHECK(SSL_get_shutdown(client.ssl) & SSL_RECEIVED_SHUTDOWN); /* a proper end, no truncation */
    tls_hang_up(&client);
    end_tls(&fixture);
}

/* The connection goes to another thread and comes back, with its session. */
static void test_a_large_request_moves_with_its_session(void)
{
    struct tls_fixture fixture;
    struct fixture large;
    struct tls_client client;
    struct server_options options = fixture_options();
    static char body[200000], text[256], reply[300000];
    struct td_error err = {0};
    options.host = NULL;
    struct tls_options tls = tls_options();
    REQUIRE(tls_keeper_new(&tls, &fixture.keeper, &err) == TD_OK);
    REQUIRE(fixture_make(&large, options) && fixture_make(&fixture.http, options));
    struct server_socket entrance = {.fd = listen_open("127.0.0.1", 0, false, &err),
                                     .tls = fixture.keeper};
    REQUIRE(server_listen(fixture.http.server, &entrance, &err) == TD_OK);
    server_set_large(fixture.http.server, large.server);
    fixture.http.port = server_port(fixture.http.server);
    REQUIRE(fixture_run(&large) && fixture_run(&fixture.http));
    REQUIRE(tls_dial(&client, fixture.http.port));
    memset(body, 'b', sizeof body);
    int len =
        snprintf(text, sizeof text, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
                 sizeof body);
    for (int i = 1; i <= 5; i++) {
        CHECK(tls_send(&client, text, (size_t)len) && tls_send(&client, body, sizeof body));
        size_t total = 0;
        while (total < sizeof body) {
            size_t got = tls_receive(&client, reply, sizeof reply - 1, "\r\n\r\nb", 2000);
            if (got == 0)
                break;
            total += got;
            while (total < sizeof body && (got = (size_t)SSL_read(client.ssl, reply, 4096)) > 0 &&
                   got <= 4096)
                total += got;
        }
        CHECK(total > sizeof body && large.handled == i);
        while (SSL_pending(client.ssl))
            (void)SSL_read(client.ssl, reply, 4096);
        CHECK(tls_ask(&client, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    }
    CHECK(fixture.http.handled == 5);
    tls_hang_up(&client);
    end_tls(&fixture);
    fixture_end(&large);
}

/* Pieces of records, and records of many requests. */
static void test_a_record_may_hold_several_requests_and_a_request_several_records(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    static char body[300000], text[16384], reply[700000];
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    REQUIRE(tls_dial(&client, fixture.http.port));
    size_t len = 0;
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "GET /peer HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(tls_send(&client, text, len)); /* one record */
    const char *at = reply;
    int count = 0;
    tls_receive(&client, reply, sizeof reply, NULL, 300);
    while ((at = strstr(at, "\r\n\r\n127.0.0.1")) != NULL) {
        at++;
        count++;
    }
    CHECK(count == 100);
    memset(body, 'b', sizeof body);
    snprintf(text, sizeof text, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
             sizeof body);
    for (size_t i = 0; text[i]; i++)
        CHECK(tls_send(&client, text + i, 1));
    CHECK(tls_send(&client, body, sizeof body));
    size_t got = tls_receive(&client, reply, sizeof reply, NULL, 1000);
    CHECK(code_of(reply) == 200 && got > sizeof body && reply[got - 1] == 'b');
    tls_hang_up(&client);
    end_tls(&fixture);
}

static void test_a_slow_reader_gets_all_and_a_client_that_leaves_is_noticed(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    static char piece[65536];
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    REQUIRE(tls_dial(&client, fixture.http.port));
    const char *ask = "GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    CHECK(tls_send(&client, ask, strlen(ask)));
    sleep_ms(300);
    CHECK(fixture.http.answered == 0); /* it waits for the reader */
    size_t total = 0;
    int got;
    while ((got = SSL_read(client.ssl, piece, sizeof piece)) > 0)
        total += (size_t)got;
    CHECK(total > BIG_BYTES && fixture.http.answered == 1);
    tls_hang_up(&client);
    REQUIRE(tls_dial(&client, fixture.http.port));
    CHECK(tls_send(&client, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n", 32));
    CHECK(wait_for(&fixture.http.handled, 2) && fixture.http.gone == 0);
    tls_hang_up(&client);
    CHECK(wait_for(&fixture.http.gone, 1));
    end_tls(&fixture);
}

static void test_handshakes_that_do_not_end_hold_up_nobody(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    struct server_options options = fixture_options();
    char reply[512];
    int slow[8];
    bool closed = false;
    options.header_timeout_ms = 700;
    REQUIRE(start_tls(&fixture, tls_options(), options, NULL));
    for (size_t i = 0; i < 8; i++) {
        slow[i] = dial(fixture.http.port);
        CHECK(send_bytes(slow[i], "\x16\x03\x01\x02\x00\x01", i % 7));
    }
    REQUIRE(tls_dial(&client, fixture.http.port));
    CHECK(tls_ask(&client, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    tls_hang_up(&client);
    for (size_t i = 0; i < 8; i++) {
        receive(slow[i], reply, sizeof reply, NULL, 30000, &closed);
        CHECK(closed);
        close(slow[i]);
    }
    end_tls(&fixture);
}

static void test_garbage_is_refused_and_http_is_told_the_scheme(void)
{
    static const struct {
        const char *bytes;
        size_t len;
    } garbage[] = {{"\0\0\0\0\0\0\0\0\0\0\0\0", 12},
                   {"\x16\x03\x01\xff\xff\x01\x02\x03", 8},
                   {"\x16\x03\x01\x00\x05hello", 10},
                   {"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10\x01\x00\x80", 14},
                   {"SSH-2.0-x\r\n", 11}};
    struct tls_fixture fixture;
    struct tls_client client;
    char reply[1024];
    bool closed = false;
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        int fd = dial(fixture.http.port);
        CHECK(send_bytes(fd, garbage[i].bytes, garbage[i].len));
        shutdown(fd, SHUT_WR);
        receive(fd, reply, sizeof reply, NULL, 30000, &closed);
        CHECK(closed && !strstr(reply, "HTTP/"));
        close(fd);
    }
    int fd = dial(fixture.http.port);
    CHECK(send_text(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    receive(fd, reply, sizeof reply, NULL, 30000, &closed);
    CHECK(closed && code_of(reply) == 400 && strstr(reply, "use https"));
    close(fd);
    REQUIRE(tls_dial(&client, fixture.http.port));
    CHECK(tls_ask(&client, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    CHECK(fixture.http.handled == 1);
    tls_hang_up(&client);
    end_tls(&fixture);
}

static void test_old_versions_and_renegotiation_are_refused(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    char reply[1024];
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
    CHECK(!tls_dial_on(&client, dial(fixture.http.port), context, NULL));
    tls_hang_up(&client);
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    REQUIRE(tls_dial_on(&client, dial(fixture.http.port), context, NULL));
    CHECK(strstr(SSL_get_cipher(client.ssl), "ECDHE"));
    CHECK(tls_ask(&client, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    CHECK(SSL_renegotiate(client.ssl) == 1 && SSL_do_handshake(client.ssl) != 1);
    tls_hang_up(&client);
    end_tls(&fixture);
}

static void test_a_proxy_header_comes_before_the_handshake(void)
{
    struct tls_fixture fixture;
    struct tls_client client;
    struct address_set proxies = {0};
    char reply[1024];
    REQUIRE(address_set_add(&proxies, STR("127.0.0.1")));
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), &proxies));
    int fd = dial(fixture.http.port);
    CHECK(send_text(fd, "PROXY TCP4 192.0.2.9 192.0.2.2 1 2\r\n"));
    REQUIRE(tls_dial_on(&client, fd, SSL_CTX_new(TLS_client_method()), NULL));
    CHECK(tls_ask(&client, "/peer", reply, sizeof reply) && strstr(reply, "192.0.2.9"));
    tls_hang_up(&client);
    CHECK(!tls_dial(&client, fixture.http.port)); /* without one */
    tls_hang_up(&client);
    end_tls(&fixture);
}

static void test_one_connection_too_many_is_told_so(void)
{
    struct tls_fixture fixture;
    struct tls_client first, second;
    struct server_options options = fixture_options();
    char reply[1024];
    options.connection_max = 1;
    REQUIRE(start_tls(&fixture, tls_options(), options, NULL));
    REQUIRE(tls_dial(&first, fixture.http.port));
    CHECK(tls_send(&first, "GET /hang HTTP/1.1\r\nHost: a\r\n\r\n", 32));
    CHECK(wait_for(&fixture.http.handled, 1));
    REQUIRE(tls_dial(&second, fixture.http.port));
    tls_receive(&second, reply, sizeof reply, NULL, 3000);
    CHECK(code_of(reply) == 503);
    tls_hang_up(&second);
    tls_hang_up(&first);
    end_tls(&fixture);
}

/* --- certificates that are replaced --- */

static bool shows(struct tls_client *client, const struct made *made)
{
    X509 *seen = SSL_get1_peer_certificate(client->ssl);
    bool same = seen && X509_cmp(seen, made->certificate) == 0;
    X509_free(seen);
    return same;
}

static void test_a_new_certificate_is_shown_and_old_connections_live_on(void)
{
    struct tls_fixture fixture;
    struct tls_client old, new;
    struct td_error err = {0};
    char reply[1024];
    struct made next = make_certificate("next", NULL, &authority, 10);
    REQUIRE(start_tls(&fixture, tls_options(), fixture_options(), NULL));
    REQUIRE(tls_dial(&old, fixture.http.port) && shows(&old, &server));
    CHECK(!tls_keeper_is_stale(fixture.keeper));
    FILE *file = fopen(tls_path("server.pem"), "w"); /* a certificate without its key yet */
    PEM_write_X509(file, next.certificate);
    fclose(file);
    CHECK(tls_keeper_is_stale(fixture.keeper));
    CHECK(tls_keeper_reload(fixture.keeper, &err) == TD_INVALID);
    CHECK(strstr(err.message, "server.key") && strstr(err.message, "not that of the certificate"));
    CHECK(!tls_keeper_is_stale(fixture.keeper)); /* said once */
    REQUIRE(tls_dial(&new, fixture.http.port) && shows(&new, &server));
    tls_hang_up(&new);
    write_made("server", &next);
    CHECK(tls_keeper_is_stale(fixture.keeper));
    CHECK(tls_keeper_reload(fixture.keeper, NULL) == TD_OK);
    double days = difftime(tls_keeper_expiry(fixture.keeper), time(NULL)) / 86400;
    CHECK(days > 9.9 && days < 10.1);
    REQUIRE(tls_dial(&new, fixture.http.port) && shows(&new, &next));
    CHECK(tls_ask(&old, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    CHECK(tls_ask(&new, "/peer", reply, sizeof reply) && code_of(reply) == 200);
    tls_hang_up(&new);
    tls_hang_up(&old);
    end_tls(&fixture);
    made_free(&next);
    write_made("server", &server);
}

static void check_files(struct tls_options options, enum td_status status, const char *file,
                        const char *words)
{
    struct tls_keeper *keeper;
    struct td_error err = {0};
    bool right = tls_keeper_new(&options, &keeper, &err) == status && !keeper &&
                 strstr(err.message, file) && strstr(err.message, words);
    if (!right)
        fprintf(stderr, "  %s\n", err.message);
    CHECK(right);
}

static void test_files_that_are_wrong_are_named(void)
{
    struct tls_options options = tls_options();
    options.files.certificate = tls_path("none.pem");
    check_files(options, TD_NOT_FOUND, "none.pem", "No such file");
    options.files.certificate = tls_path("server.key");
    check_files(options, TD_INVALID, "server.key", "no certificate");
    options.files.certificate = tls_path("server.pem");
    options.files.key = NULL;
    chmod(tls_path("server.pem"), 0600);
    check_files(options, TD_INVALID, "server.pem", "no private key");
    options.files.key = tls_path("device.key");
    check_files(options, TD_INVALID, "device.key", "not that of the certificate");
    options.files.key = tls_path("locked.key");
    FILE *file = fopen(options.files.key, "w");
    PEM_write_PKCS8PrivateKey(file, server.key, EVP_aes_256_cbc(), "secret", 6, NULL, NULL);
    fclose(file);
    chmod(options.files.key, 0600);
    check_files(options, TD_INVALID, "locked.key", "passphrase");
    options.files.key = tls_path("server.key");
    chmod(options.files.key, 0644);
    check_files(options, TD_DENIED, "server.key", "0644");
    chmod(options.files.key, 0640);
    options.files.client_ca = tls_path("server.key");
    check_files(options, TD_INVALID, "server.key", "no certificate");
    options.files.client_ca = tls_folder;
    check_files(options, TD_IO, tls_folder, "");
    chmod(tls_path("server.key"), 0600);
}

/* --- tickets --- */

/* Whether a session is resumed. *session: replaced by the newest. */
static bool resumes(struct tls_fixture *fixture, SSL_SESSION **session, const struct made *identity)
{
    struct tls_client client;
    char reply[1024];
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (identity) {
        SSL_CTX_use_certificate(context, identity->certificate);
        SSL_CTX_use_PrivateKey(context, identity->key);
    }
    bool good = tls_dial_on(&client, dial(fixture->http.port), context, *session) &&
                tls_ask(&client, "/peer", reply, sizeof reply) && code_of(reply) == 200;
    CHECK(good);
    bool resumed = SSL_session_reused(client.ssl);
    SSL_SESSION_free(*session);
    *session = SSL_get1_session(client.ssl);
    SSL_shutdown(client.ssl);
    tls_hang_up(&client);
    return resumed;
}

static void test_tickets_are_taken_until_their_keys_are_replaced_twice(void)
{
    struct tls_fixture fixture;
    struct tls_options options = tls_options();
    SSL_SESSION *session = NULL;
    options.ticket_key_s = 4; /* so long the first steps may take */
    REQUIRE(start_tls(&fixture, options, fixture_options(), NULL));
    CHECK(!resumes(&fixture, &session, NULL));
    CHECK(resumes(&fixture, &session, NULL));
    CHECK(tls_keeper_reload(fixture.keeper, NULL) == TD_OK);
    CHECK(resumes(&fixture, &session, NULL)); /* a reload keeps the keys */
    sleep_ms(8300);
    CHECK(!resumes(&fixture, &session, NULL));
    CHECK(resumes(&fixture, &session, NULL));
    SSL_SESSION_free(session);
    end_tls(&fixture);
}

/* --- certificates of clients --- */

static void who(const struct http_request *request, char *out, size_t size)
{
    const char *name = http_request_client(request);
    snprintf(out, size, "%s", name ? name : "nobody");
}

static void answer_who(void *ctx, struct http_request *request)
{
    char name[TLS_NAME_BYTES];
    (void)ctx;
    who(request, name, sizeof name);
    http_reply(request, 200, "text/plain", str_from(name));
}

static bool start_who(struct tls_fixture *fixture, struct tls_options tls)
{
    struct td_error err = {0};
    struct server_options options = fixture_options();
    options.host = NULL;
    memset(fixture, 0, sizeof *fixture);
    if (tls_keeper_new(&tls, &fixture->keeper, &err) != TD_OK ||
        loop_event_new(&fixture->http.loop, &err) != TD_OK ||
        server_new(fixture->http.loop, &options, answer_who, NULL, &fixture->http.server, &err) !=
            TD_OK)
        return false;
    struct server_socket entrance = {.fd = listen_open("127.0.0.1", 0, false, &err),
                                     .tls = fixture->keeper};
    bool good = server_listen(fixture->http.server, &entrance, &err) == TD_OK;
    fixture->http.port = server_port(fixture->http.server);
    return good && fixture_run(&fixture->http);
}

/* The reply to a client with this certificate; empty when it is refused. */
static void ask_as(struct tls_fixture *fixture, const struct made *identity, char *reply,
                   size_t size)
{
    struct tls_client client;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    reply[0] = '\0';
    if (identity) {
        SSL_CTX_use_certificate(context, identity->certificate);
        SSL_CTX_use_PrivateKey(context, identity->key);
    }
    /* TLS 1.3: a client learns only afterwards that its certificate is refused. */
    if (tls_dial_on(&client, dial(fixture->http.port), context, NULL)) {
        const char *ask = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        if (tls_send(&client, ask, strlen(ask)))
            tls_receive(&client, reply, size, NULL, 3000);
    }
    tls_hang_up(&client);
}

static void test_clients_must_show_a_certificate_of_the_authority(void)
{
    struct tls_fixture fixture;
    struct tls_options options = tls_options();
    char reply[1024];
    struct made stranger = make_certificate("stranger", "DNS:device-7.fleet", NULL, 30);
    struct made late = make_certificate("late", NULL, &authority, -1);
    struct made uri = make_certificate("x", "URI:spiffe://fleet/device-8", &authority, 30);
    struct made common = make_certificate("device 9", NULL, &authority, 30);
    struct made odd = make_certificate("device-7.fleet", "DNS:device\x01", &authority, 30);
    options.files.client_ca = tls_path("authority.pem");
    options.client_required = true;
    REQUIRE(start_who(&fixture, options));
    const struct {
        const struct made *identity;
        const char *name; /* NULL = refused */
    } cases[] = {{&device, "device-7.fleet"},
                 {NULL, NULL},
                 {&stranger, NULL},
                 {&late, NULL},
                 {&common, "device 9"},
                 {&odd, "nobody"},
                 {&uri, "spiffe://fleet/device-8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask_as(&fixture, cases[i].identity, reply, sizeof reply);
        const char *body = strstr(reply, "\r\n\r\n");
        bool right = cases[i].name ? body && strcmp(body + 4, cases[i].name) == 0 : !body;
        if (!right)
            fprintf(stderr, "  row %zu: %s\n", i, reply);
        CHECK(right);
    }
    end_tls(&fixture);
    options.client_required = false;
    REQUIRE(start_who(&fixture, options));
    ask_as(&fixture, NULL, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\nnobody"));
    ask_as(&fixture, &device, reply, sizeof reply);
    CHECK(strstr(reply, "\r\n\r\ndevice-7.fleet"));
    ask_as(&fixture, &stranger, reply, sizeof reply); /* a wrong one is not as good as none */
    CHECK(!strstr(reply, "\r\n\r\n"));
    end_tls(&fixture);
    made_free(&stranger);
    made_free(&late);
    made_free(&uri);
    made_free(&common);
    made_free(&odd);
}

/* A ticket must not carry a client past an authority that was taken away. */
static void test_tickets_end_with_the_authority_of_clients(void)
{
    struct tls_fixture fixture;
    struct tls_options options = tls_options();
    SSL_SESSION *session = NULL;
    char reply[1024];
    options.files.client_ca = tls_path("clients.pem");
    options.client_required = true;
    write_made("clients", &authority);
    REQUIRE(start_tls(&fixture, options, fixture_options(), NULL));
    CHECK(!resumes(&fixture, &session, &device) && resumes(&fixture, &session, &device));
    struct made other = make_certificate("other authority", NULL, NULL, 30);
    write_made("clients", &other);
    CHECK(tls_keeper_is_stale(fixture.keeper));
    CHECK(tls_keeper_reload(fixture.keeper, NULL) == TD_OK);
    struct tls_client client;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_use_certificate(context, device.certificate);
    SSL_CTX_use_PrivateKey(context, device.key);
    bool in = tls_dial_on(&client, dial(fixture.http.port), context, session) &&
              tls_ask(&client, "/peer", reply, sizeof reply);
    CHECK(!in);
    tls_hang_up(&client);
    SSL_SESSION_free(session);
    made_free(&other);
    end_tls(&fixture);
}

int main(void)
{
    if (!mkdtemp(tls_folder))
        return 1;
    signal(SIGPIPE, SIG_IGN);
    authority = make_certificate("authority", NULL, NULL, 30);
    server = make_certificate("localhost", "DNS:localhost", &authority, 30);
    device = make_certificate("device", "email:a@b.example,DNS:device-7.fleet", &authority, 30);
    write_made("authority", &authority);
    write_made("server", &server);
    write_made("device", &device);
    RUN(test_requests_and_streams_are_as_without_tls);
    RUN(test_a_large_request_moves_with_its_session);
    RUN(test_a_record_may_hold_several_requests_and_a_request_several_records);
    RUN(test_a_slow_reader_gets_all_and_a_client_that_leaves_is_noticed);
    RUN(test_handshakes_that_do_not_end_hold_up_nobody);
    RUN(test_garbage_is_refused_and_http_is_told_the_scheme);
    RUN(test_old_versions_and_renegotiation_are_refused);
    RUN(test_a_proxy_header_comes_before_the_handshake);
    RUN(test_one_connection_too_many_is_told_so);
    RUN(test_a_new_certificate_is_shown_and_old_connections_live_on);
    RUN(test_files_that_are_wrong_are_named);
    RUN(test_tickets_are_taken_until_their_keys_are_replaced_twice);
    RUN(test_clients_must_show_a_certificate_of_the_authority);
    RUN(test_tickets_end_with_the_authority_of_clients);
    made_free(&authority);
    made_free(&server);
    made_free(&device);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", tls_folder);
    return system(command) == 0 ? test_finish() : 1;
}
