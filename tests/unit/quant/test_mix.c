/* Which tensor gets which type. The expected maps are those of llama.cpp's quantiser. */
#include "quant/encode/mix.h"

#include "base/core/str.h"
#include "test.h"

static enum tensor_type type_of(const char *mix, const struct mix_model *model, const char *name)
{
    return mix_type(mix_find(str_from(mix)), model, str_from(name));
}

static void test_q4_k_m_spares_the_first_the_last_and_every_third_layer(void)
{
    const struct mix_model model = {.layer_count = 16, .group = 4};
    static const bool more[16] = {true,  true,  false, false, true,  false, false, true,
                                  false, false, true,  false, false, true,  true,  true};
    for (unsigned layer = 0; layer < 16; layer++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%u.ffn_down.weight", layer);
        CHECK(type_of("Q4_K_M", &model, name) == (more[layer] ? TENSOR_Q6_K : TENSOR_Q4_K));
        snprintf(name, sizeof name, "blk.%u.attn_v.weight", layer);
        CHECK(type_of("Q4_K_M", &model, name) == (more[layer] ? TENSOR_Q6_K : TENSOR_Q4_K));
        snprintf(name, sizeof name, "blk.%u.attn_q.weight", layer);
        CHECK(type_of("Q4_K_M", &model, name) == TENSOR_Q4_K);
    }
}

static void test_the_last_matrix_gets_more_bits(void)
{
    struct mix_model model = {.layer_count = 16, .tied = false};
    CHECK(type_of("Q4_K_S", &model, "output.weight") == TENSOR_Q6_K);
    CHECK(type_of("Q4_K_S", &model, "token_embd.weight") == TENSOR_Q4_K);
    model.tied = true;
    CHECK(type_of("Q4_K_S", &model, "token_embd.weight") == TENSOR_Q6_K);
    CHECK(type_of("Q8_0", &model, "token_embd.weight") == TENSOR_Q8_0);
    CHECK(type_of("F16", &model, "output.weight") == TENSOR_F16);
}

static void test_names_are_taken_in_any_case_and_short(void)
{
    CHECK(mix_find(STR("q4_k_m")) == mix_find(STR("Q4_K")));
    CHECK(mix_find(STR("Q9_Z")) == NULL && mix_find(STR("")) == NULL);
}

static void test_every_mix_of_the_list_is_found(void)
{
    struct td_str rest = str_from(mix_list()), part;
    size_t count = 0;
    while (str_next(&rest, ',', &part)) {
        CHECK(mix_find(str_trim(part)) != NULL);
        count++;
    }
    CHECK(count == 20);
}

static void test_vectors_norms_and_routers_stay_as_they_are(void)
{
    const uint64_t matrix[4] = {64, 64, 1, 1}, vector[4] = {64, 1, 1, 1};
    CHECK(!mix_keeps(STR("blk.0.attn_q.weight"), matrix));
    CHECK(mix_keeps(STR("blk.0.attn_norm.weight"), vector));
    CHECK(mix_keeps(STR("blk.0.ffn_gate_inp.weight"), matrix));
    CHECK(mix_keeps(STR("blk.0.attn_q.bias"), vector));
    CHECK(mix_keeps(STR("rope_freqs.weight"), vector));
    CHECK(mix_keeps(STR("position_embd.weight"), matrix));
}

static void test_rows_that_are_no_whole_blocks_fall_back(void)
{
    CHECK(mix_fit(TENSOR_Q4_K, 512) == TENSOR_Q4_K);
    CHECK(mix_fit(TENSOR_Q4_K, 64) == TENSOR_Q5_0);
    CHECK(mix_fit(TENSOR_Q5_K, 64) == TENSOR_Q5_1);
    CHECK(mix_fit(TENSOR_Q6_K, 64) == TENSOR_Q8_0);
    CHECK(mix_fit(TENSOR_IQ4_XS, 96) == TENSOR_IQ4_NL);
    CHECK(mix_fit(TENSOR_Q2_K, 32) == TENSOR_Q4_0);
    CHECK(mix_fit(TENSOR_Q4_0, 172) == TENSOR_F16);
    CHECK(mix_fit(TENSOR_F32, 7) == TENSOR_F32);
}

int main(void)
{
    RUN(test_q4_k_m_spares_the_first_the_last_and_every_third_layer);
    RUN(test_the_last_matrix_gets_more_bits);
    RUN(test_names_are_taken_in_any_case_and_short);
    RUN(test_every_mix_of_the_list_is_found);
    RUN(test_vectors_norms_and_routers_stay_as_they_are);
    RUN(test_rows_that_are_no_whole_blocks_fall_back);
    return test_finish();
}
