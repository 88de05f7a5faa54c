/* Reads documents on the device for somebody who may not see them: finds the passages that a
 * job's words stand in, or abstains. No model is asked, so it reads a megabyte in some
 * milliseconds, also where the device is hot, and it cannot make anything up: whatever it gives
 * stands in the text.
 *
 * A passage is a sentence or a line. A word counts by its first five letters, so that
 * "terminated" finds "termination" (truncation is as good as a stemmer in most languages of
 * Europe: McNamee and Mayfield 2004, "Character n-gram tokenization for European language text
 * retrieval"), and by how rare it is:
 *
 *   score(passage) = Σ ln(1 + N / n(word)) over the job's words in it, half of that for words of
 *                    the task alone, and for words of the heading before it
 *
 * N: passages, n: those that hold the word (Spärck Jones 1972). Without a rare word in the
 * passage or its heading there is nothing to give. One owner; not thread-safe. */
#ifndef EXCHANGE_DOCUMENT_READER_H
#define EXCHANGE_DOCUMENT_READER_H

#include "exchange/private/document_jobs.h"
#include "exchange/private/documents.h"

#define DOCUMENT_QUOTES_MAX 3 /* a job */
#define DOCUMENT_PASSAGE_BYTES_MAX 400

struct document_quote {
    size_t passage;  /* its number, over all documents */
    size_t document; /* from 0 */
    struct td_str text;
};

struct document_reader;

/* **returns new** (document_reader_free); NULL without memory. **borrows** the documents' texts. */
struct document_reader *document_reader_new(const struct documents *documents);
void document_reader_free(struct document_reader *reader);

/* The passages for a job, best first; 0: it abstains. */
size_t document_reader_find(struct document_reader *reader, const struct document_job *job,
                            struct document_quote out[static DOCUMENT_QUOTES_MAX]);

#endif
