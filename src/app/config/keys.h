/* The keys of the configuration: what can be written into the file, and how it is read.
 *
 * To add a key, touch two files: add a member to struct config (config.h), and a row to the
 * section in which the key stands (keys_*.c). Reading, the check of the range, the default, "did
 * you mean" and `tandem help config` follow from the row. The third file is the one that uses
 * the member. A check that concerns several keys belongs in config_check.c.
 *
 * The tables are constant; any thread may read them. */
#ifndef APP_KEYS_H
#define APP_KEYS_H

#include "app/config/config.h"
#include "app/config/mistakes.h"
#include "app/config/packed_help.h"
#include "app/config/yaml_tree.h"
#include "base/core/error.h"

enum config_key_type {
    CONFIG_KEY_TEXT,     /* const char * */
    CONFIG_KEY_UINT,     /* uint32_t */
    CONFIG_KEY_UINT_ALL, /* uint32_t; the word "all" is UINT32_MAX */
    CONFIG_KEY_NUMBER,   /* double; NAN when it is left out and has no default */
    CONFIG_KEY_BOOL,     /* bool */
    CONFIG_KEY_CHOICE,   /* int: index in choices; -1 when it is left out and has no default */
    CONFIG_KEY_TEXTS,    /* struct config_texts */
    CONFIG_KEY_WORDS,    /* the same; a single text is a list of one */
    CONFIG_KEY_MASK,     /* uint32_t: a bit for each choice in a list, or of one; 0 = left out */
    CONFIG_KEY_SECTION,  /* a map: members of the same struct */
    CONFIG_KEY_SECTIONS, /* a list of maps: pointer and count */
    CONFIG_KEY_REFUSED   /* a key that people try; help says what to write instead */
};

struct config_section;

/* In 56 bytes, because there are hundreds. */
struct config_key {
    const char *name;
    enum config_key_type type : 8;
    unsigned offset : 24;  /* of the member in the section's struct */
    const char *otherwise; /* the default, as it would stand in the file; NULL = none */
    double min, max;       /* of numbers; for TEXTS, WORDS and SECTIONS max is most entries */
    union {
        const char *const *choices;           /* CHOICE, MASK: ends with NULL */
        const struct config_section *section; /* SECTION, SECTIONS */
    };
    unsigned count_offset : 24; /* SECTIONS: of the member that counts them */
    bool required : 1;
    uint16_t help; /* HELP(): what the key means, as a part of a sentence; see packed_help() */
};

struct config_section {
    const struct config_key *keys;
    size_t key_count;
    size_t bytes;       /* of the struct; SECTIONS only */
    size_t line_offset; /* of its line in the file; SECTIONS only */
};

/* A section for CONFIG_KEY_SECTION, and one for CONFIG_KEY_SECTIONS with its struct, which has a
 * member `line`. */
#define KEYS_MAP(table)                              \
    {                                                \
        table, sizeof(table) / sizeof *(table), 0, 0 \
    }
#define KEYS_LIST(table, type)                                                     \
    {                                                                              \
        table, sizeof(table) / sizeof *(table), sizeof(type), offsetof(type, line) \
    }
#define MINUTES_MS(n) ((n)*60000.0)

/* Weights, which stand in several structs: AT names the member, as in every table of keys. */
#define KEYS_WEIGHTS                                               \
    {"latency",                                                    \
     CONFIG_KEY_NUMBER,                                            \
     AT(weights.latency),                                          \
     NULL,                                                         \
     0,                                                            \
     1,                                                            \
     .help = HELP("weight of waiting")},                           \
        {"privacy",                                                \
         CONFIG_KEY_NUMBER,                                        \
         AT(weights.privacy),                                      \
         NULL,                                                     \
         0,                                                        \
         1,                                                        \
         .help = HELP("weight of how far the prompt travels")},    \
    {                                                              \
        "cost", CONFIG_KEY_NUMBER, AT(weights.cost), NULL, 0, 1,   \
            .help = HELP("weight of what answers and errors cost") \
    }

extern const struct config_section keys_root; /* keys.c */
extern const struct config_section keys_server, keys_ledger, keys_cluster, keys_responses,
    keys_cache, keys_otlp, keys_files, keys_deferral, keys_log; /* keys_server.c */
extern const struct config_section keys_engine, keys_models;    /* keys_engine.c */
extern const struct config_section keys_tier;                   /* keys_tiers.c */
extern const struct config_section keys_route;                  /* keys_routes.c */
extern const struct config_section keys_rule, keys_app, keys_budget, keys_policy,
    keys_webhook;                                /* keys_rules.c */
extern const struct config_section keys_privacy; /* keys_privacy.c */

/* Names of choices that others read too; each ends with NULL, the index is the value. */
extern const char *const config_modalities[], *const config_risks[];
extern const char *const config_yes_no[], *const config_languages[], *const config_priorities[],
                                                                         *const config_days[];

/* What is read, and where mistakes go. */
struct keys_source {
    const char *label; /* the file's name in messages */
    struct arena *arena;
    struct config_mistakes *mistakes;
};

/* Fills the struct at `base` by `section`: defaults first, then the map (NULL = only defaults).
 * `where` is the path so far, "" at the root. Reads on after a mistake, so that all are found.
 * False when there was one, or no memory. */
TD_MUST_CHECK bool keys_read(const struct keys_source *source, const struct config_section *section,
                             const struct yaml_node *map, const char *where, void *base);

/* The same for a whole text with few mistakes: TD_INVALID with the first one. */
TD_MUST_CHECK enum td_status keys_read_own(const char *label, const struct config_section *section,
                                           const struct yaml_node *map, struct arena *arena,
                                           void *base, struct td_error *err);

/* The key of that name in a section; NULL when there is none. */
const struct config_key *keys_find(const struct config_section *section, const char *name);

/* The end of a message about a key that a section does not have. */
struct error_suggestion keys_suggest(const struct config_section *section, const char *name);

/* A map of its own, or a list of such maps. */
static inline bool keys_has_section(const struct config_key *key)
{
    return key->type == CONFIG_KEY_SECTION || key->type == CONFIG_KEY_SECTIONS;
}

#endif
