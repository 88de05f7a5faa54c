/* A scanner owns the rules and the tagger. It is plain data behind pointers that never change, so
 * no lock is needed: a reload makes another scanner, and the old one ends with its snapshot. */
#include "privacy/scan/scanner.h"

#include "base/core/assertion.h"
#include "privacy/scan/remembered.h"

#include <stdlib.h>
#include <string.h>

struct privacy_scanner {
    struct privacy_rules *rules;
    struct tagger *tagger;
    struct name_finder names; /* by `tagger` */
    struct scan_memory *memory;
    bool guesses_aside[READING_FROM_COUNT];
};

struct privacy_scanner *privacy_scanner_new(const struct privacy_scanner_parts *parts)
{
    ASSERT(parts != NULL);
    struct privacy_scanner *scanner = malloc(sizeof *scanner);
    struct scan_memory *memory = scan_memory_new();
    if (scanner == NULL || memory == NULL) {
        free(scanner);
        scan_memory_free(memory);
        privacy_rules_free(parts->rules);
        tagger_close(parts->tagger);
        return NULL;
    }
    *scanner = (struct privacy_scanner){
        .rules = parts->rules,
        .tagger = parts->tagger,
        .names = {parts->tagger, parts->name_min_score, parts->name_class},
        .memory = memory,
    };
    memcpy(scanner->guesses_aside, parts->guesses_aside, sizeof scanner->guesses_aside);
    return scanner;
}

void privacy_scanner_free(struct privacy_scanner *scanner)
{
    if (scanner == NULL)
        return;
    privacy_rules_free(scanner->rules);
    tagger_close(scanner->tagger);
    scan_memory_free(scanner->memory);
    free(scanner);
}

const struct privacy_rules *privacy_scanner_rules(const struct privacy_scanner *scanner)
{
    ASSERT(scanner != NULL);
    return scanner->rules;
}

struct scan_memory *privacy_scanner_memory(const struct privacy_scanner *scanner)
{
    ASSERT(scanner != NULL);
    return scanner->memory;
}

const struct name_finder *privacy_scanner_names(const struct privacy_scanner *scanner)
{
    ASSERT(scanner != NULL);
    return &scanner->names;
}

bool privacy_scanner_sets_aside(const struct privacy_scanner *scanner, enum reading_from from)
{
    return from < READING_FROM_COUNT && scanner->guesses_aside[from];
}
