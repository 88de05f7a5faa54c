/* "Extract the e-mail address: ...", "all emails in this text". */
#ifndef INSTANT_EMAILS_H
#define INSTANT_EMAILS_H

#include "base/bytes/buf.h"
#include "base/core/str.h"

/* Appends the one address of the text that the question holds, or all where it asks for all, with
 * ", " between them. False where it asks for something else, or where an @ is of no address. */
bool emails_answer(struct td_str question, struct buf *out);

#endif
