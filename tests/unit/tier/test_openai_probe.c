/* The health check of a server, over a played client. */
#include "tier/openai/openai_probe.h"

#include "base/crypto/secret.h"
#include "played_client.h"

static const struct tier_facts facts = {.name = "cloud", .place = TD_PLACE_CLOUD};
static const struct door door = {.facts = &facts, .host = "api.example.com:443"};
static const struct openai_probe_target plain = {.door = &door,
                                                 .url = "https://api.example.com/v1/models",
                                                 .connect_timeout_ms = 5000,
                                                 .total_timeout_ms = 10000};

static int probed; /* -1 = not yet */

static void on_probed(void *ctx, bool reached)
{
    (void)ctx;
    probed = reached;
}

static struct tier_probe *start(const struct openai_probe_target *target)
{
    static int loop; /* never looked into */
    probed = -1;
    return openai_probe_start(target, (struct loop *)(void *)&loop, on_probed, NULL);
}

static void test_it_holds_the_key_and_no_data(void)
{
    struct openai_probe_target target = plain;
    struct secret *key = secret_new(STR("sk-secret"));
    target.to.key = key;
    struct tier_probe *probe = start(&target);
    REQUIRE(probe);
    CHECK(strcmp(net.running->request.method, "GET") == 0 && net.running->request.body.len == 0);
    CHECK(net.running->request.connect_timeout_ms == 5000);
    CHECK(net.running->request.total_timeout_ms == 10000);
    CHECK(strstr(net.headers, "Authorization: Bearer sk-secret\n"));
    openai_probe_cancel(probe);
    CHECK(probed == -1 && net.running == NULL);
    secret_free(key);
    probe = start(&plain);
    REQUIRE(probe);
    CHECK(!strstr(net.headers, "Authorization"));
    openai_probe_cancel(probe);
}

static void test_any_answer_of_the_server_will_do(void)
{
    static const struct {
        int code;
        enum td_status status;
        int reached;
    } ends[] = {{200, TD_OK, 1},        {401, TD_OK, 1},    {404, TD_OK, 1},
                {429, TD_OK, 1},        {502, TD_OK, 0},    {0, TD_TIMEOUT, 0},
                {0, TD_UNAVAILABLE, 0}, {200, TD_LIMIT, 1}, {200, TD_TIMEOUT, 1}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        REQUIRE(start(&plain));
        net_done_with(ends[i].status, ends[i].code, NULL);
        CHECK(probed == ends[i].reached);
    }
}

static void test_one_that_cannot_be_sent_leaves_nothing_behind(void)
{
    net.refuse = true;
    CHECK(!start(&plain) && probed == -1);
    net.refuse = false;
}

int main(void)
{
    RUN(test_it_holds_the_key_and_no_data);
    RUN(test_any_answer_of_the_server_will_do);
    RUN(test_one_that_cannot_be_sent_leaves_nothing_behind);
    return test_finish();
}
