/* One function for each kind of value whose surrogate is more than a random text of the same shape.
 * surrogate.c calls them through its table of kinds. Each appends a surrogate, or returns false and
 * leaves *out as it was when the value does not have the form of its kind. Pure; any thread. */
#ifndef PRIVACY_SURROGATE_WRITERS_H
#define PRIVACY_SURROGATE_WRITERS_H

#include "privacy/pseudonym/draw.h"
#include "privacy/pseudonym/surrogate.h"

typedef bool surrogate_writer(const struct surrogate_request *request, struct draw *draw,
                              struct buf *out);

/* surrogate_net.c */
surrogate_writer surrogate_write_email, surrogate_write_domain, surrogate_write_ip,
    surrogate_write_mac;
/* surrogate_phone.c, surrogate_date.c */
surrogate_writer surrogate_write_phone, surrogate_write_date;
/* surrogate_number.c */
surrogate_writer surrogate_write_card, surrogate_write_iban, surrogate_write_ssn;
/* surrogate_secret.c */
surrogate_writer surrogate_write_api_key, surrogate_write_private_key;

/* A digit for each digit and a letter of the same case for each letter; the rest stays. */
void surrogate_write_shape(struct td_str value, struct draw *draw, struct buf *out);
/* The same, but the first `kept` bytes stay. */
void surrogate_write_shape_after(struct td_str value, size_t kept, struct draw *draw,
                                 struct buf *out);

#endif
