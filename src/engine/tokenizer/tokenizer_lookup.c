/* The hash tables of a vocabulary, and the alphabet of byte-level vocabularies. A slot has 64 bits
 * and no pointer. It holds the value, and enough bits of the hash that equal bits nearly always
 * mean equal texts. Texts are compared only then. */
#include "engine/tokenizer/tokenizer_internal.h"

#include "base/core/assertion.h"

#include <stdlib.h>

#define PROBES_MAX 1024 /* at two thirds load, honest tables stay far below */

/* --- the byte-level alphabet --- */

/* GPT-2's encoder.py, bytes_to_unicode(): printable Latin-1 is written as it is; the other 68 bytes
 * are written, in order, as U+0100 and up. */

static bool byte_is_printable(unsigned byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

static unsigned byte_to_code_point(unsigned byte)
{
    if (byte_is_printable(byte))
        return byte;
    if (byte <= 0x20)
        return 0x100 + byte;
    if (byte <= 0xA0)
        return 0x100 + 0x21 + (byte - 0x7F);
    return 0x100 + 0x21 + 0x22; /* 0xAD */
}

int byte_level_decode(uint32_t code_point)
{
    if (code_point < 0x100)
        return byte_is_printable(code_point) ? (int)code_point : -1;
    uint32_t index = code_point - 0x100;
    return index < 0x21    ? (int)index
           : index < 0x43  ? (int)(index - 0x21 + 0x7F)
           : index == 0x43 ? 0xAD
                           : -1;
}

size_t byte_level_encode(unsigned char byte, char out[static 2])
{
    unsigned code_point = byte_to_code_point(byte);
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    out[0] = (char)(0xC0 | code_point >> 6);
    out[1] = (char)(0x80 | (code_point & 0x3F));
    return 2;
}

/* --- hash tables --- */

bool slot_table_init(struct slot_table *table, uint64_t entries)
{
    ASSERT(entries <= UINT32_MAX / 4);
    uint32_t capacity = 64;
    while (capacity < entries + entries / 2)
        capacity *= 2;
    table->slots = calloc(capacity, sizeof(*table->slots));
    table->mask = capacity - 1;
    return table->slots != NULL;
}

/* A slot of `ids`: upper 32 bits of the mixed hash | id + 1. */
int32_t tokenizer_find_hashed(const struct tokenizer *tokenizer, const char *text, size_t len,
                              uint64_t hash)
{
    uint64_t mixed = hash_mix64(hash);
    for (uint32_t i = (uint32_t)mixed;; i++) {
        uint64_t slot = tokenizer->ids.slots[i & tokenizer->ids.mask];
        if (slot == 0)
            return -1;
        if (slot >> 32 != mixed >> 32)
            continue;
        uint32_t id = (uint32_t)slot - 1;
        const struct token *token = &tokenizer->tokens[id];
        if (token->len == len && memcmp(token->text, text, len) == 0)
            return (int32_t)id;
    }
}

int32_t tokenizer_find_plain(const struct tokenizer *tokenizer, const char *text, size_t len,
                             uint64_t hash)
{
    int32_t id = tokenizer_find_hashed(tokenizer, text, len, hash);
    if (id < 0)
        return -1;
    uint8_t type = tokenizer->tokens[id].type;
    return type == TOKEN_CONTROL || type == TOKEN_UNKNOWN || type == TOKEN_BYTE ? -1 : id;
}

bool tokenizer_insert_token(struct tokenizer *tokenizer, uint32_t id)
{
    ASSERT(id < tokenizer->count);
    const struct token *token = &tokenizer->tokens[id];
    uint64_t mixed = hash_mix64(text_hash(token->text, token->len, HASH_FNV1A64_BASIS));
    uint64_t slot = mixed >> 32 << 32 | (id + 1);
    for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
        uint64_t *at = &tokenizer->ids.slots[((uint32_t)mixed + probe) & tokenizer->ids.mask];
        if (*at != 0 && *at >> 32 == mixed >> 32) {
            const struct token *other = &tokenizer->tokens[(uint32_t)*at - 1];
            if (other->len != token->len || memcmp(other->text, token->text, token->len) != 0)
                continue;
        } else if (*at != 0) {
            continue;
        }
        *at = slot;
        return true;
    }
    return false;
}

/* A slot of `merge_offsets`: upper 20 bits of the mixed hash | 12 bits length | offset + 1. */
static uint32_t merge_tag(uint64_t mixed, size_t len)
{
    return (uint32_t)(mixed >> 44) << 12 | (uint32_t)len;
}

uint32_t tokenizer_merge_rank(const struct tokenizer *tokenizer, struct td_str left,
                              uint64_t left_hash, struct td_str right)
{
    size_t len = left.len + 1 + right.len;
    if (len > tokenizer->merge_len_max)
        return MERGE_NONE;
    uint64_t mixed = hash_mix64(text_hash(right.data, right.len, text_hash(" ", 1, left_hash)));
    uint32_t tag = merge_tag(mixed, len);
    for (uint32_t i = (uint32_t)mixed;; i++) {
        uint64_t slot = tokenizer->merge_offsets.slots[i & tokenizer->merge_offsets.mask];
        if (slot == 0)
            return MERGE_NONE;
        if ((uint32_t)(slot >> 32) != tag)
            continue;
        uint32_t offset = (uint32_t)slot - 1;
        const char *text = tokenizer->merges + offset;
        if (memcmp(text, left.data, left.len) == 0 && text[left.len] == ' ' &&
            memcmp(text + left.len + 1, right.data, right.len) == 0)
            return offset;
    }
}

bool tokenizer_insert_merge(struct tokenizer *tokenizer, struct td_str merge, uint32_t offset)
{
    ASSERT(merge.len < 1u << 12);
    uint64_t mixed = hash_mix64(text_hash(merge.data, merge.len, HASH_FNV1A64_BASIS));
    uint32_t tag = merge_tag(mixed, merge.len);
    for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
        uint32_t index = ((uint32_t)mixed + probe) & tokenizer->merge_offsets.mask;
        uint64_t *at = &tokenizer->merge_offsets.slots[index];
        if (*at == 0) {
            *at = (uint64_t)tag << 32 | (offset + 1);
            return true;
        }
        if (*at >> 32 == tag &&
            memcmp(tokenizer->merges + (uint32_t)*at - 1, merge.data, merge.len) == 0)
            return true;
    }
    return false;
}
