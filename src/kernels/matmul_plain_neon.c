#define MATMUL_PLAIN matmul_plain_neon
#include "kernels/matmul_plain_body.h"
