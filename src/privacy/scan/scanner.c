/* A scanner owns the rules and the tagger. It is plain data behind pointers that never change, so
 * no lock is needed: a reload makes another scanner, and the old one ends with its snapshot. */
#include "privacy/scan/scanner.h"

#include <assert.h>
#include <stdlib.h>

struct privacy_scanner {
    struct privacy_rules *rules;
    struct tagger *tagger;
    struct name_finder names; /* by `tagger` */
};

struct privacy_scanner *privacy_scanner_new(const struct privacy_scanner_parts *parts)
{
    assert(parts != NULL);
    struct privacy_scanner *scanner = malloc(sizeof *scanner);
    if (scanner == NULL) {
        privacy_rules_free(parts->rules);
        tagger_close(parts->tagger);
        return NULL;
    }
    *scanner = (struct privacy_scanner){
        .rules = parts->rules,
        .tagger = parts->tagger,
        .names = {parts->tagger, parts->name_min_score, parts->name_class},
    };
    return scanner;
}

void privacy_scanner_free(struct privacy_scanner *scanner)
{
    if (scanner == NULL)
        return;
    privacy_rules_free(scanner->rules);
    tagger_close(scanner->tagger);
    free(scanner);
}

const struct privacy_rules *privacy_scanner_rules(const struct privacy_scanner *scanner)
{
    assert(scanner != NULL);
    return scanner->rules;
}

const struct name_finder *privacy_scanner_names(const struct privacy_scanner *scanner)
{
    assert(scanner != NULL);
    return &scanner->names;
}
