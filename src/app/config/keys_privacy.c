/* Keys of what may leave the device: detectors, classes, pseudonyms and retention. */
#define HELP_OF 2
#include "app/config/keys.h"

#include "base/text/names.h"

#define FINDINGS_NAME_HELP "name of its findings: A-Z a-z 0-9 _ -"

/* --- patterns[], words[], classes[] --- */

#define AT(member) offsetof(struct config_pattern, member)
static const struct config_key pattern_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = HELP(FINDINGS_NAME_HELP)},
    {"regex", CONFIG_KEY_TEXT, AT(regex), NULL, .required = true,
     .help = HELP(
         "regular expression (PCRE2); one that needs too many steps makes the text restricted")},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), "sensitive", .choices = names_classes,
     .help = HELP("class of its findings")},
    {"score", CONFIG_KEY_NUMBER, AT(score), "0.8", 0.01, 1, .help = HELP("how sure a match is")},
};
static const struct config_section pattern_section = KEYS_LIST(pattern_keys, struct config_pattern);
#undef AT

#define AT(member) offsetof(struct config_words, member)
static const struct config_key words_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = HELP(FINDINGS_NAME_HELP)},
    {"file", CONFIG_KEY_TEXT, AT(file), NULL,
     .help = HELP("file with a word or phrase a line; # begins a comment")},
    {"list", CONFIG_KEY_TEXTS, AT(list), NULL, .max = CONFIG_WORDS_MAX,
     .help = HELP("words and phrases; case does not matter")},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), "sensitive", .choices = names_classes,
     .help = HELP("class of its findings")},
};
static const struct config_section words_section = KEYS_LIST(words_keys, struct config_words);
#undef AT

#define AT(member) offsetof(struct config_class, member)
static const struct config_key class_keys[] = {
    {"class", CONFIG_KEY_CHOICE, AT(data_class), NULL, .choices = names_classes, .required = true,
     .help = HELP("the class that this is about")},
    {"places", CONFIG_KEY_TEXTS, AT(places), NULL, 0, 4,
     .help =
         HELP("where it may go: device, premises, region, cloud; default: what the class allows")},
    {"regions", CONFIG_KEY_TEXTS, AT(regions), NULL, 0, 16,
     .help =
         HELP("regions that tiers at places region and cloud must be in; eu includes eu-west-1")},
    {"tiers", CONFIG_KEY_TEXTS, AT(tiers), NULL, 0, CONFIG_TIERS_MAX,
     .help = HELP("the only tiers that may see it, by name")},
    {"certified", CONFIG_KEY_TEXTS, AT(certified), NULL, 0, 16,
     .help = HELP("what tiers at places region and cloud must all have")},
};
static const struct config_section class_section = KEYS_LIST(class_keys, struct config_class);
#undef AT

/* --- names, pseudonyms, minimise, consents --- */

#define AT(member) offsetof(struct config, privacy.member)

static const struct config_key names_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(names.on), "true",
     .help = HELP("look for names of people, places and organisations")},
    {"file", CONFIG_KEY_TEXT, AT(names.file), NULL,
     .help = HELP("names file; default: the one beside the program")},
    {"min_score", CONFIG_KEY_NUMBER, AT(names.min_score), "0.5", 0.01, 0.99,
     .help =
         HELP("least probability of a finding; a lower one finds more names and more false ones")},
    {"class", CONFIG_KEY_CHOICE, AT(names.data_class), "public", .choices = names_classes,
     .help = HELP("class of names; sensitive keeps every text with a name near")},
};
static const struct config_section names_section = KEYS_MAP(names_keys);

static const char *const counted_choices[] = {"all", "without-names", NULL};
static const struct config_key instruction_keys[] = {
    {"system", CONFIG_KEY_CHOICE, AT(instructions.system), "all", .choices = counted_choices,
     .help = HELP("findings in system prompts that give a class: all of them, or without-names "
                  "(people, places, organisations, and streets that only the tagger sees)")},
    {"tools", CONFIG_KEY_CHOICE, AT(instructions.tools), "without-names",
     .choices = counted_choices,
     .help = HELP("the same in names, titles and descriptions of tools and their parameters")},
};
static const struct config_section instruction_section = KEYS_MAP(instruction_keys);

static const struct config_key vault_keys[] = {
    {"file", CONFIG_KEY_TEXT, AT(pseudonyms.vault_file), NULL,
     .help = HELP("keeps the vaults over a restart, encrypted; default: in memory only")},
    {"key_env", CONFIG_KEY_TEXT, AT(pseudonyms.vault_key_env), NULL,
     .help = HELP("environment variable with the key, 64 hexadecimal digits")},
    {"key_file", CONFIG_KEY_TEXT, AT(pseudonyms.vault_key_file), NULL,
     .help = HELP("file with the key, 64 hexadecimal digits")},
};
static const struct config_section vault_section = KEYS_MAP(vault_keys);

static const struct config_key pseudonym_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(pseudonyms.on), "false",
     .help =
         HELP("replace private values in texts that may not leave as they are, and put them back "
              "into answers")},
    {"classes", CONFIG_KEY_TEXTS, AT(pseudonyms.classes), NULL, 0, 8,
     .help =
         HELP("classes of values that are replaced; default: [sensitive]; values of another class "
              "keep the text near")},
    {"types", CONFIG_KEY_TEXTS, AT(pseudonyms.types), NULL, 0, 128,
     .help = HELP("types of values that are replaced whatever their class; default: [PERSON]")},
    {"strict", CONFIG_KEY_BOOL, AT(pseudonyms.strict), "false",
     .help = HELP("on every route, also replace likely names and unknown numbers")},
    {"ttl_s", CONFIG_KEY_UINT, AT(pseudonyms.ttl_s), "3600", 1, 2592000,
     .help = HELP("a conversation's vault is wiped when it was not used for this time")},
    {"conversations_max", CONFIG_KEY_UINT, AT(pseudonyms.conversations_max), "1024", 1, 100000,
     .help = HELP("most vaults in memory; the one that was unused for the longest time is wiped")},
    {"bytes_max", CONFIG_KEY_UINT, AT(pseudonyms.bytes_max), "67108864", 1048576, 4294967295,
     .help = HELP("memory of all vaults; above it the one that was unused for the longest time is "
                  "wiped")},
    {"vault", CONFIG_KEY_SECTION, 0, NULL, .section = &vault_section,
     .help = HELP("a file that keeps the vaults over a restart of the server")},
};
static const struct config_section pseudonym_section = KEYS_MAP(pseudonym_keys);

static const struct config_key minimise_keys[] = {
    {"turns", CONFIG_KEY_UINT, AT(minimise.turns), "0", 0, 1000,
     .help =
         HELP("remote tiers receive the system messages and this many last turns; 0 = everything")},
    {"relevant", CONFIG_KEY_UINT, AT(minimise.relevant), "0", 0, 1000,
     .help = HELP("and this many earlier turns that share words with the last message")},
};
static const struct config_section minimise_section = KEYS_MAP(minimise_keys);

static const struct config_key consents_keys[] = {
    {"in_requests", CONFIG_KEY_BOOL, AT(consents_in_requests), "false",
     .help = HELP("a request's body may give a consent; else only POST /tandem/v1/consents does")},
};
static const struct config_section consents_section = KEYS_MAP(consents_keys);

/* --- the section --- */

static const struct config_key privacy_keys[] = {
    {"data_class", CONFIG_KEY_CHOICE, AT(data_class), "public", .choices = names_classes,
     .help = HELP("every request has at least this class")},
    {"media_class", CONFIG_KEY_CHOICE, AT(media_class), "public", .choices = names_classes,
     .help =
         HELP("a request with images, audio or files has at least this class: no detector can look "
              "into them")},
    {"conversations_max", CONFIG_KEY_UINT, AT(conversations_max), "4096", 16, 1000000,
     .help = HELP("most conversations whose highest class is remembered; needs a restart")},
    {"zero_retention", CONFIG_KEY_BOOL, AT(zero_retention), "false",
     .help =
         HELP("no text outlives its exchange: not on disk, in memory or in a core file; needs a "
              "restart")},
    {"confine", CONFIG_KEY_BOOL, AT(confine), "true",
     .help = HELP(
         "a process that can open neither sockets nor files answers restricted requests; needs "
         "a restart")},
    {"patterns", CONFIG_KEY_SECTIONS, AT(patterns), NULL, 0, CONFIG_RULES_MAX,
     .section = &pattern_section, .help = HELP("further private data, as regular expressions"),
     .count_offset = AT(pattern_count)},
    {"words", CONFIG_KEY_SECTIONS, AT(words), NULL, 0, CONFIG_RULES_MAX, .section = &words_section,
     .help = HELP("further private data, as lists of words"), .count_offset = AT(words_count)},
    {"classes", CONFIG_KEY_SECTIONS, AT(classes), NULL, 0, 4, .section = &class_section,
     .help = HELP("who may see data of a class"), .count_offset = AT(class_count)},
    {"names", CONFIG_KEY_SECTION, 0, NULL, .section = &names_section,
     .help = HELP("names of people, places and organisations")},
    {"instructions", CONFIG_KEY_SECTION, 0, NULL, .section = &instruction_section,
     .help = HELP("what counts in system prompts and descriptions of tools")},
    {"minimise", CONFIG_KEY_SECTION, 0, NULL, .section = &minimise_section,
     .help = HELP("how much of a conversation remote tiers receive")},
    {"consents", CONFIG_KEY_SECTION, 0, NULL, .section = &consents_section,
     .help = HELP("for routes that require a consent (routes[].consent)")},
    {"pseudonyms", CONFIG_KEY_SECTION, 0, NULL, .section = &pseudonym_section,
     .help = HELP("replaces private values by made-up ones that can be put back")},
};
const struct config_section keys_privacy = KEYS_MAP(privacy_keys);
