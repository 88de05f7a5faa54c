/* Credentials of AWS where its own clients look for them: the environment, then the file of
 * profiles. What runs on a machine of AWS and asks it for a role is not read. */
#ifndef APP_AWS_CREDENTIALS_H
#define APP_AWS_CREDENTIALS_H

#include "base/crypto/secret.h"

/* file NULL: AWS_BEARER_TOKEN_BEDROCK, else AWS_ACCESS_KEY_ID with its secret and token, else the
 * profile AWS_PROFILE or "default" of AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. *out is
 * packed (tier/clouds/aws_sign.h), or NULL when there are none. **returns new** (secret_free) */
TD_MUST_CHECK enum td_status aws_credentials_read(const char *file, struct secret **out,
                                                  struct td_error *err);

#endif
