#include "tier/limits.h"

#include <string.h>

/* --- a minute --- */

static void turn(struct minute *minute, uint64_t now_ms)
{
    uint64_t second = now_ms / 1000;
    if (second >= minute->second + MINUTE_SECONDS) {
        memset(minute->of, 0, sizeof minute->of);
        minute->sum = 0;
        minute->second = second;
    }
    while (minute->second < second) {
        uint32_t *oldest = &minute->of[++minute->second % MINUTE_SECONDS];
        minute->sum -= *oldest;
        *oldest = 0;
    }
}

void minute_add(struct minute *minute, uint32_t count, uint64_t now_ms)
{
    turn(minute, now_ms);
    uint32_t *of = &minute->of[minute->second % MINUTE_SECONDS];
    uint32_t room = UINT32_MAX - *of;
    uint32_t added = count < room ? count : room;
    *of += added;
    minute->sum += added;
}

void minute_take(struct minute *minute, uint32_t count, uint64_t since_ms, uint64_t now_ms)
{
    turn(minute, now_ms);
    uint64_t second = since_ms / 1000;
    if (second > minute->second || minute->second - second >= MINUTE_SECONDS)
        return;
    uint32_t *of = &minute->of[second % MINUTE_SECONDS];
    uint32_t taken = count < *of ? count : *of;
    *of -= taken;
    minute->sum -= taken;
}

uint32_t minute_wait_ms(struct minute *minute, uint32_t limit, uint64_t now_ms)
{
    turn(minute, now_ms);
    uint64_t left = minute->sum;
    uint32_t seconds = 0;
    while (limit > 0 && left >= limit)
        left -= minute->of[(minute->second + ++seconds) % MINUTE_SECONDS];
    return seconds ? seconds * 1000 - (uint32_t)(now_ms % 1000) : 0;
}

/* --- retries --- */

/* The share: with the first one and those that quiet minutes add, the calls stay under 1.1 times
 * the requests from the fiftieth request on. */
#define PAID_BY_REQUEST 0.08
#define SAVED_MAX 10.0
/* A quiet time restores one retry, after a minute, and saves up no more. */
#define SAVED_BY_REST 1.0
#define RESTORED_IN_MS 60000.0

void retry_budget_init(struct retry_budget *budget, uint64_t now_ms)
{
    *budget = (struct retry_budget){.saved = SAVED_BY_REST, .touched_ms = now_ms};
}

void retry_budget_pay(struct retry_budget *budget)
{
    if ((budget->saved += PAID_BY_REQUEST) > SAVED_MAX)
        budget->saved = SAVED_MAX;
}

bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms)
{
    if (budget->saved < SAVED_BY_REST) {
        if (now_ms > budget->touched_ms)
            budget->saved += (double)(now_ms - budget->touched_ms) / RESTORED_IN_MS;
        if (budget->saved > SAVED_BY_REST)
            budget->saved = SAVED_BY_REST;
    }
    budget->touched_ms = now_ms;
    if (budget->saved < 1 - 1e-9) /* a sum of shares may fall short by its rounding */
        return false;
    budget->saved -= 1;
    return true;
}
