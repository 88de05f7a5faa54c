#include "test.h"

#include "app/cli/machine_load.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>

static struct machine_counters counters(const char *text, double own_ticks)
{
    struct machine_counters out = {0};
    CHECK(machine_counters_parse(str_from(text), &out));
    out.own_ticks = own_ticks;
    return out;
}

#define CPUS "cpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5 cpu 7\n"

static void test_other_programs_and_the_hypervisor_are_told_apart(void)
{
    /* 2 processors, 1000 ticks each pass; busy 1300, of which 900 are ours; 60 stolen */
    struct machine_counters begin = counters("cpu  100 10 20 3000 5 1 2 40 9 9\n" CPUS, 50);
    struct machine_counters end = counters("cpu  1300 50 70 3635 10 3 10 100 99 9\n" CPUS, 950);
    CHECK(end.total_ticks - begin.total_ticks == 2000 && begin.cpu_count == 2);
    struct machine_load load = machine_load_between(&begin, &end);
    CHECK(load.known && load.disturbs);
    CHECK(fabs(load.foreign_cpus - 0.4) < 1e-9);
    CHECK(fabs(load.stolen_cpus - 0.06) < 1e-9);
    struct json *shown = machine_load_to_json(&load);
    CHECK(json_bool(json_get(shown, "disturbs"), false));
    json_free(shown);
}

static void test_a_machine_at_rest_does_not_disturb(void)
{
    struct machine_counters begin = counters("cpu  0 0 0 0 0 0 0 0 0 0\n" CPUS, 0);
    struct machine_counters end = counters("cpu  1000 0 20 980 0 0 0 0 0 0\n" CPUS, 1000);
    struct machine_load load = machine_load_between(&begin, &end);
    CHECK(load.known && !load.disturbs);
    /* Ours are counted finer than the machine's: a little more than all is none of others. */
    end.own_ticks = 1030;
    load = machine_load_between(&begin, &end);
    CHECK(load.known && load.foreign_cpus == 0 && !load.disturbs);
    end.stolen_ticks = 51, end.total_ticks = 2000;
    CHECK(machine_load_between(&begin, &end).disturbs);
}

static void test_what_cannot_be_counted_is_not_known(void)
{
    struct machine_counters one = counters("cpu 5 5 5 5\ncpu0 5 5 5 5\n", 0), two = one;
    CHECK(!machine_load_between(&one, &two).known); /* no time passed */
    two.total_ticks += 9; /* less than a tenth of a second on one processor */
    CHECK(!machine_load_between(&one, &two).known);
    two.total_ticks += 1;
    CHECK(machine_load_between(&one, &two).known);
    two.busy_ticks--;
    CHECK(!machine_load_between(&one, &two).known);
    two.busy_ticks += 2, two.cpu_count = 2;
    CHECK(!machine_load_between(&one, &two).known);
    struct json *shown = machine_load_to_json(&(struct machine_load){0});
    CHECK(json_kind_of(shown) == JSON_KIND_NULL);
    json_free(shown);
    static const char *const bad[] = {"",
                                      "cpu 1 2 3\ncpu0 1\n",
                                      "cpu 1 2 3 4\n",
                                      "cpu0 1 2 3 4\n",
                                      "cpu 1 -2 3 4\ncpu0 1\n",
                                      "cpu 18446744073709551615 2 3 4\ncpu0 1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!machine_counters_parse(str_from(bad[i]), &one));
    CHECK(!machine_counters_read("/no/such/file", &one));
}

int main(void)
{
    RUN(test_other_programs_and_the_hypervisor_are_told_apart);
    RUN(test_a_machine_at_rest_does_not_disturb);
    RUN(test_what_cannot_be_counted_is_not_known);
    return test_finish();
}
