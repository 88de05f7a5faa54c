/* Command-line options of one subcommand: a table of rows drives parsing, --help and "did you
 * mean". Long options take their value as `--name=value` or `--name value`, short ones as `-n
 * value` or `-nvalue`; `--` ends them. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "tandem/types.h"

enum option_type {
    OPTION_FLAG,    /* bool: true when given */
    OPTION_TEXT,    /* const char * */
    OPTION_UINT,    /* uint32_t, min..max */
    OPTION_U64,     /* uint64_t */
    OPTION_NUMBER,  /* double, min..max; up to 1 it is a share, and may be a percentage */
    OPTION_CPU,     /* enum td_cpu */
    OPTION_KV_TYPE, /* enum td_kv_type */
    OPTION_EACH     /* struct option_each: checked by it; may stand several times */
};

/* Takes each value as it comes; false refuses it. */
struct option_each {
    bool (*add)(void *ctx, const char *text);
    void *ctx;
    const char *needs; /* "a number": for the refusal */
};

struct option {
    const char *name; /* without dashes */
    char letter;      /* 0 = none */
    enum option_type type;
    void *value;          /* holds the default */
    const char *argument; /* name of the value in help; NULL for flags */
    const char *help;
    double min, max;
};

/* The texts are sentences; help.h breaks them into lines. NULL and 0 = there is none. */
struct option_spec {
    const char *verb;
    const char *arguments; /* "[TEXT]" */
    const char *summary;   /* what the verb does */
    const char *example;   /* a command line that a newcomer can type */
    const char *json;      /* what --json prints */
    const struct option *options;
    size_t option_count;
    size_t positional_max;
};
#define OPTION_TABLE(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_USAGE };

/* argv[0] is the verb. positional: room for spec->positional_max. Prints help to stdout and
 * mistakes to stderr. */
enum options_outcome options_parse(const struct option_spec *spec, int argc, char **argv,
                                   const char **positional, size_t *positional_count);
void options_print_help(const struct option_spec *spec);

/* Says on standard error how a verb was used wrongly, and where its help is. Returns the exit
 * code. */
int options_misuse(const char *verb, const char *format, ...) TD_PRINTF(2, 3);

/* Rows that many verbs share. */
#define OPTION_ROW_MODEL(variable)                                               \
    {                                                                            \
        "model", 'm', OPTION_TEXT, &(variable), "FILE",                          \
            "a GGUF file or a downloaded model; default: the embedded one", 0, 0 \
    }
#define OPTION_ROW_CPU(variable)                                              \
    {                                                                         \
        "cpu", 0, OPTION_CPU, &(variable), "VARIANT",                         \
            "kernels to use: auto (default), ref, avx2, avx512 or neon", 0, 0 \
    }
#define OPTION_ROW_KV_TYPE(variable)                               \
    {                                                              \
        "kv-type", 0, OPTION_KV_TYPE, &(variable), "TYPE",         \
            "KV cache: f16, f32, q8_0, q4_0, or KEYS/VALUES", 0, 0 \
    }
#define OPTION_ROW_JSON(variable)                                                   \
    {                                                                               \
        "json", 0, OPTION_FLAG, &(variable), NULL, "print JSON, for programs", 0, 0 \
    }
#define OPTION_ROW_THREADS(variable)                                    \
    {                                                                   \
        "threads", 't', OPTION_UINT, &(variable), "N",                  \
            "compute threads; default: one for each fast core", 0, 1024 \
    }
#define OPTION_ROW_CONFIG(variable)                                  \
    {                                                                \
        "config", 'c', OPTION_TEXT, &(variable), "FILE",             \
            "the configuration file; see 'tandem help config'", 0, 0 \
    }

/* Parses, and leaves the calling command when there is nothing to run. Exit codes: 0 help, 2
 * usage. */
#define OPTIONS_PARSE_OR_RETURN(spec, argc, argv, positional, positional_count)  \
    do {                                                                         \
        switch (options_parse(spec, argc, argv, positional, positional_count)) { \
        case OPTIONS_RUN:                                                        \
            break;                                                               \
        case OPTIONS_HELP:                                                       \
            return 0;                                                            \
        case OPTIONS_USAGE:                                                      \
            return 2;                                                            \
        }                                                                        \
    } while (0)

#endif
