/* Element-wise operations, attention and logit statistics with NEON: see vector_body.h. And the
 * second table of this instruction set, which differs in the product alone. */
#include "kernels/simd_neon.h"

#include "kernels/vector_body.h"

const struct kernels kernels_dotprod = KERNELS_TABLE("neon-dotprod", matmul_dotprod);
