#include "app/cli/interrupt.h"

#include <signal.h>
#include <stdbool.h>

atomic_bool interrupted;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
