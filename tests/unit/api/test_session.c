/* The cookie of the console, and how often a key may be guessed. */
#include "api/http/login_limit.h"
#include "api/http/session.h"
#include "test.h"

static const uint8_t key[KEYED_KEY_BYTES] = {1, 2, 3}, other[KEYED_KEY_BYTES] = {1, 2, 4};

static bool reads(const char *cookie, uint64_t now_s)
{
    char id[SPENDING_KEY_ID_BYTES] = "none";
    bool found = session_read(key, cookie, now_s, id);
    CHECK(found == (strcmp(id, "none") != 0));
    return found;
}

static void test_a_session_is_read_until_it_ends(void)
{
    char value[SESSION_TEXT_BYTES], cookie[300], id[SPENDING_KEY_ID_BYTES];
    session_write(key, "00112233aabbccdd", 1000, value);
    snprintf(cookie, sizeof cookie, "theme=dark; " SESSION_COOKIE "=%s; x=y", value);
    CHECK(session_read(key, cookie, 1000, id));
    CHECK(strcmp(id, "00112233aabbccdd") == 0);
    CHECK(reads(cookie, 1000 + SESSION_SECONDS - 1));
    CHECK(!reads(cookie, 1000 + SESSION_SECONDS));
    CHECK(!session_read(other, cookie, 1000, id));
    CHECK(!reads(NULL, 0) && !reads("", 0) && !reads(SESSION_COOKIE "=", 0));
}

static void test_a_changed_session_is_none(void)
{
    char value[SESSION_TEXT_BYTES], cookie[300];
    session_write(key, "00112233aabbccdd", 1000, value);
    size_t len = strlen(value);
    for (size_t i = 0; i < len; i++) {
        char changed[SESSION_TEXT_BYTES];
        memcpy(changed, value, len + 1);
        changed[i] ^= 1;
        snprintf(cookie, sizeof cookie, SESSION_COOKIE "=%s", changed);
        CHECK(!reads(cookie, 1000));
        memcpy(changed, value, len + 1);
        changed[i] = '\0';
        snprintf(cookie, sizeof cookie, SESSION_COOKIE "=%s", changed);
        CHECK(!reads(cookie, 1000));
    }
    snprintf(cookie, sizeof cookie, SESSION_COOKIE "=%s0", value);
    CHECK(!reads(cookie, 1000));
    snprintf(cookie, sizeof cookie, "x" SESSION_COOKIE "=%s", value);
    CHECK(!reads(cookie, 1000));
}

static void test_an_address_waits_after_wrong_keys(void)
{
    struct login_limit *limit = login_limit_new();
    CHECK(limit);
    for (int i = 0; i < LOGIN_FAILURES_MAX; i++) {
        CHECK(login_limit_wait_s(limit, "192.0.2.1", 5000) == 0);
        login_limit_note(limit, "192.0.2.1", 5000);
    }
    CHECK(login_limit_wait_s(limit, "192.0.2.1", 5000) == LOGIN_WINDOW_S);
    CHECK(login_limit_wait_s(limit, "192.0.2.1", 5000 + 20000) == LOGIN_WINDOW_S - 20);
    CHECK(login_limit_wait_s(limit, "192.0.2.2", 5000) == 0);
    CHECK(login_limit_wait_s(limit, "192.0.2.1", 5000 + LOGIN_WINDOW_S * 1000) == 0);
    login_limit_free(limit);
    login_limit_free(NULL);
}

static void test_many_addresses_take_no_more_memory(void)
{
    struct login_limit *limit = login_limit_new();
    for (int i = 0; i < 5000; i++) {
        char peer[80];
        snprintf(peer, sizeof peer, "2001:db8::%x", (unsigned)i);
        login_limit_note(limit, peer, 1000 + (uint64_t)i);
        CHECK(login_limit_wait_s(limit, peer, 1000 + (uint64_t)i) == 0);
    }
    login_limit_free(limit);
}

int main(void)
{
    RUN(test_a_session_is_read_until_it_ends);
    RUN(test_a_changed_session_is_none);
    RUN(test_an_address_waits_after_wrong_keys);
    RUN(test_many_addresses_take_no_more_memory);
    return test_finish();
}
