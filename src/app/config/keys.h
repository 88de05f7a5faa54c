/* The key table of the configuration, and reading a YAML map by it. */
#ifndef APP_KEYS_H
#define APP_KEYS_H

#include "app/config/config.h"
#include "app/config/yaml_tree.h"

enum config_key_type {
    CONFIG_KEY_TEXT,     /* const char * */
    CONFIG_KEY_UINT,     /* uint32_t */
    CONFIG_KEY_UINT_ALL, /* uint32_t; the word "all" is UINT32_MAX */
    CONFIG_KEY_NUMBER,   /* double; NAN when it is left out and has no default */
    CONFIG_KEY_BOOL,     /* bool */
    CONFIG_KEY_CHOICE,   /* int: index in choices */
    CONFIG_KEY_TEXTS,    /* struct config_texts */
    CONFIG_KEY_WORDS,    /* the same; a single text is a list of one */
    CONFIG_KEY_MASK,     /* uint32_t: a bit for each choice in a list, or of one; 0 = left out */
    CONFIG_KEY_SECTION,  /* members of the same struct */
    CONFIG_KEY_SECTIONS, /* pointer and count: a list of maps */
    CONFIG_KEY_REFUSED   /* a key that people try; help says what to do instead */
};

struct config_section;

struct config_key {
    const char *name;
    enum config_key_type type;
    size_t offset;
    const char *otherwise;      /* default, as it would stand in the file; NULL = none */
    double min, max;            /* numbers; TEXTS and SECTIONS: most entries */
    const char *const *choices; /* NULL-terminated */
    const struct config_section *section;
    bool required;
    const char *help;
    size_t count_offset; /* SECTIONS */
};

struct config_section {
    const struct config_key *keys;
    size_t key_count;
    size_t bytes;       /* of the struct; SECTIONS only */
    size_t line_offset; /* SECTIONS only */
};

extern const struct config_section config_root;
/* Of the policy (keys_rules.c). */
extern const struct config_section config_rule_section, config_app_section, config_budget_section,
    config_policy_section, config_consistency_section, config_device_section,
    config_route_weights_section;
/* NULL-terminated names of choices; the index is the value. */
extern const char *const config_yes_no[], *const config_languages[], *const config_priorities[],
                                                                         *const config_days[];

/* Fills the struct at `base` by `section`: defaults first, then the map (may be NULL). `where`: the
 * path so far, "" at the root. */
TD_MUST_CHECK enum td_status keys_read(const char *label, const struct config_section *section,
                                       const struct yaml_node *map, const char *where,
                                       struct arena *arena, void *base, struct td_error *err);

#endif
