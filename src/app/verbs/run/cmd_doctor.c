/* tandem doctor: each thing that must work is tried, and what does not is said with what to do. A
 * check is one function of the doctor_*.c files; the table is their order. */
#define HELP_OF 68
#include "app/cli/command.h"
#include "app/cli/help.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/mistakes.h"
#include "app/config/packed_help.h"
#include "app/verbs/run/doctor.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/egress/egress_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_COLUMN 25

static const char *const health_names[] = {"ok", "warn", "fail"};

void doctor_add(struct doctor *doctor, const char *name, enum health health, const char *advice,
                const char *format, ...)
{
    if (doctor->result_count == DOCTOR_RESULTS_MAX)
        return;
    struct result *result = &doctor->results[doctor->result_count++];
    result->health = health;
    snprintf(result->name, sizeof result->name, "%s", name);
    snprintf(result->advice, sizeof result->advice, "%s", advice ? advice : "");
    va_list args;
    va_start(args, format);
    vsnprintf(result->text, sizeof result->text, format, args);
    va_end(args);
}

static void run_checks(struct doctor *doctor)
{
    static void (*const checks[])(struct doctor *) = {
        doctor_check_routes,   doctor_check_machine,    doctor_check_models,
        doctor_check_place,    doctor_check_kept,       doctor_check_door,
        doctor_check_services, doctor_check_retirement, doctor_check_tiers};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        checks[i](doctor);
}

/* "ok    NAME   text", in lines of at most 80 columns. */
static void print_result(const struct result *result)
{
    char left[96];
    snprintf(left, sizeof left, "%-4s  %-18s", health_names[result->health], result->name);
    help_row_at(stdout, left, TEXT_COLUMN, result->text);
    if (*result->advice) {
        char advice[sizeof result->advice + 4];
        snprintf(advice, sizeof advice, "-> %s", result->advice);
        help_text(stdout, TEXT_COLUMN, advice);
    }
}

/* The last line, which is what is on the screen: "1 failure: disk; 18 checks are well". */
static void print_sum(const struct doctor *doctor)
{
    static const char *const words[] = {[HEALTH_WARN] = "warning", [HEALTH_FAIL] = "failure"};
    struct buf line;
    size_t well = 0;
    buf_init(&line, 8192);
    for (int health = HEALTH_FAIL; health > HEALTH_OK; health--) {
        size_t count = 0, at = 0;
        for (size_t i = 0; i < doctor->result_count; i++)
            count += (int)doctor->results[i].health == health;
        well += count;
        if (count)
            buf_printf(&line, "%zu %s%s: ", count, words[health], PLURAL(count));
        for (size_t i = 0; i < doctor->result_count; i++)
            if ((int)doctor->results[i].health == health)
                buf_printf(&line, "%s%s", doctor->results[i].name, ++at < count ? ", " : "; ");
    }
    well = doctor->result_count - well;
    buf_printf(&line, "%zu check%s well", well, well == 1 ? " is" : "s are");
    if (!line.failed)
        help_text(stdout, 0, line.data);
    buf_deinit(&line);
}

static int print_results(const struct doctor *doctor, bool quiet, bool json)
{
    enum health worst = HEALTH_OK;
    struct json *object = json_new_object(), *checks = json_new_array();
    for (size_t i = 0; i < doctor->result_count; i++) {
        const struct result *result = &doctor->results[i];
        worst = result->health > worst ? result->health : worst;
        if (quiet && result->health == HEALTH_OK)
            continue;
        if (!json) {
            print_result(result);
            continue;
        }
        struct json *check = json_new_object();
        json_put(check, "name", json_new_cstr(result->name));
        json_put(check, "status", json_new_cstr(health_names[result->health]));
        json_put(check, "text", json_new_cstr(result->text));
        json_put(check, "advice", json_new_cstr(*result->advice ? result->advice : NULL));
        json_push(checks, check);
    }
    json_put(object, "status", json_new_cstr(health_names[worst]));
    json_put(object, "checks", checks);
    if (json && !command_print_json(object))
        return 1;
    if (!json) {
        print_sum(doctor);
        json_free(object);
    }
    return worst == HEALTH_FAIL ? 1 : 0;
}

static void add_mistakes(struct doctor *doctor, const char *path, const struct td_error *err)
{
    static const char advice[] = "see 'tandem help config'";
    struct config_mistakes *mistakes = config_find_mistakes(path);
    if (!mistakes)
        doctor_add(doctor, "configuration", HEALTH_FAIL, advice, "%s", err->message);
    for (size_t i = 0; mistakes && i < mistakes->count && i < CONFIG_MISTAKES_MAX; i++)
        doctor_add(doctor, "configuration", HEALTH_FAIL, advice, "%s", mistakes->text[i]);
    free(mistakes);
}

static int cmd_doctor(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false, quiet = false;
    struct doctor doctor = {0};
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_MODEL(doctor.model_path),
        {"offline", 0, OPTION_FLAG, &doctor.offline, NULL,
         HELP_TEXT("do not contact the other tiers"), 0, 0},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, HELP_TEXT("print only what is not well"), 0, 0},
        OPTION_ROW_CPU(doctor.cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "doctor",
        .summary =
            HELP_TEXT("Checks the configuration, CPU, model, state folder, ledger, port and the "
                      "other tiers, and says what to do. The exit code is 1 when something must be "
                      "fixed."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    if (config_load(config_path, &doctor.config, &err) == TD_OK)
        run_checks(&doctor);
    else
        add_mistakes(&doctor, config_path, &err);
    int code = print_results(&doctor, quiet, json);
    egress_log_close(doctor.egress);
    config_free(doctor.config);
    return code;
}

const struct verb verb_doctor = {"doctor", cmd_doctor,
                                 HELP_TEXT("check the installation and say what to do")};
