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
    OPTION_NUMBER,  /* double, min..max */
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

struct option_spec {
    const char *verb;
    const char *arguments; /* "[TEXT]" or "" */
    const char *summary;   /* what the verb does, one or more lines */
    const struct option *options;
    size_t option_count;
    size_t positional_max;
};

enum options_outcome { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_USAGE };

/* argv[0] is the verb. positional: room for spec->positional_max. Prints help to stdout and
 * mistakes to stderr. */
enum options_outcome options_parse(const struct option_spec *spec, int argc, char **argv,
                                   const char **positional, size_t *positional_count);
void options_print_help(const struct option_spec *spec);

/* Rows that many verbs share. */
#define OPTION_ROW_MODEL(variable)                                                                 \
    {                                                                                              \
        "model", 'm', OPTION_TEXT, &(variable), "FILE", "GGUF model; default the embedded one", 0, \
            0                                                                                      \
    }
#define OPTION_ROW_CPU(variable)                                                               \
    {                                                                                          \
        "cpu", 0, OPTION_CPU, &(variable), "auto|ref|avx2|avx512|neon", "kernel variant", 0, 0 \
    }
#define OPTION_ROW_KV_TYPE(variable)                                                       \
    {                                                                                      \
        "kv-type", 0, OPTION_KV_TYPE, &(variable), "f16|f32|q8_0", "of the KV cache", 0, 0 \
    }
#define OPTION_ROW_JSON(variable)                                              \
    {                                                                          \
        "json", 0, OPTION_FLAG, &(variable), NULL, "output for programs", 0, 0 \
    }
#define OPTION_ROW_THREADS(variable)                                                               \
    {                                                                                              \
        "threads", 't', OPTION_UINT, &(variable), "N", "compute threads; default one a fast core", \
            0, 1024                                                                                \
    }
#define OPTION_ROW_CONFIG(variable)                         \
    {                                                       \
        "config", 'c', OPTION_TEXT, &(variable), "FILE",    \
            "configuration; see 'tandem help config'", 0, 0 \
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
