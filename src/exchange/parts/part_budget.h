/* What other parts ask of an exchange's budgets before they spend more than its plan says. */
#ifndef EXCHANGE_PART_BUDGET_H
#define EXCHANGE_PART_BUDGET_H

#include "exchange/machine/part.h"
#include "router/plan/policy.h"

extern const struct exchange_part part_budget;

/* What one answer of the tier may come to cost. */
double part_budget_answer_usd(const struct exchange *exchange, size_t tier);
/* Do the budgets have that much left, in addition to what was promised already? */
bool part_budget_has_room(const struct exchange *exchange, double usd);
void part_budget_promise(struct exchange *exchange, double usd);
/* Their entries in limits/spending.h; 0 = the exchange does not draw from that one. */
void part_budget_keys(const struct exchange *exchange, uint64_t out[static BUDGETS_MAX]);

#endif
