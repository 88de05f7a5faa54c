/* Spellings of images and recordings that peers accept, made into OpenAI's, which servers elsewhere
 * understand: `image_url` as a text, a picture in plain base64, a recording without its format.
 * What is wrong is left as it is, for media_parts.h to refuse. No state; any thread. */
#ifndef API_MEDIA_FORMS_H
#define API_MEDIA_FORMS_H

#include "base/json/json.h"

/* Of the messages of a chat. Without memory a part stays as it was. */
void media_forms_settle(struct json *body);
/* The kind of picture that begins so in base64: "png", "jpeg", "gif", "webp"; NULL = none that
 * models take. */
const char *media_forms_picture(struct td_str base64);

#endif
