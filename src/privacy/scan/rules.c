/* The operator's patterns and word lists.
 *
 * Patterns are PCRE2's, and a pattern may be hostile to time. So each start has a limit of steps,
 * and the clock is read after each portion of starts. A text that runs out of time is restricted as
 * a whole. Words and phrases stand in a hash table by their first word, so that a million of them
 * cost one look a word of the text. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "privacy/scan/rules.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "base/time/clock.h"
#include "privacy/words/lexicon.h"

#include <pcre2.h>
#include <stdlib.h>

/* PCRE2 applies its limit to each start, so that a text of n places could cost n times it. Starts
 * are tried by portions, and between them the time is looked at. */
#define MATCH_LIMIT 20000 /* steps from one start: a pattern without nested repetition needs few */
#define HEAP_LIMIT_KB 1024
#define STARTS 4096         /* a portion */
#define TEXT_MS_MAX 1000.0  /* all patterns over one text */
#define FINDINGS_MAX 100000 /* more than that are one finding: the text */
#define WORDS_MAX 1000000
#define PHRASE_BYTES_MAX 256

struct pattern {
    pcre2_code *code;
    uint16_t rule;
};

struct phrase {
    char *text; /* lower case, one space between words */
    uint32_t first_hash;
    uint16_t rule;
    uint32_t next; /* in the slot, index + 1 */
};

struct rule {
    char name[PRIVACY_RULE_NAME_BYTES];
    enum td_data_class data_class;
    float score;
};

struct privacy_rules {
    struct rule rules[PRIVACY_RULES_MAX];
    size_t rule_count;
    struct pattern patterns[PRIVACY_RULES_MAX];
    size_t pattern_count;
    struct phrase *phrases;
    size_t phrase_count, phrase_capacity;
    uint32_t *slots; /* power of two; index + 1 */
    size_t slot_count;
};

struct privacy_rules *privacy_rules_new(void)
{
    return calloc(1, sizeof(struct privacy_rules));
}

void privacy_rules_free(struct privacy_rules *rules)
{
    if (rules == NULL)
        return;
    for (size_t i = 0; i < rules->pattern_count; i++)
        pcre2_code_free(rules->patterns[i].code);
    for (size_t i = 0; i < rules->phrase_count; i++)
        free(rules->phrases[i].text);
    free(rules->phrases);
    free(rules->slots);
    free(rules);
}

static enum td_status add_rule(struct privacy_rules *rules, const char *name,
                               enum td_data_class data_class, double score, struct td_error *err)
{
    ASSERT(name != NULL && data_class <= TD_CLASS_RESTRICTED);
    size_t len = strlen(name);
    bool fits = len > 0 && len < sizeof rules->rules[0].name;
    for (size_t i = 0; i < len && fits; i++)
        fits = (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'A' && name[i] <= 'Z') ||
               (name[i] >= 'a' && name[i] <= 'z') || name[i] == '_' || name[i] == '-';
    if (!fits)
        return error_set(err, TD_INVALID,
                         "the rule's name \"%.70s\" must be 1 to 64 of A-Z a-z 0-9 _ -", name);
    if (rules->rule_count == PRIVACY_RULES_MAX)
        return error_set(err, TD_LIMIT, "more than %d patterns and word lists", PRIVACY_RULES_MAX);
    struct rule *rule = &rules->rules[rules->rule_count++];
    memcpy(rule->name, name, len + 1);
    rule->data_class = data_class;
    rule->score = (float)score;
    return TD_OK;
}

/* Does the pattern match nothing at all? It would then match everywhere. */
static bool matches_empty(const pcre2_code *code)
{
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    bool empty = match == NULL || pcre2_match(code, (PCRE2_SPTR) "", 0, 0, 0, match, NULL) >= 0;
    pcre2_match_data_free(match);
    return empty;
}

enum td_status privacy_rules_add_pattern(struct privacy_rules *rules, const char *name,
                                         const char *regex, enum td_data_class data_class,
                                         double score, struct td_error *err)
{
    int code_error;
    PCRE2_SIZE offset;
    ASSERT(rules != NULL && regex != NULL);
    enum td_status status = add_rule(rules, name, data_class, score, err);
    if (status != TD_OK)
        return status;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT,
                      &code_error, &offset, NULL);
    if (code == NULL) {
        char words[160] = "";
        pcre2_get_error_message(code_error, (PCRE2_UCHAR *)words, sizeof words);
        return error_set(err, TD_INVALID, "pattern \"%s\": %s, at character %zu of the regex", name,
                         words, (size_t)offset + 1);
    }
    if (matches_empty(code)) {
        pcre2_code_free(code);
        return error_set(
            err, TD_INVALID,
            "pattern \"%s\" matches the empty text and so everywhere; make one part of "
            "it required",
            name);
    }
    rules->patterns[rules->pattern_count++] =
        (struct pattern){code, (uint16_t)(rules->rule_count - 1)};
    return TD_OK;
}

static unsigned char lower(char c)
{
    return (unsigned char)ascii_lower((unsigned char)c);
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word_byte(char c)
{
    return plain_is_word_byte((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Of the text's first word: hash, and its end. */
static uint32_t first_word_hash(struct td_str text, size_t at, size_t *end)
{
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */
    while (at < text.len && is_word_byte(text.data[at]))
        hash = (hash ^ lower(text.data[at++])) * 0x01000193u;
    *end = at;
    return hash;
}

static enum td_status add_phrase(struct privacy_rules *rules, struct td_str line,
                                 struct td_error *err)
{
    char text[PHRASE_BYTES_MAX + 1];
    size_t len = 0, end;
    for (size_t i = 0; i < line.len; i++) {
        if (is_white(line.data[i]) && (len == 0 || text[len - 1] == ' '))
            continue;
        if (len == PHRASE_BYTES_MAX)
            return error_set(err, TD_LIMIT, "the phrase \"%.60s...\" is longer than %d bytes", text,
                             PHRASE_BYTES_MAX);
        text[len++] = is_white(line.data[i]) ? ' ' : (char)lower(line.data[i]);
    }
    text[len] = '\0';
    if (!is_word_byte(text[0]))
        return error_set(err, TD_INVALID, "\"%.60s\" must begin with a letter or a digit", text);
    if (rules->phrase_count == WORDS_MAX)
        return error_set(err, TD_LIMIT, "more than %d words", WORDS_MAX);
    if (rules->phrase_count == rules->phrase_capacity) {
        size_t capacity = rules->phrase_capacity ? rules->phrase_capacity * 2 : 256;
        struct phrase *grown = realloc(rules->phrases, capacity * sizeof *grown);
        if (grown == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu words", capacity);
        rules->phrases = grown;
        rules->phrase_capacity = capacity;
    }
    struct phrase phrase = {.text = strdup(text),
                            .first_hash = first_word_hash((struct td_str){text, len}, 0, &end),
                            .rule = (uint16_t)(rules->rule_count - 1)};
    if (phrase.text == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a word");
    rules->phrases[rules->phrase_count++] = phrase;
    return TD_OK;
}

/* The table of first words, made again after each list. */
static enum td_status index_phrases(struct privacy_rules *rules, struct td_error *err)
{
    size_t slots = 256;
    while (slots < rules->phrase_count * 2)
        slots *= 2;
    uint32_t *table = calloc(slots, sizeof *table);
    if (table == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu words", rules->phrase_count);
    for (size_t i = 0; i < rules->phrase_count; i++) {
        uint32_t *slot = &table[rules->phrases[i].first_hash & (slots - 1)];
        rules->phrases[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    free(rules->slots);
    rules->slots = table;
    rules->slot_count = slots;
    return TD_OK;
}

enum td_status privacy_rules_add_words(struct privacy_rules *rules, const char *name,
                                       struct td_str lines, enum td_data_class data_class,
                                       struct td_error *err)
{
    struct td_str line;
    ASSERT(rules != NULL);
    size_t number = 0, before = rules->phrase_count;
    enum td_status status = add_rule(rules, name, data_class, 0.9, err);
    while (status == TD_OK && str_next(&lines, '\n', &line)) {
        struct td_error cause = {0};
        number++;
        line = str_trim(line);
        if (line.len == 0 || line.data[0] == '#')
            continue;
        status = add_phrase(rules, line, &cause);
        if (status != TD_OK)
            error_set(err, status, "word list \"%s\", line %zu: %s", name, number, cause.message);
    }
    if (status == TD_OK && rules->phrase_count == before)
        return error_set(err, TD_INVALID, "word list \"%s\" has no word", name);
    return status == TD_OK ? index_phrases(rules, err) : status;
}

struct found {
    const struct privacy_rules *rules;
    struct privacy_span *spans;
    size_t count, capacity;
    bool failed; /* something could not be looked at */
};

static void found_add(struct found *found, size_t begin, size_t end, uint16_t rule)
{
    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? found->capacity * 2 : 16;
        capacity = capacity > FINDINGS_MAX ? FINDINGS_MAX : capacity;
        struct privacy_span *grown =
            found->count == FINDINGS_MAX ? NULL : realloc(found->spans, capacity * sizeof *grown);
        if (grown == NULL) {
            found->failed = true;
            return;
        }
        found->spans = grown;
        found->capacity = capacity;
    }
    const struct rule *r = &found->rules->rules[rule];
    found->spans[found->count++] = (struct privacy_span){.kind = PRIVACY_CUSTOM,
                                                         .begin = begin,
                                                         .end = end,
                                                         .score = r->score,
                                                         .data_class = r->data_class,
                                                         .rule = r->name};
}

/* The phrase's end in the text when it stands there from `at`, else 0. */
static size_t phrase_end(const struct phrase *phrase, struct td_str text, size_t at)
{
    const char *p = phrase->text;
    for (; *p; p++) {
        if (*p == ' ') {
            size_t space = at;
            while (at < text.len && is_white(text.data[at]))
                at++;
            if (at == space)
                return 0;
        } else if (at >= text.len || lower(text.data[at++]) != (unsigned char)*p) {
            return 0;
        }
    }
    bool runs_on = at < text.len && is_word_byte(p[-1]) && is_word_byte(text.data[at]);
    return runs_on ? 0 : at;
}

static void find_phrases(struct found *found, struct td_str text)
{
    const struct privacy_rules *rules = found->rules;
    for (size_t at = 0; at < text.len && rules->phrase_count > 0 && !found->failed;) {
        if (!is_word_byte(text.data[at])) {
            at++;
            continue;
        }
        size_t word_end, best = 0;
        uint16_t rule = 0;
        uint32_t hash = first_word_hash(text, at, &word_end);
        for (uint32_t i = rules->slots[hash & (rules->slot_count - 1)]; i != 0;
             i = rules->phrases[i - 1].next) {
            size_t end = rules->phrases[i - 1].first_hash == hash
                             ? phrase_end(&rules->phrases[i - 1], text, at)
                             : 0;
            if (end > best) {
                best = end;
                rule = rules->phrases[i - 1].rule;
            }
        }
        if (best > 0)
            found_add(found, at, best, rule);
        at = best > word_end ? best : word_end;
    }
}

/* Where the character after the one at `at` begins: PCRE2 must not start inside one. */
static size_t next_char(struct td_str text, size_t at)
{
    at++;
    while (at < text.len && ((unsigned char)text.data[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static void find_pattern(struct found *found, const struct pattern *pattern, struct td_str text,
                         double deadline_ms)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    size_t at = 0;
    if (context == NULL || match == NULL)
        found->failed = true;
    while (!found->failed && at < text.len) {
        size_t last = text.len - at > STARTS ? at + STARTS : text.len;
        pcre2_set_match_limit(context, MATCH_LIMIT);
        pcre2_set_heap_limit(context, HEAP_LIMIT_KB);
        pcre2_set_offset_limit(context, last);
        int result = pcre2_match(pattern->code, (PCRE2_SPTR)text.data, text.len, at,
                                 PCRE2_NO_UTF_CHECK, match, context);
        if (result == PCRE2_ERROR_NOMATCH) {
            at = next_char(text, last); /* starts up to and at `last` were tried */
        } else if (result < 0) {
            found->failed = true; /* a limit, or no memory */
        } else {
            const PCRE2_SIZE *place = pcre2_get_ovector_pointer(match);
            if (place[1] > place[0] && place[0] >= at) /* \K in a look-around can turn them round */
                found_add(found, place[0], place[1], pattern->rule);
            at = place[1] > at ? place[1] : next_char(text, at);
        }
        if (clock_monotonic_ms(NULL) > deadline_ms)
            found->failed = true;
    }
    pcre2_match_data_free(match);
    pcre2_match_context_free(context);
}

/* Patterns see UTF-8: what is not, byte for byte, as '?', so that places stay. The text itself when
 * all is; else a copy in *copy. */
static struct td_str valid_text(struct td_str text, char **copy)
{
    size_t at = utf8_valid_prefix(text);
    *copy = NULL;
    if (at == text.len)
        return text;
    *copy = malloc(text.len);
    if (*copy == NULL)
        return (struct td_str){NULL, 0};
    memcpy(*copy, text.data, text.len);
    while (at < text.len) {
        (*copy)[at++] = '?';
        at += utf8_valid_prefix((struct td_str){text.data + at, text.len - at});
    }
    return (struct td_str){*copy, text.len};
}

static void find_patterns(struct found *found, struct td_str text)
{
    double deadline_ms = clock_monotonic_ms(NULL) + TEXT_MS_MAX;
    char *copy;
    struct td_str valid = valid_text(text, &copy);
    found->failed |= valid.data == NULL;
    for (size_t i = 0; i < found->rules->pattern_count; i++)
        find_pattern(found, &found->rules->patterns[i], valid, deadline_ms);
    free(copy);
}

static int by_begin(const void *a, const void *b)
{
    const struct privacy_span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

size_t privacy_rules_find(const struct privacy_rules *rules, struct td_str text,
                          struct privacy_span **spans)
{
    struct found found = {.rules = rules};
    *spans = NULL;
    if (rules == NULL || rules->rule_count == 0 || text.len == 0)
        return 0;
    find_phrases(&found, text);
    if (rules->pattern_count > 0)
        find_patterns(&found, text);
    if (found.failed) {
        struct privacy_span *whole = realloc(found.spans, sizeof *whole);
        if (whole == NULL) {
            free(found.spans);
            return SIZE_MAX;
        }
        *whole = privacy_unread(text);
        *spans = whole;
        return 1;
    }
    if (found.count > 1)
        qsort(found.spans, found.count, sizeof *found.spans, by_begin);
    *spans = found.spans;
    return found.count;
}
