/* tandem report --by: a line for each application, user, route, model or day. One thread. */
#ifndef APP_REPORT_GROUPS_H
#define APP_REPORT_GROUPS_H

struct json;

/* In 80 columns. */
void report_groups_print(const struct json *report, const char *since);
/* As RFC 4180 has it. */
void report_groups_print_csv(const struct json *report);

#endif
