#define MATMUL_PLAIN matmul_plain_avx2
#include "kernels/matmul_plain_body.h"
