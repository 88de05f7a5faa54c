/* The door over a client that only counts: refused requests never reach it, and the others are on
 * record before they do. */
#include "tier/door.h"

#include "base/core/str.h"
#include "ledger/egress/egress_verify.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tandem-door-XXXXXX";
#define ROW_BYTES 4096

static int sent_count;
static bool sent_direct;
static uint64_t rows_when_sent;

static uint64_t rows(void)
{
    struct egress_verdict verdict;
    CHECK(egress_verify(folder, NULL, &verdict, NULL) == TD_OK && verdict.sound);
    return verdict.entry_count;
}

static enum td_status keep_row(void *ctx, struct td_str line, struct td_error *err)
{
    char *row = ctx;
    (void)err;
    if (egress_is_entry(line))
        snprintf(row, ROW_BYTES, STR_FMT, STR_ARG(line));
    return TD_OK;
}

static struct td_str last_row(void)
{
    static char row[ROW_BYTES];
    CHECK(egress_each_line(folder, keep_row, row, NULL) == TD_OK);
    return str_from(row);
}

enum td_status client_start(struct client *client, const struct client_request *request,
                            struct client_transfer **out, struct td_error *err)
{
    (void)client, (void)out, (void)err;
    sent_count++;
    sent_direct = request->direct;
    rows_when_sent = request->url ? 0 : rows(); /* requests with a URL have no record here */
    return TD_OK;
}

static const char *const certified[] = {"dpa", "no-retention", NULL};
static const struct tier_facts cloud = {
    .name = "cloud", .place = TD_PLACE_CLOUD, .region = "eu-central-1", .certified = certified};
static const struct client_request request = {.body = {"{}", 2}};

static enum td_status send_with(struct egress_log *log, const struct egress_pass *pass,
                                struct td_error *err)
{
    struct client_transfer *transfer = NULL;
    const struct door door = {&cloud, "api.example.com:443", log};
    return door_send(&door, pass, NULL, &request, &transfer, err);
}

static void test_by_class_and_place(void)
{
    static const bool allowed[4][4] = {
        {true, true, true, true},    /* public */
        {true, true, false, false},  /* sensitive: as far as the premises, until pseudonyms come */
        {true, true, false, false},  /* contractual */
        {true, false, false, false}, /* restricted */
    };
    struct tier_facts facts = {.name = "t"};
    for (int c = 0; c < 4; c++)
        for (int p = 0; p < 4; p++) {
            facts.place = (enum td_place)p;
            CHECK(egress_allowed((enum td_data_class)c, &facts) == allowed[c][p]);
        }
    volatile int odd = 77; /* values that a corrupted or newer peer might send */
    static const enum td_place places[] = {TD_PLACE_CLOUD, TD_PLACE_PREMISES};
    for (int i = 0; i < 2; i++) {
        facts.place = places[i];
        CHECK(!egress_allowed((enum td_data_class)odd, &facts));
    }
    facts.place = (enum td_place)odd;
    CHECK(!egress_allowed(TD_CLASS_PUBLIC, &facts));
    facts.place = TD_PLACE_DEVICE;
    CHECK(egress_allowed((enum td_data_class)odd, &facts));
}

static void test_without_a_pass_or_detectors_nothing_leaves(void)
{
    struct td_error err = {0}, unready = {0};
    const struct egress_pass pass = {.data_class = TD_CLASS_PUBLIC};
    sent_count = 0;
    CHECK(send_with(NULL, NULL, &err) == TD_DENIED && strstr(err.message, "class"));
    CHECK(send_with(NULL, &pass, &unready) == TD_DENIED && strstr(unready.message, "detectors"));
    CHECK(sent_count == 0);
}

static void test_a_class_above_the_place_is_refused_for_every_purpose(void)
{
    sent_count = 0;
    for (int purpose = EGRESS_ATTEMPT; purpose <= EGRESS_CONTINUATION; purpose++)
        for (int c = TD_CLASS_SENSITIVE; c <= TD_CLASS_RESTRICTED; c++) {
            const struct egress_pass pass = {.purpose = (enum egress_purpose)purpose,
                                             .data_class = (enum td_data_class)c,
                                             .scanned = true};
            CHECK(send_with(NULL, &pass, NULL) == TD_DENIED);
        }
    const struct egress_pass check = {.purpose = EGRESS_HEALTH_CHECK};
    CHECK(send_with(NULL, &check, NULL) == TD_DENIED); /* it has a body */
    CHECK(sent_count == 0);
}

/* Whether a scan was done, whether there is a body: for each purpose. */
static void test_every_purpose_needs_the_detectors(void)
{
    enum { ABSENT, UNREADY, READY };
    const struct door door = {&cloud, "api.example.com:443", NULL};
    for (int purpose = EGRESS_ATTEMPT; purpose <= EGRESS_CONTINUATION; purpose++)
        for (int readiness = ABSENT; readiness <= READY; readiness++)
            for (int body = 0; body < 2; body++) {
                const struct egress_pass pass = {.purpose = (enum egress_purpose)purpose,
                                                 .data_class = TD_CLASS_PUBLIC,
                                                 .scanned = readiness == READY};
                const struct client_request asked = {.url = "https://192.0.2.2/v1",
                                                     .body = {"{}", body ? 2 : 0}};
                bool check = purpose == EGRESS_HEALTH_CHECK;
                bool leaves = readiness != ABSENT && (check ? !body : readiness == READY);
                struct client_transfer *transfer = NULL;
                struct td_error err = {0};
                sent_count = 0;
                enum td_status status = door_send(&door, readiness == ABSENT ? NULL : &pass, NULL,
                                                  &asked, &transfer, &err);
                CHECK(status == (leaves ? TD_OK : TD_DENIED) && sent_count == leaves);
                CHECK(leaves || check || strstr(err.message, readiness ? "detectors" : "class"));
                if (sent_count != leaves)
                    fprintf(stderr, "  purpose %d readiness %d body %d\n", purpose, readiness,
                            body);
            }
}

static void test_the_device_is_a_loopback_address(void)
{
    static const struct {
        const char *url;
        enum td_place place;
        bool passes, direct;
    } cases[] = {
        {"http://127.0.0.1:8081/v1/chat/completions", TD_PLACE_DEVICE, true, true},
        {"http://[::1]:8081/v1", TD_PLACE_DEVICE, true, true},
        {"http://192.0.2.2:8081/v1", TD_PLACE_DEVICE, false, false},
        {"http://127.0.0.1.example.test/v1", TD_PLACE_DEVICE, false, false},
        {"http://0.0.0.0:8081/v1", TD_PLACE_DEVICE, false, false},
        {NULL, TD_PLACE_DEVICE, false, false},
        {"http://192.0.2.2:8081/v1", TD_PLACE_PREMISES, true, true},
        {"https://192.0.2.2/v1", TD_PLACE_REGION, true, false},
        {"https://192.0.2.2/v1", TD_PLACE_CLOUD, true, false},
    };
    const struct egress_pass pass = {.data_class = TD_CLASS_PUBLIC, .scanned = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tier_facts facts = {.name = "t", .place = cases[i].place};
        const struct door door = {&facts, "host:1", NULL};
        const struct client_request asked = {.url = cases[i].url, .body = {"{}", 2}};
        struct client_transfer *transfer = NULL;
        sent_count = 0;
        enum td_status status = door_send(&door, &pass, NULL, &asked, &transfer, NULL);
        CHECK(status == (cases[i].passes ? TD_OK : TD_DENIED) && sent_count == cases[i].passes);
        CHECK(!sent_count || sent_direct == cases[i].direct);
    }
}

static void test_it_is_on_record_before_it_is_sent(void)
{
    struct egress_log *log = NULL;
    REQUIRE(egress_log_open(folder, &log, NULL) == TD_OK);
    const struct egress_pass pass = {.purpose = EGRESS_RETRY,
                                     .data_class = TD_CLASS_PUBLIC,
                                     .scanned = true,
                                     .exchange = "ex_1"};
    sent_count = 0;
    CHECK(send_with(log, &pass, NULL) == TD_OK && sent_count == 1 && rows_when_sent == 1);
    CHECK(str_find(last_row(),
                   STR("\"region\":\"eu-central-1\",\"certified\":[\"dpa\",\"no-retention\"]"),
                   0) != SIZE_MAX);
    const struct egress_pass refused = {.data_class = TD_CLASS_RESTRICTED, .scanned = true};
    CHECK(send_with(log, &refused, NULL) == TD_DENIED && sent_count == 1 && rows() == 1);
    /* A record that cannot be written, because the file is shorter than its head says. */
    char path[128];
    snprintf(path, sizeof path, "%s/entries.jsonl", folder);
    struct td_error err = {0};
    CHECK(truncate(path, 0) == 0);
    CHECK(send_with(log, &pass, &err) == TD_INTERNAL && strstr(err.message, "cannot be written"));
    CHECK(sent_count == 1);
    egress_log_close(log);
}

static void test_hosts_have_ports(void)
{
    static const char *const cases[][2] = {
        {"https://api.example.com/v1", "api.example.com:443"},
        {"http://127.0.0.1:8080/v1", "127.0.0.1:8080"},
        {"http://localhost", "localhost:80"},
        {"https://[::1]/v1", "[::1]:443"},
        {"https://[::1]:9/v1", "[::1]:9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *host = door_host(cases[i][0]);
        CHECK(host && strcmp(host, cases[i][1]) == 0);
        free(host);
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        abort();
    RUN(test_by_class_and_place);
    RUN(test_without_a_pass_or_detectors_nothing_leaves);
    RUN(test_a_class_above_the_place_is_refused_for_every_purpose);
    RUN(test_every_purpose_needs_the_detectors);
    RUN(test_the_device_is_a_loopback_address);
    RUN(test_it_is_on_record_before_it_is_sent);
    RUN(test_hosts_have_ports);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        perror(folder);
    return test_finish();
}
