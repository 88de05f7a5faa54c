/* What kind of data a request holds, before any of it leaves (tier/door.h). Pure functions; any
 * thread. */
#ifndef EXCHANGE_CLASSIFY_H
#define EXCHANGE_CLASSIFY_H

#include "privacy/scan/tally.h"
#include "privacy/text/reading.h"
#include "request/request.h"

/* Appends everything of the request that a tier may be sent to one reading: the conversation, then
 * every other key, string and number of its members, each after its member's name. The parts'
 * sources are the texts of the messages and members. Without memory, or nested too deeply, the
 * reading has failed. */
void classify_read(const struct td_request *request, struct reading *reading);

struct privacy_scanner;
/* The highest class that the scanner finds in it; restricted without a scanner. Findings are added
 * to found. */
enum td_data_class classify_request(const struct privacy_scanner *scanner,
                                    const struct td_request *request, struct privacy_tally *found);

/* The one of two classes that protects more. */
enum td_data_class classify_higher(enum td_data_class a, enum td_data_class b);

#endif
