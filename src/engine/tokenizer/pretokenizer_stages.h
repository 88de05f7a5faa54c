/* Stages of the newer vocabularies, for the table in pretokenizer.c: they tell where the piece that
 * begins at `begin` ends. The expressions stand beside the functions. Pure; any thread. */
#ifndef ENGINE_PRETOKENIZER_STAGES_H
#define ENGINE_PRETOKENIZER_STAGES_H

#include "tandem/types.h"

size_t stage_bloom(struct td_str text, size_t begin);
size_t stage_deepseek_v3(struct td_str text, size_t begin);
size_t stage_gpt4o(struct td_str text, size_t begin);
size_t stage_kana_and_ideographs(struct td_str text, size_t begin);
size_t stage_kimi(struct td_str text, size_t begin);
size_t stage_qwen35(struct td_str text, size_t begin);
size_t stage_seed_coder(struct td_str text, size_t begin);
size_t stage_spaced_letters(struct td_str text, size_t begin);
size_t stage_spaced_punctuation(struct td_str text, size_t begin);
size_t stage_tekken(struct td_str text, size_t begin);
size_t stage_thousands(struct td_str text, size_t begin);
size_t stage_three_numbers(struct td_str text, size_t begin);

#endif
