/* Element-wise operations and logit statistics with AVX2: see vector_body.h. */
#include "kernels/x86/simd_avx2.h"

#include "kernels/vector_body.h"
