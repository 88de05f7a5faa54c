/* By which names a server may be called, on this machine and in its network. */
#include "api/http/host_name.h"
#include "test.h"

#include <unistd.h>

static const char *const allowed[] = {"tandem.example.com", NULL};
static const char *const listens[] = {"127.0.0.1", "gpu.lan", NULL};
static const struct api_host host = {.allowed_hosts = allowed, .listen_hosts = listens};

static bool ours(const char *name, const char *local)
{
    return host_name_is_ours(&host, name, local);
}

/* Whichever address of this machine was reached. */
static void check_name(const char *name, bool expected)
{
    static const char *const locals[] = {"127.0.0.1", "::1", "::ffff:127.0.0.1"};
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++) {
        bool as_expected = ours(name, locals[i]) == expected;
        CHECK(as_expected);
        if (!as_expected)
            fprintf(stderr, "  '%s' at %s\n", name, locals[i]);
    }
}

static void test_over_loopback_only_names_that_cannot_be_a_strangers(void)
{
    static const char *const good[] = {
        "localhost",
        "localhost:8080",
        "LocalHost.:1",
        "a.b.localhost",
        "127.0.0.1",
        "127.9.9.9:1",
        "[::1]",
        "[::1]:80",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "172.31.0.1:80",
        "192.168.1.1",
        "169.254.1.1",
        "100.64.0.1",
        "0.0.0.0:8080",
        "127.255.255.255",
        "10.255.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.168.0.0",
        "192.168.255.255",
        "169.254.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "[::ffff:10.0.0.1]",
        "[fc00::]",
        "[fdff::1]",
        "[febf::1]",
        "[fe80::1]",
        "[fd00::1]",
        "[::]",
        "tandem.example.com",
        "gpu.lan:8080",
        "TANDEM.example.COM.:8080",
    };
    static const char *const bad[] = {
        "",
        ":80",
        "[",
        "[::1",
        "evil.example",
        "localhost.example",
        "xlocalhost",
        ".localhost",
        "example.com.",
        "8.8.8.8",
        "172.32.0.1",
        "9.255.255.255",
        "11.0.0.0",
        "172.15.255.255",
        "192.167.255.255",
        "192.169.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "[::ffff:8.8.8.8]",
        "[::2]",
        "[fbff::1]",
        "[fe00::1]",
        "[fec0::1]",
        ".",
        ".:80",
        "126.0.0.1",
        "128.0.0.1",
        "0.0.0.1",
        "127.0.0.1.nip",
        "127.1",
        "2130706433",
        "[2001:db8::1]",
        "mybox.lan",
        "tandem",
        "a.tandem.example.com",
        "127.0.0.1@evil.example",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        check_name(good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_name(bad[i], false);
    CHECK(ours("198.51.100.7", "198.51.100.7"));
}

static void test_in_a_network_machines_have_addresses_and_short_names(void)
{
    CHECK(ours("8.8.8.8:80", "172.17.0.2") && ours("tandem:8080", "172.17.0.2"));
    CHECK(ours("[2001:db8::1]", "10.0.0.2") && ours("localhost", "10.0.0.2"));
    CHECK(!ours("evil.example", "10.0.0.2") && !ours("tandem.evil.example:80", "::ffff:10.0.0.2"));
}

static void test_the_machines_own_name_is_one_of_its_names(void)
{
    char own[256] = "";
    CHECK(gethostname(own, sizeof own - 1) == 0);
    if (own[0])
        check_name(own, true);
}

static void test_a_name_has_a_longest(void)
{
    char name[300];
    for (size_t len = 254; len <= 257; len++) {
        memset(name, 'a', sizeof name);
        memcpy(name + len, ":80", 4);
        CHECK(ours(name, "10.0.0.2") == (len < 256));
    }
}

static void test_any_name_is_one_where_the_operator_says_so(void)
{
    static const char *const any[] = {"*", NULL};
    const struct api_host open = {.allowed_hosts = any}, closed = {.allowed_hosts = NULL};
    CHECK(host_name_is_ours(&open, "evil.example", "127.0.0.1"));
    CHECK(!host_name_is_ours(&open, "", "127.0.0.1"));
    CHECK(!host_name_is_ours(&closed, "evil.example", "127.0.0.1"));
    CHECK(!host_name_is_ours(&closed, "*", "127.0.0.1"));
}

static void test_names_matter_where_no_key_is_needed_or_the_browser_is_here(void)
{
    struct api_host keyed = host;
    keyed.auth = (struct auth *)&keyed; /* not looked into */
    CHECK(host_name_matters(&host, "127.0.0.1") && host_name_matters(&host, "10.0.0.2"));
    CHECK(host_name_matters(&keyed, "127.0.0.1") && host_name_matters(&keyed, "::1"));
    CHECK(host_name_matters(&keyed, "::ffff:127.0.0.1") && !host_name_matters(&keyed, "10.0.0.2"));
}

int main(void)
{
    RUN(test_over_loopback_only_names_that_cannot_be_a_strangers);
    RUN(test_in_a_network_machines_have_addresses_and_short_names);
    RUN(test_the_machines_own_name_is_one_of_its_names);
    RUN(test_a_name_has_a_longest);
    RUN(test_any_name_is_one_where_the_operator_says_so);
    RUN(test_names_matter_where_no_key_is_needed_or_the_browser_is_here);
    return test_finish();
}
