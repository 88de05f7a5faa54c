/* Statements of the ledger as PostgreSQL wants them. */
#include "base/core/str.h"
#include "cluster/postgres_sql.h"

#include "test.h"

static void becomes(const char *sql, const char *expected, int count)
{
    struct postgres_parameters parameters;
    struct buf out;
    buf_init(&out, 4096);
    CHECK(postgres_sql_write(sql, &parameters, &out));
    CHECK(str_equal(buf_view(&out), str_from(expected)) && parameters.count == count);
    buf_deinit(&out);
}

static void test_parameters_are_numbered_without_a_gap(void)
{
    becomes("SELECT 1", "SELECT 1", 0);
    becomes("VALUES (?,?,?)", "VALUES ($1,$2,$3)", 3);
    becomes("a = ?3 AND b = ?1 AND c = ?3", "a = $2 AND b = $1 AND c = $2", 2);
    becomes("a = ?12, ?", "a = $1, $2", 2);
    becomes("'?' || \"a?\" || ?1 || 'it''s ?'", "'?' || \"a?\" || $1 || 'it''s ?'", 1);
}

static void test_what_cannot_be_bound_is_refused(void)
{
    struct postgres_parameters parameters;
    struct buf out;
    buf_init(&out, 8);
    CHECK(!postgres_sql_write("?0", &parameters, &out));
    CHECK(!postgres_sql_write("?49", &parameters, &out));
    CHECK(!postgres_sql_write("?99999999999999999999", &parameters, &out));
    CHECK(!postgres_sql_write("SELECT 12345678", &parameters, &out)); /* no room */
    buf_deinit(&out);
}

static void text_becomes(struct td_str text, struct td_str expected)
{
    struct buf out;
    buf_init(&out, 64);
    postgres_sql_text(text, &out);
    CHECK(str_equal(buf_view(&out), expected));
    buf_deinit(&out);
}

static void test_text_is_what_the_server_takes(void)
{
    text_becomes(STR("plain \xc3\xa4"), STR("plain \xc3\xa4"));
    text_becomes(STR("a\0b"), STR("a\xef\xbf\xbd"
                                  "b"));
    text_becomes(STR("\xff"), STR("\xef\xbf\xbd"));
    text_becomes(STR("\xed\xa0\x80"), STR("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
}

int main(void)
{
    RUN(test_parameters_are_numbered_without_a_gap);
    RUN(test_what_cannot_be_bound_is_refused);
    RUN(test_text_is_what_the_server_takes);
    return test_finish();
}
