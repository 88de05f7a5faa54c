#include "base/core/assertion.h"

#include <stdio.h>
#include <stdlib.h>

void assertion_failed(const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: a bug in Tandem or in the program that calls it\n",
            file, line);
    abort();
}
