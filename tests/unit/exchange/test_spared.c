/* What an exchange does on a device that must be spared: where it begins, what it says of an answer
 * that was kept short. */
#include "device/device.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct script_step long_answer[512];

/* A phone with that charge. */
static struct device *phone(const char *percent)
{
    static const char *const names[] = {"type", "status", "capacity"};
    const char *texts[] = {"Battery\n", "Discharging\n", percent};
    char root[64], path[128];
    snprintf(root, sizeof root, "/tmp/tandem-spared-XXXXXX");
    if (!mkdtemp(root))
        return NULL;
    static const char *const folders[] = {"class", "class/power_supply", "class/power_supply/B"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        (void)mkdir(path, 0700);
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/class/power_supply/B/%s", root, names[i]);
        FILE *file = fopen(path, "w");
        if (!file)
            return NULL;
        fputs(texts[i], file);
        fclose(file);
    }
    return device_new(root, NULL, 0, NULL);
}

static void fill_answer(uint32_t tokens)
{
    static const struct script_step token = TOKEN("x", 0.9), done = DONE;
    for (uint32_t i = 0; i < tokens; i++)
        long_answer[i] = token;
    long_answer[tokens] = done;
}

static void test_a_low_battery_sends_what_may_leave_elsewhere(void)
{
    struct world w;
    world_init(&w);
    w.services.device = phone("5\n");
    REQUIRE(w.services.device != NULL);
    world_script(&w, LOCAL, sure);
    world_script(&w, CLOUD, cloudy);
    world_run(&w);
    CHECK(strcmp(w.tier, "openai") == 0 && !w.degraded);
    CHECK(world_has_reason(&w, REASON_CHOSEN_DEVICE, "openai"));
    CHECK(strstr(ledger_seen.signals, "\"device_level\":2") != NULL);
    w.request.data_class = TD_CLASS_RESTRICTED;
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && !w.degraded);
    device_free(w.services.device);
    world_deinit(&w);
}

static void test_an_answer_that_is_kept_short_is_disclosed(void)
{
    const uint32_t most = device_level_tokens(DEVICE_HOT);
    for (int gated = 0; gated < 2; gated++) {
        struct world w;
        world_init(&w);
        w.services.device = phone("5\n");
        REQUIRE(w.services.device != NULL && most < 500);
        w.route.gates.g2_on = w.route.gates.g3_on = gated;
        w.request.mode = TD_MODE_ONLY_LOCAL;
        w.tiers[LOCAL].finish = TD_FINISH_LENGTH;
        fill_answer(most);
        world_script(&w, LOCAL, long_answer);
        world_run(&w);
        CHECK(strcmp(w.tier, "local") == 0 && w.degraded);
        CHECK(strstr(w.disclosure, "384 tokens") && strstr(w.disclosure, "5 %"));
        w.request.tokens_max = most; /* as long as was asked for */
        world_run(&w);
        CHECK(!w.degraded && !w.disclosure[0]);
        device_free(w.services.device);
        world_deinit(&w);
    }
}

static void test_a_device_that_needs_no_sparing_limits_nothing(void)
{
    struct world w;
    world_init(&w);
    w.services.device = phone("80\n");
    REQUIRE(w.services.device != NULL);
    world_script(&w, LOCAL, sure);
    world_run(&w);
    CHECK(strcmp(w.tier, "local") == 0 && !w.degraded);
    CHECK(strstr(ledger_seen.signals, "device_level") == NULL);
    device_free(w.services.device);
    world_deinit(&w);
}

int main(void)
{
    RUN(test_a_low_battery_sends_what_may_leave_elsewhere);
    RUN(test_an_answer_that_is_kept_short_is_disclosed);
    RUN(test_a_device_that_needs_no_sparing_limits_nothing);
    return test_finish();
}
