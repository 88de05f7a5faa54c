/* What a server remembers of model files, in models.json of its state folder: which are in
 * quarantine, and which one last worked for each local tier. No file of the user's is moved or
 * deleted. A quarantine holds for a file of the same size and time of change, and for this version
 * of the program: a repaired file or a newer program is tried again. One thread at a time. */
#ifndef APP_MODEL_RECORD_H
#define APP_MODEL_RECORD_H

#include "tandem/types.h"

/* folder: the state folder. False when the file is not in quarantine; why: the reason of then. */
bool model_record_is_quarantined(const char *folder, const char *path,
                                 char why[static TD_ERROR_BYTES]);
void model_record_quarantine(const char *folder, const char *path, const char *why);

/* The file that last worked for the tier; false when none is known. */
bool model_record_find_good(const char *folder, const char *tier, char *out, size_t size);
/* The file works: it leaves quarantine, and its failures are forgotten. */
void model_record_set_good(const char *folder, const char *tier, const char *path);

/* How often a file could not be opened here for another reason than itself, such as memory: counted
 * for this hardware, until it works or changes. From the second time on it is logged and doctor
 * says it. */
#define MODEL_FAILURES_SAID 2
#define MODEL_HARDWARE_BYTES 96
void model_record_hardware(char out[static MODEL_HARDWARE_BYTES]); /* "avx2, 4 cores, 16 GB" */
void model_record_failure(const char *folder, const char *path, const char *why);
/* 0 = never; why: the reason of the last time. */
uint32_t model_record_failures(const char *folder, const char *path,
                               char why[static TD_ERROR_BYTES]);

#endif
