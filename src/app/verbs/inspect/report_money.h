/* What `tandem report` says of money, and the prices that it rests on. */
#ifndef APP_REPORT_MONEY_H
#define APP_REPORT_MONEY_H

struct config;
struct json;

/* Adds prices and the tier that stands for the cloud alone: the ledger does not know them. */
void report_money_add_prices(struct json *report, const struct config *config);
void report_money_print(const struct json *report);

#endif
