#include "test.h"

#include "app/cli/csv.h"
#include "base/core/str.h"

static bool reads(const char *text, const char *wanted)
{
    struct td_str rest = str_from(text);
    struct buf field, all;
    bool line_end;
    buf_init(&field, 1024);
    buf_init(&all, 4096);
    buf_append_str(&all, STR(""));
    for (char separator = csv_separator(rest); csv_next(&rest, separator, &field, &line_end);)
        buf_printf(&all, "[" STR_FMT "]%s", STR_ARG(buf_view(&field)), line_end ? "/" : "");
    bool same = str_equal(buf_view(&all), str_from(wanted));
    if (!same)
        fprintf(stderr, STR_FMT "\n", STR_ARG(buf_view(&all)));
    buf_deinit(&field);
    buf_deinit(&all);
    return same;
}

static void test_fields_are_read_as_rfc_4180_says(void)
{
    CHECK(reads("a,b\n1,2\n", "[a][b]/[1][2]/"));
    CHECK(reads("a,b\r\n1,\r\n", "[a][b]/[1][]/"));
    CHECK(reads("a;b\n\"x;y\";\"q \"\"z\"\"\"", "[a][b]/[x;y][q \"z\"]/"));
    CHECK(reads("a\tb,c\td\n", "[a][b,c][d]/"));
    CHECK(reads("a\n\"open\n", "[a]/[open\n]/"));
    CHECK(reads("\"a\"b,c", "[ab][c]/"));
    CHECK(reads("", "") && reads(",", "[]"));
}

int main(void)
{
    RUN(test_fields_are_read_as_rfc_4180_says);
    return test_finish();
}
