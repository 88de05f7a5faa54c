/* AWS Signature Version 4 (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html): a
 * request is shown to come from whoever has the secret, without the secret. Pure but for the
 * request; any thread. */
#ifndef TIER_AWS_SIGN_H
#define TIER_AWS_SIGN_H

#include "base/bytes/buf.h"
#include "tier/servers.h"

/* Credentials as one text, to be kept as one secret: id, secret and token, a line each. token may
 * be empty. */
void aws_credentials_pack(struct td_str id, struct td_str secret, struct td_str token,
                          struct buf *out);

struct aws_credentials {
    struct td_str id, secret, token;
};
/* False when the text has not that form. **borrows** */
bool aws_credentials_unpack(struct td_str text, struct aws_credentials *out);

struct aws_request {
    struct td_str method, host, path, query; /* path as it is sent, "" counts as "/" */
    struct td_str body;
    struct td_str region, service;
    char when[17]; /* "20150830T123600Z" */
};

#define AWS_SIGNATURE_HEX 65
/* The signature over host, x-amz-date and, with a token, x-amz-security-token. */
void aws_sign(const struct aws_credentials *credentials, const struct aws_request *request,
              char out[static AWS_SIGNATURE_HEX]);

/* As tier_server.sign, for Bedrock. A key without line breaks is one of Bedrock's own API keys and
 * goes along as a bearer token. */
size_t aws_sign_bedrock(const struct server_signing *signing, struct buf *out);

#endif
