/* ASSERT: what a caller has promised, checked at the entry of a module, in release as well.
 *
 * It is for bugs of this program alone: a false condition prints the file and the line and aborts.
 * Input from a file, a request or a peer promises nothing: it is checked and answered with an
 * error. Program and library have a size limit. So ASSERT stores only the line, which leads to the
 * condition, and costs about 20 bytes. The assert() of libc costs about 90, because it stores the
 * text of each condition and the name of each function. Loops over weights, logits or bytes have no
 * assertions. Any thread. */
#ifndef BASE_ASSERTION_H
#define BASE_ASSERTION_H

#ifdef __FILE_NAME__ /* without its folders: gcc 12, clang 9 */
#define ASSERT_FILE __FILE_NAME__
#else
#define ASSERT_FILE __FILE__
#endif

#define ASSERT(condition) ((condition) ? (void)0 : assertion_failed(ASSERT_FILE, __LINE__))

/* Prints the place on standard error and aborts. */
__attribute__((noreturn, cold)) void assertion_failed(const char *file, int line);

#endif
