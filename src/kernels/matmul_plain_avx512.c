#define MATMUL_PLAIN matmul_plain_avx512
#include "kernels/matmul_plain_body.h"
