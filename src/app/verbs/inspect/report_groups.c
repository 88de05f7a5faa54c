/* A table of one line a group, whose last column is a line of bars: how many exchanges came over
 * the time, each group's own highest bar its most. */
#include "app/verbs/inspect/report_groups.h"

#include "app/cli/command.h"
#include "app/terminal/terminal.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 20
#define BAR_COLUMNS 12

static double member(const struct json *object, const char *name)
{
    return json_number(json_get(object, name), 0);
}

/* "1234", "56.7k", "1.23M": at most 6 characters. */
static const char *short_number(double value, char out[static 16])
{
    static const char units[] = " kMGT";
    size_t unit = 0;
    while (value >= 9999.5 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(out, 16, "%.0f", value);
    else
        snprintf(out, 16, "%.*f%c", value < 99.95 ? 1 : 0, value, units[unit]);
    return out;
}

static void print_bars(const struct json *trend)
{
    static const char bars[] = "▁▂▃▄▅▆▇█"; /* of 3 bytes each */
    double most = 1;
    for (size_t i = 0; i < json_count(trend); i++)
        most = json_number(json_at(trend, i), 0) > most ? json_number(json_at(trend, i), 0) : most;
    for (size_t i = 0; i < json_count(trend); i++) {
        double value = json_number(json_at(trend, i), 0);
        size_t height = value > 0 ? (size_t)(value / most * 7.0) : 0;
        if (value > 0)
            printf("%.3s", bars + 3 * height);
        else
            printf(" ");
    }
}

/* Cut to its columns. */
static void print_name(const struct json *group)
{
    const struct json *known = json_get(group, "key_name");
    struct td_str name = json_text(known ? known : json_get(group, "name"));
    if (!name.data)
        name = STR("(none)");
    size_t at = 0, columns = 0;
    while (at < name.len) {
        size_t begin = at;
        uint32_t character = utf8_next(name, &at);
        size_t width = character >= 0x1100 ? 2 : 1;
        if (columns + width > NAME_COLUMNS)
            break;
        columns += width;
        fwrite(name.data + begin, 1, at - begin, stdout);
    }
    printf("%*s", (int)(NAME_COLUMNS - columns), "");
}

/* Of days, which have no time within them: a bar that is as long as its share of the largest. */
static void print_length(double value, double most)
{
    for (double at = 0; most > 0 && at < value / most * BAR_COLUMNS - 0.5; at++)
        printf("█");
}

void report_groups_print(const struct json *report, const char *since)
{
    const struct json *groups = json_get(report, "groups");
    const char *by = json_cstr(json_get(report, "by"));
    const char *fold = terminal_fold();
    double most = 0;
    for (size_t i = 0; i < json_count(groups); i++)
        most = fmax(most, member(json_at(groups, i), "exchanges"));
    printf("Exchanges of the last %s: %.0f\n\n%-*s %7s %5s %6s %7s%s %8s %8s\n", since,
           member(report, "exchanges"), NAME_COLUMNS, by, "asked", "here", "failed", "tokens", fold,
           "USD", "saved");
    for (size_t i = 0; i < json_count(groups); i++) {
        const struct json *of = json_at(groups, i);
        double asked = member(of, "exchanges"), cloud = member(of, "all_cloud_cost_usd");
        char count[16], tokens[16], failed[16];
        print_name(of);
        printf(" %7s %4.0f%% %6s %7s%s %8.4f %8.4f ", short_number(asked, count),
               asked > 0 ? 100 * member(of, "device") / asked : 0,
               short_number(member(of, "failed"), failed),
               short_number(member(of, "tokens"), tokens), fold, member(of, "cost_usd"),
               cloud > 0 ? cloud - member(of, "cost_usd") : 0);
        if (strcmp(by ? by : "", "day") == 0)
            print_length(asked, most);
        else
            print_bars(json_get(of, "trend"));
        printf("\n");
    }
    if (member(report, "others") > 0)
        printf("(%.0f exchanges of smaller groups are not shown)\n", member(report, "others"));
}

/* A spreadsheet takes a text that begins so for a formula. */
static void print_field(struct td_str text)
{
    size_t quote;
    printf("\"%s", text.len && strchr("=+-@\t\r", text.data[0]) ? "'" : "");
    while ((quote = str_find(text, STR("\""), 0)) < text.len) {
        command_print_harmless(stdout, str_slice(text, 0, quote + 1));
        putchar('"');
        text = str_slice(text, quote + 1, text.len);
    }
    command_print_harmless(stdout, text);
    putchar('"');
}

void report_groups_print_csv(const struct json *report)
{
    const struct json *groups = json_get(report, "groups");
    printf("%s,exchanges,device,failed,degraded,tokens,cost_usd,all_cloud_cost_usd,total_ms\r\n",
           json_cstr(json_get(report, "by")));
    for (size_t i = 0; i < json_count(groups); i++) {
        const struct json *of = json_at(groups, i);
        print_field(json_text(json_get(of, "name")));
        printf(",%.0f,%.0f,%.0f,%.0f,%.0f,%.9g,%.9g,%.6g\r\n", member(of, "exchanges"),
               member(of, "device"), member(of, "failed"), member(of, "degraded"),
               member(of, "tokens"), member(of, "cost_usd"), member(of, "all_cloud_cost_usd"),
               member(of, "total_ms"));
    }
}
