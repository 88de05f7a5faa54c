/* An operator's rules: structured matches over what is known of a request. They are compiled to
 * masks and ranges and tried from the top; the first that matches decides.
 *
 * A condition is a box: a set of bits for every choice, an open interval for every number, and yes,
 * no or either for every flag. So matching is a few AND operations and comparisons, and a rule that
 * earlier ones cover can be found by subtracting boxes. Immutable once compiled; any thread. */
#ifndef ROUTER_ROUTING_RULES_H
#define ROUTER_ROUTING_RULES_H

#include "request/request.h"

/* A request has some bits of each. */
enum rule_choice {
    RULE_TASK, /* the first RULE_NAMED_COUNT by the rule set's own tables of names */
    RULE_ROUTE,
    RULE_APP,
    RULE_USER,
    RULE_TAG, /* may have several */
    RULE_CLASS,
    RULE_LANGUAGE,
    RULE_NETWORK,
    RULE_PRIORITY,
    RULE_HOUR,
    RULE_DAY,
    RULE_CHOICE_COUNT
};
#define RULE_NAMED_COUNT 5
#define RULE_NAMES_MAX 62
#define RULE_OTHER_BIT (UINT64_C(1) << 63) /* none, or one that no rule names */
#define RULE_WHATEVER UINT64_MAX

enum rule_number {
    RULE_TOKENS, /* of the prompt, as the route's first tier counts */
    RULE_ANSWER_TOKENS,
    RULE_MESSAGES,
    RULE_GAIN,
    RULE_P_LOCAL,
    RULE_P_STRONG,
    RULE_SLO_TTFT_MS,
    RULE_SLO_MS,
    RULE_BATTERY, /* percent */
    RULE_BUDGET,  /* share of the fullest budget that is spent, 1 = all */
    RULE_DAY_TOKENS,
    RULE_NUMBER_COUNT
};

enum rule_flag {
    RULE_CODE = 1,
    RULE_MATHS = 2,
    RULE_QUESTION = 4,
    RULE_MULTI_STEP = 8,
    RULE_FRESH = 16,
    RULE_JAILBREAK = 32,
    RULE_TOOLS = 64,
    RULE_ON_BATTERY = 128,
    RULE_MEDIA = 256
};

enum rule_only { RULE_ONLY_NOTHING, RULE_ONLY_LOCAL, RULE_ONLY_CLOUD };

/* Where a rule's start is no tier of that name. */
#define RULE_START_NONE SIZE_MAX
#define RULE_START_LOCAL (SIZE_MAX - 1)
#define RULE_START_CLOUD (SIZE_MAX - 2)

struct rule_range {
    double over, under; /* both exclusive */
};

struct routing_rule {
    const char *name;
    uint32_t line;
    /* when */
    uint64_t any[RULE_CHOICE_COUNT]; /* RULE_WHATEVER = no condition */
    uint32_t asked;                  /* a bit for each range that is one */
    struct rule_range range[RULE_NUMBER_COUNT];
    uint32_t yes, no; /* of enum rule_flag */
    /* then; what is left out changes nothing */
    const char *deny;
    enum rule_only only;
    uint32_t tiers;  /* a bit each; 0 = all */
    uint32_t places; /* a bit each; 0 = all */
    size_t start;    /* tier, or RULE_START_... */
    bool stays;      /* gates do not leave the start */
    int data_class;  /* at least this; -1 */
    struct td_weights weights;
};

struct rule_names {
    const char *items[RULE_NAMES_MAX];
    size_t count;
};

struct routing_rules {
    const struct routing_rule *rules;
    size_t count;
    struct rule_names names[RULE_NAMED_COUNT];
};

/* What is known of one request. */
struct rule_facts {
    uint64_t has[RULE_CHOICE_COUNT];
    double number[RULE_NUMBER_COUNT]; /* NAN = not known: neither over nor under anything */
    uint32_t flags;
};

/* The first rule that matches, or NULL. */
const struct routing_rule *routing_rules_match(const struct routing_rules *set,
                                               const struct rule_facts *facts);

/* The bit of a name; RULE_OTHER_BIT when no rule names it. NULL is no name. */
uint64_t routing_rules_name_bit(const struct routing_rules *set, enum rule_choice choice,
                                const char *name);
/* The same while compiling: a new name gets a bit. 0 when there are too many. **borrows** name. */
uint64_t routing_rules_add_name(struct routing_rules *set, enum rule_choice choice,
                                const char *name);

/* Can any request match it? */
bool rule_is_possible(const struct routing_rule *rule);
/* Finds out whether rules[index] can be reached. Returns the earlier rule after which nothing is
 * left for it. SIZE_MAX: it can be reached, or telling would take too many pieces or too much
 * memory. *alone: that one rule covers it; otherwise several rules do so together. */
size_t routing_rules_find_shadow(const struct routing_rules *set, size_t index, bool *alone);

/* Says with what other input the rule would not have matched: the number that is nearest to its
 * bound, else the first choice. */
#define RULE_FLIP_BYTES 192
void rule_explain_flip(const struct routing_rule *rule,
                       const double number[static RULE_NUMBER_COUNT],
                       char out[static RULE_FLIP_BYTES]);

const char *rule_number_name(enum rule_number number); /* "tokens", "gain", ... */
const char *rule_choice_name(enum rule_choice choice); /* "task", "route", ... */

#endif
