/* The parser walks the table of a verb for each argument: a verb has at most some sixty options,
 * so that a linear search is enough. Mistakes are refused at once, with the nearest name;
 * nothing is ignored. */
#include "app/cli/options.h"

#include "app/cli/help.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "kernels/kernels.h"

#include <stdarg.h>
#include <stdio.h>

#define OPTIONS_MAX 96

struct parser {
    const struct option_spec *spec;
    int argc;
    char **argv;
    int at; /* next argument */
};

TD_PRINTF(2, 0)
static void print_misuse(const char *verb, const char *format, va_list args)
{
    fprintf(stderr, "tandem %s: ", verb);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'tandem %s --help'.\n", verb);
}

int options_misuse(const char *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_misuse(verb, format, args);
    va_end(args);
    return 2;
}

/* False, so that a parser can return it. */
TD_PRINTF(2, 3)
static bool mistake(const struct option_spec *spec, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_misuse(spec->verb, format, args);
    va_end(args);
    return false;
}

static const struct option *find_long(const struct option_spec *spec, struct td_str name)
{
    for (size_t i = 0; i < spec->option_count; i++)
        if (str_equal(str_from(spec->options[i].name), name))
            return &spec->options[i];
    return NULL;
}

static const struct option *find_short(const struct option_spec *spec, char letter)
{
    for (size_t i = 0; i < spec->option_count; i++)
        if (spec->options[i].letter && spec->options[i].letter == letter)
            return &spec->options[i];
    return NULL;
}

static bool unknown_long(const struct option_spec *spec, struct td_str name)
{
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    for (; count < spec->option_count && count < OPTIONS_MAX - 1; count++)
        names[count] = spec->options[count].name;
    names[count++] = "help";
    /* Not error_suggest: an option is typed with its dashes. */
    const char *near = str_nearest(name, names, count);
    return mistake(spec, "unknown option --" STR_FMT "%s%s%s", STR_ARG(str_slice(name, 0, 60)),
                   near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static bool set_number(const struct option_spec *spec, const struct option *option,
                       const char *text)
{
    uint64_t integer = 0;
    double number = 0;
    bool share = option->type == OPTION_NUMBER && option->max <= 1;
    bool ok = share                           ? str_to_share(str_from(text), &number)
              : option->type == OPTION_NUMBER ? str_to_double(str_from(text), &number)
                                              : str_to_u64(str_from(text), &integer);
    if (ok && option->type == OPTION_U64) {
        *(uint64_t *)option->value = integer;
        return true;
    }
    if (option->type == OPTION_UINT)
        number = (double)integer;
    if (!ok || !(number >= option->min && number <= option->max)) {
        char range[96];
        snprintf(range, sizeof range, "a number from %.10g to %.10g%s", option->min,
                 option->type == OPTION_U64 ? 1.8446744073709552e19 : option->max,
                 share ? ", or a percentage" : "");
        return mistake(spec, "--%s needs %s", option->name, range);
    }
    if (option->type == OPTION_UINT)
        *(uint32_t *)option->value = (uint32_t)integer;
    else
        *(double *)option->value = number;
    return true;
}

static bool set_value(const struct option_spec *spec, const struct option *option, const char *text)
{
    switch (option->type) {
    case OPTION_TEXT:
        *(const char **)option->value = text;
        return true;
    case OPTION_CPU:
        return kernels_cpu_parse(text, option->value) ||
               mistake(spec, "--cpu is one of auto, ref, avx2, avx512, neon, not '%s'", text);
    case OPTION_KV_TYPE:
        return names_kv_type_parse(str_from(text), option->value) ||
               mistake(spec,
                       "--kv-type is f16, f32, q8_0, q4_0, or one for keys and one for values, "
                       "such as q8_0/q4_0, not '%s'",
                       text);
    case OPTION_EACH: {
        const struct option_each *each = option->value;
        return each->add(each->ctx, text) ||
               mistake(spec, "--%s needs %s", option->name, each->needs);
    }
    default:
        return set_number(spec, option, text);
    }
}

static bool parse_long(struct parser *parser, const char *argument)
{
    const char *equals = strchr(argument, '=');
    struct td_str whole = str_from(argument);
    struct td_str name = str_slice(whole, 2, equals ? (size_t)(equals - argument) : whole.len);
    const struct option *option = find_long(parser->spec, name);
    if (!option)
        return unknown_long(parser->spec, name);
    if (option->type == OPTION_FLAG) {
        if (equals)
            return mistake(parser->spec, "--%s takes no value", option->name);
        *(bool *)option->value = true;
        return true;
    }
    if (equals)
        return set_value(parser->spec, option, equals + 1);
    if (parser->at >= parser->argc)
        return mistake(parser->spec, "--%s needs a value: %s", option->name, option->argument);
    return set_value(parser->spec, option, parser->argv[parser->at++]);
}

static bool parse_short(struct parser *parser, const char *argument)
{
    const struct option *option = find_short(parser->spec, argument[1]);
    char letter[2] = {argument[1], '\0'};
    if (!option)
        return mistake(parser->spec, "unknown option -%s", letter);
    if (option->type == OPTION_FLAG) {
        if (argument[2])
            return mistake(parser->spec, "-%s takes no value", letter);
        *(bool *)option->value = true;
        return true;
    }
    if (argument[2])
        return set_value(parser->spec, option, argument + 2);
    if (parser->at >= parser->argc)
        return mistake(parser->spec, "-%s needs a value: %s", letter, option->argument);
    return set_value(parser->spec, option, parser->argv[parser->at++]);
}

enum options_outcome options_parse(const struct option_spec *spec, int argc, char **argv,
                                   const char **positional, size_t *positional_count)
{
    ASSERT(argc > 0 && spec->option_count < OPTIONS_MAX && (positional || !spec->positional_max));
    struct parser parser = {spec, argc, argv, 1};
    size_t count = 0;
    bool only_positional = false;
    while (parser.at < argc) {
        const char *argument = argv[parser.at++];
        if (!only_positional && strcmp(argument, "--") == 0) {
            only_positional = true;
        } else if (!only_positional &&
                   (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
            options_print_help(spec);
            return OPTIONS_HELP;
        } else if (!only_positional && strncmp(argument, "--", 2) == 0) {
            if (!parse_long(&parser, argument))
                return OPTIONS_USAGE;
        } else if (!only_positional && argument[0] == '-' && argument[1]) {
            if (!parse_short(&parser, argument))
                return OPTIONS_USAGE;
        } else if (count < spec->positional_max) {
            positional[count++] = argument;
        } else {
            options_misuse(spec->verb, "unexpected argument '%s'", argument);
            return OPTIONS_USAGE;
        }
    }
    if (positional_count)
        *positional_count = count;
    return OPTIONS_RUN;
}

static void print_option(const struct option *option)
{
    char left[80], letter[5] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    help_row(stdout, left, HELP_OPTION_COLUMN, option->help);
}

void options_print_help(const struct option_spec *spec)
{
    printf("Usage: tandem %s%s%s%s\n\n", spec->verb, spec->option_count ? " [options]" : "",
           spec->arguments ? " " : "", spec->arguments ? spec->arguments : "");
    help_text(stdout, 0, spec->summary);
    if (spec->example)
        printf("\nExample:\n");
    if (spec->example)
        help_text(stdout, 0, spec->example);
    if (spec->option_count)
        printf("\nOptions:\n");
    for (size_t i = 0; i < spec->option_count; i++)
        print_option(&spec->options[i]);
    if (spec->json)
        printf("\nWith --json:\n");
    if (spec->json)
        help_text(stdout, 2, spec->json);
}
