/* What is private in a text, and what that forbids. One pass, exact byte spans, checksums where the
 * kind has one. No allocation beyond the caller's array; any thread. */
#ifndef PRIVACY_PRIVACY_H
#define PRIVACY_PRIVACY_H

#include "tandem/types.h"

enum privacy_kind {
    PRIVACY_EMAIL,
    PRIVACY_PHONE,
    PRIVACY_CARD,
    PRIVACY_IBAN,
    PRIVACY_US_SSN,
    PRIVACY_IP,
    PRIVACY_API_KEY,
    PRIVACY_PRIVATE_KEY,
    PRIVACY_KIND_COUNT
};

struct privacy_span {
    enum privacy_kind kind;
    size_t begin, end; /* bytes */
    float score;       /* 0..1 */
};

/* Presidio's name where it has one: EMAIL_ADDRESS, PHONE_NUMBER, CREDIT_CARD, IBAN_CODE, US_SSN,
 * IP_ADDRESS, and API_KEY, PRIVATE_KEY. */
const char *privacy_kind_name(enum privacy_kind kind);
/* The class that one finding of this kind gives: card, IBAN, SSN, keys -> restricted; e-mail,
 * phone, IP -> sensitive. */
enum td_data_class privacy_kind_class(enum privacy_kind kind);

/* Finds spans in `text`, in order, not overlapping. Returns how many there are; writes the first
 * `capacity`. */
size_t privacy_scan(struct td_str text, struct privacy_span *spans, size_t capacity);

/* Class of a whole text: the highest of its findings. counts (may be NULL): findings by kind, added
 * to. */
enum td_data_class privacy_classify(struct td_str text, uint32_t counts[PRIVACY_KIND_COUNT]);

/* The one rule: may data of this class be sent to this place? Restricted: device only. Sensitive:
 * device, and premises (a later version sends pseudonyms further). Public: anywhere. */
bool privacy_may_reach(enum td_data_class data_class, enum td_place place);

/* Remembers, per conversation, the highest class seen, so that a class only rises. Keyed by a hash
 * of the conversation's first messages; bounded, least recently used entries leave. Thread-safe. */
struct conversation_classes;
struct conversation_classes *conversation_classes_new(size_t capacity);
void conversation_classes_free(struct conversation_classes *classes);
/* Raises the stored class to `seen` and returns the stored one. */
enum td_data_class conversation_classes_raise(struct conversation_classes *classes, uint64_t key,
                                              enum td_data_class seen);

#endif
