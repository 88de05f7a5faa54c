/* Questions that ask for several things at once: "extract the date and the amount", "classify the
 * intent and the sentiment", "find all e-mails". A small model that learned to give one value gives
 * one, and is sure of it. Pure; any thread. */
#ifndef INSTANT_SEVERAL_H
#define INSTANT_SEVERAL_H

#include "base/core/str.h"

enum asked { ASKED_NOTHING, ASKED_ONE, ASKED_SEVERAL };

/* What a message, or a system prompt, asks of a text. It need not be UTF-8. ASKED_ONE where it
 * speaks of JSON: of that a model has learned to fill several members. */
enum asked several_asked(struct td_str text);

/* Whether it speaks of JSON. */
bool several_in_json(struct td_str text);

#endif
