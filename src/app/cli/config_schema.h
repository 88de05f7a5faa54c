/* The configuration's keys as a JSON Schema, which editors use to complete and check a file. */
#ifndef APP_CONFIG_SCHEMA_H
#define APP_CONFIG_SCHEMA_H

struct json;

/* Draft 2020-12. **returns new** (json_free); NULL when memory is short. */
struct json *config_schema_new(void);

#endif
