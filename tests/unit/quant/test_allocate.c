/* A bit width for each tensor: what a tensor costs must show when it is rounded, in models of every
 * architecture. What comes of the choice is for tests/e2e/test_quantize.py. */
#include "quant/quantize/allocate.h"

#include "../engine/architecture_model.h"
#include "test.h"

enum { IDS = 12 };

/* Tensors for which types can be chosen, and those of them whose rounding seems to cost nothing. */
struct counts {
    size_t chosen, free;
};

static void count_items(const struct allocation *allocation, const struct quantize_plan *plan,
                        struct counts *counts)
{
    for (size_t i = 0; i < allocation->item_count; i++) {
        const struct allocate_item *item = &allocation->items[i];
        bool is_free = item->type_count && !(item->kld[0] > 0);
        counts->chosen += item->type_count != 0;
        counts->free += is_free;
        if (is_free)
            fprintf(stderr, STR_FMT " costs %g\n", STR_ARG(plan->items[i].tensor->name),
                    item->kld[0]);
    }
}

static void measure(const struct spec *spec, struct counts *counts)
{
    struct td_error err = {0};
    struct td_model *model = make(spec, TD_CPU_AUTO, &err);
    struct quantize_plan plan;
    struct divergence *divergence = NULL;
    struct allocation allocation;
    int32_t ids[IDS];
    const int32_t *const texts[] = {ids};
    const size_t text_counts[] = {IDS};
    REQUIRE(model != NULL);
    for (int i = 0; i < IDS; i++)
        ids[i] = 7 * i % TINY_VOCAB;
    const struct divergence_options options = {.thread_count = 1,
                                               .reference = model,
                                               .texts = texts,
                                               .counts = text_counts,
                                               .text_count = 1,
                                               .kv_type = TD_KV_F32};
    REQUIRE(divergence_new(&options, &divergence, &err) == TD_OK);
    REQUIRE(quantize_plan_init(&plan, model->gguf, mix_find(STR("Q4_K_M")), NULL, &err) == TD_OK);
    REQUIRE(allocate_measure(&allocation, &plan, model, divergence, NULL, NULL, NULL, &err) ==
            TD_OK);
    count_items(&allocation, &plan, counts);
    allocation_deinit(&allocation);
    quantize_plan_deinit(&plan);
    divergence_free(divergence);
    td_model_close(model);
}

static void test_no_tensor_of_any_architecture_seems_to_cost_nothing(void)
{
    for (size_t n = 0; n < ARCHITECTURES; n++) {
        const struct spec spec = usual_spec(architecture_names[n]);
        struct counts counts = {0, 0};
        measure(&spec, &counts);
        if (counts.free)
            fprintf(stderr, "%s: %zu of %zu\n", architecture_names[n], counts.free, counts.chosen);
        CHECK(counts.chosen > LAYERS);
        CHECK(counts.free == 0);
    }
}

static void test_a_shared_expert_does_not_seem_to_cost_nothing(void)
{
    struct spec spec = usual_spec("granitemoe");
    struct counts without = {0, 0}, counts = {0, 0};
    measure(&spec, &without);
    spec.shared_ffn = TINY_FFN;
    measure(&spec, &counts);
    CHECK(counts.chosen == without.chosen + 3 * LAYERS);
    CHECK(counts.free == 0);
}

int main(void)
{
    RUN(test_no_tensor_of_any_architecture_seems_to_cost_nothing);
    RUN(test_a_shared_expert_does_not_seem_to_cost_nothing);
    return test_finish();
}
