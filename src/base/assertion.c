#include "base/assertion.h"

#include <stdio.h>
#include <stdlib.h>

void assertion_failed(const char *file, int line)
{
    fprintf(stderr, "%s:%d: a condition that must hold does not: this is a bug of Tandem\n", file,
            line);
    abort();
}
