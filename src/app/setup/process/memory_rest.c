/* After a start and after a burst of large requests, much of a server's memory is of no use: free
 * blocks of the heap, and code of libraries that ran once. The C library keeps the first, and the
 * kernel counts the second, with what it mapped around it, as ours.
 *
 * Both are given back while nothing runs, so no request pays for it. Quiet is what uses little CPU
 * time, whoever used it: so nothing on the way of a request counts anything. Code comes back from
 * the page cache as it is used, some 64 KiB with each fault. */
#include "app/setup/process/memory_rest.h"

#include "base/time/clock.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 8000 /* after the start: the ledger's first checkpoint is behind */
#define LOOK_MS 3000
#define REST_MS 30000 /* between two times */
#define WATCH_MS 5000 /* while there is nothing to give back */
#define WORKED_NS UINT64_C(20000000)
#define QUIET_SHARE 50 /* one part of that many of one core */

static uint64_t cpu_ns(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Whether it has code that was changed as it was loaded: that would not come back. */
static bool has_own_code(const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const void *)(object->dlpi_addr + part->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL ||
                (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
                return true;
    }
    return false;
}

/* Only what cannot be written: its pages are those of the file. */
static int rest_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
    (void)size;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)ctx;
    if (strncmp(object->dlpi_name, "linux-", 6) == 0 || has_own_code(object))
        return 0; /* the kernel's own has no file */
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W))
            continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        uintptr_t first = start & ~(page - 1);
        (void)madvise((void *)first, start + part->p_memsz - first, MADV_DONTNEED);
    }
    return 0;
}

static void give_back(void)
{
    (void)malloc_trim(0);
    (void)dl_iterate_phdr(rest_object, NULL);
}

/* What the threads do first is part of the start too. No CPU time is noted, so the first look finds
 * that the process has worked, and gives back what they used. */
void memory_rest_begin(struct memory_rest *rest)
{
    give_back();
    rest->looked_ns = clock_monotonic_ns(NULL);
    rest->looked_cpu_ns = cpu_ns();
    rest->next_ms = rest->looked_ns / 1000000 + FIRST_MS;
}

uint64_t memory_rest_look(struct memory_rest *rest)
{
    uint64_t now_ns = clock_monotonic_ns(NULL), now_ms = now_ns / 1000000;
    if (now_ms < rest->next_ms)
        return rest->next_ms - now_ms;
    uint64_t used_ns = cpu_ns();
    bool worked = used_ns - rest->rested_cpu_ns > WORKED_NS;
    bool quiet = (used_ns - rest->looked_cpu_ns) * QUIET_SHARE < now_ns - rest->looked_ns;
    if (worked && quiet) {
        give_back();
        rest->rested_cpu_ns = cpu_ns();
    }
    rest->looked_ns = now_ns;
    rest->looked_cpu_ns = used_ns;
    uint64_t wait_ms = !worked ? WATCH_MS : quiet ? REST_MS : LOOK_MS;
    rest->next_ms = now_ms + wait_ms;
    return wait_ms;
}
