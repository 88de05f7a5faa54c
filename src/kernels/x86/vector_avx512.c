/* Element-wise operations and logit statistics with AVX-512: see vector_body.h. */
#include "kernels/x86/simd_avx512.h"

#include "kernels/vector_body.h"
