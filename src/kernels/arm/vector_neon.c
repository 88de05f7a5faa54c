/* Element-wise operations and logit statistics with NEON: see vector_body.h. */
#include "kernels/arm/simd_neon.h"

#include "kernels/vector_body.h"
