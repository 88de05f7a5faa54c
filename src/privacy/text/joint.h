/* What stands between two groups of a number that somebody writes in an unusual way: signs, line
 * ends, a tag of HTML. Pure; any thread. */
#ifndef PRIVACY_JOINT_H
#define PRIVACY_JOINT_H

#include "tandem/types.h"

/* The offset of the letter or digit after the joint at the offset; 0: none stands there, or no
 * letter or digit follows soon. */
size_t joint_end(struct td_str text, size_t offset);

#endif
