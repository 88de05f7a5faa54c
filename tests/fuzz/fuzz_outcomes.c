/* Tables of outcomes and amounts with units: any bytes are refused with words, or become numbers
 * that are in range; a table also becomes a front and its picture. */
#include "app/cli/quantity.h"
#include "app/evidence/front_svg.h"
#include "router/learn/pareto.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(struct td_str text)
{
    static struct pareto pareto;
    struct outcomes outcomes;
    struct td_error err = {0};
    enum td_status status = outcomes_read(text, &outcomes, &err);
    if (status != TD_OK && !*err.message)
        abort();
    if (status == TD_OK && pareto_find(&outcomes, &pareto, &err) == TD_OK) {
        struct buf picture;
        buf_init(&picture, 1u << 20);
        for (size_t i = 0; i < pareto.count; i++)
            if (!(pareto.plans[i].right >= -1e-9 && pareto.plans[i].right <= 1 + 1e-9))
                abort();
        front_svg_write(&pareto, &picture);
        if (picture.failed)
            abort();
        buf_deinit(&picture);
    }
    outcomes_deinit(&outcomes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str text = {(const char *)data, size};
    if (size > 0 && data[0] == '{') {
        read_table(text);
        return 0;
    }
    for (int kind = 0; kind < QUANTITY_COUNT_KINDS; kind++) {
        double value = -1;
        struct td_error err = {0};
        enum td_status status = quantity_read(text, (enum quantity_kind)kind, &value, &err);
        if (status == TD_OK ? !(value >= 0 && isfinite(value)) : !*err.message)
            abort();
    }
    return 0;
}
