/* What a token reads and multiplies is counted in full: matrices of each layer, and of the experts
 * those that the token uses. Speeds are those of the machine and are not tested. */
#include "engine/measure/roofline.h"

#include "architecture_model.h"
#include "test.h"

/* Operations of a token, in the layers of a model. */
static void measure(const struct spec *spec, double *ops)
{
    struct td_error err = {0};
    struct roofline roofline;
    struct td_model *model = make(spec, TD_CPU_AUTO, &err);
    const struct roofline_options options = {.decode_tokens = 4, .thread_count = 1};
    REQUIRE(model != NULL);
    REQUIRE(roofline_measure(model, &options, &roofline, &err) == TD_OK);
    *ops = roofline.ops_per_token;
    td_model_close(model);
}

static void test_a_shared_expert_counts_beside_the_experts_that_are_used(void)
{
    const double matrix = (double)TINY_FFN * TINY_WIDE;
    struct spec spec = usual_spec("granitemoe");
    double without = 0, with = 0;
    measure(&spec, &without);
    spec.shared_ffn = TINY_FFN;
    measure(&spec, &with);
    CHECK(with - without == 2 * 3 * matrix * LAYERS);
    CHECK(without > 2 * 3 * matrix * EXPERTS_USED * LAYERS);
    CHECK(without < 2 * 3 * matrix * EXPERTS * LAYERS);
}

int main(void)
{
    RUN(test_a_shared_expert_counts_beside_the_experts_that_are_used);
    return test_finish();
}
