/* What `tandem doctor` says of the machine: processor, device, clock, disk, state folder, ports. */
#include "app/cli/device_words.h"
#include "app/setup/process/client_keys.h"
#include "app/setup/process/listeners.h"
#include "app/verbs/run/doctor.h"
#include "base/bytes/path.h"
#include "base/core/str.h"
#include "base/machine/confine.h"
#include "base/machine/cores.h"
#include "base/time/clock.h"
#include "kernels/kernels.h"
#include "net/transport/listen.h"
#include "net/transport/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

/* What a day of a busy server writes; below the second a start may fail. */
#define DISK_BYTES_LOW (UINT64_C(500) << 20)
#define DISK_BYTES_MIN (UINT64_C(20) << 20)

static void check_cpu(struct doctor *doctor)
{
    struct td_error err = {0};
    const struct kernels *kernels = kernels_get(doctor->cpu, &err);
    if (!kernels)
        doctor_add(doctor, "cpu", HEALTH_FAIL, "remove --cpu, or use --cpu=ref", "%s", err.message);
    else if (strcmp(kernels->name, "ref") == 0 && doctor->cpu == TD_CPU_AUTO)
        doctor_add(doctor, "cpu", HEALTH_WARN, "a CPU with AVX2 or NEON is many times faster",
                   "this CPU can run only the slow reference kernels");
    else
        doctor_add(doctor, "cpu", HEALTH_OK, NULL, "kernel variant %s", kernels->name);
}

/* As the engine sees them: see base/machine/cores.h. */
static void check_cores(struct doctor *doctor)
{
    struct cores cores;
    char quota[48] = "", slow[48] = "";
    cores_read("", NULL, &cores);
    if (cores.fast < cores.usable)
        snprintf(slow, sizeof slow, " (%u fast, %u slow)", cores.fast, cores.usable - cores.fast);
    if (cores.quota > 0)
        snprintf(quota, sizeof quota, ", a quota of %.2f cores", cores.quota);
    uint32_t fits = cores_thread_count(&cores), set = doctor->config->engine.threads;
    bool too_many = set > cores.usable || (cores.quota > 0 && set > fits);
    doctor_add(doctor, "cores", too_many ? HEALTH_WARN : HEALTH_OK,
               too_many ? "remove engine.threads: more threads than cores wait for each other"
                        : NULL,
               "%u usable%s%s, %u compute threads", cores.usable, slow, quota, set ? set : fits);
}

static void check_device(struct doctor *doctor)
{
    char words[384];
    bool usual = device_words_write(doctor->config->device.root, words, sizeof words);
    doctor_add(doctor, "device", usual ? HEALTH_OK : HEALTH_WARN,
               usual ? NULL : "docs/device.md says what a server does about it", "%s", words);
}

/* Times stand in records, certificates, budgets and signatures. */
static void check_clock(struct doctor *doctor)
{
    struct timex clock = {.modes = 0};
    int kept = adjtimex(&clock);
    char now[25];
    clock_format_iso8601(clock_wall_ms(NULL), now);
    if (clock_wall_ms(NULL) < DOCTOR_EARLIEST_MS)
        doctor_add(doctor, "clock", HEALTH_FAIL,
                   "set the clock, as 'timedatectl set-ntp true' does",
                   "it says %s: certificates and signatures will be refused", now);
    else if (kept >= 0 && clock.status & STA_UNSYNC)
        doctor_add(doctor, "clock", HEALTH_OK, NULL,
                   "%s; whether it is right nobody checks (no time server is followed)", now);
    else
        doctor_add(doctor, "clock", HEALTH_OK, NULL, "%s, kept by a time server", now);
}

/* The folder may not be there yet: then the one above it says how much there is. */
static void check_disk(struct doctor *doctor, const char *dir)
{
    struct statvfs disk;
    uint64_t left;
    if (statvfs(dir, &disk) != 0)
        return;
    left = (uint64_t)disk.f_bavail * disk.f_frsize;
    doctor_add(doctor, "disk",
               left < DISK_BYTES_MIN   ? HEALTH_FAIL
               : left < DISK_BYTES_LOW ? HEALTH_WARN
                                       : HEALTH_OK,
               left < DISK_BYTES_LOW ? "make room, or move the folder with TANDEM_STATE_DIR; "
                                       "'tandem models rm' removes models"
                                     : NULL,
               "%.*f GB are free for %s", left < UINT64_C(10000000000) ? 2 : 0, (double)left / 1e9,
               dir);
}

/* A server with this folder that runs is no fault, but a second one would not start. */
static bool is_in_use(const char *dir)
{
    char path[4096];
    if (path_join(path, sizeof path, dir, "server.lock", NULL) != TD_OK)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return held;
}

/* Tried, because the mode says little to root, nor of a read-only or made-up file system. */
static bool is_writable(const char *dir)
{
    char path[4096];
    return path_join(path, sizeof path, dir, ".tandem-XXXXXX", NULL) == TD_OK && mkdtemp(path) &&
           rmdir(path) == 0;
}

/* The nearest folder above that is there must be one in which the others can be made. */
static void check_place(struct doctor *doctor, const char *dir)
{
    char path[4096];
    if (path_format(path, sizeof path, NULL, "%s", dir) != TD_OK)
        return;
    while (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        char *slash = strrchr(path, '/');
        if (!slash)
            snprintf(path, sizeof path, ".");
        else
            slash[slash == path] = '\0';
    }
    struct stat stat_of;
    bool folder = stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode);
    if (folder && is_writable(path))
        doctor_add(doctor, "state directory", HEALTH_OK, NULL, "%s will be made at the first start",
                   dir);
    else
        doctor_add(doctor, "state directory", HEALTH_FAIL,
                   "make it by hand and give it to this user, or choose another with "
                   "TANDEM_STATE_DIR",
                   "%s is missing and cannot be made: %s is %s", dir, path,
                   folder ? "not writable" : "no folder");
    if (folder)
        check_disk(doctor, path);
}

static void check_state(struct doctor *doctor)
{
    const char *dir = doctor->config->state_dir;
    struct stat stat_of;
    if (stat(dir, &stat_of) != 0) {
        check_place(doctor, dir);
        return;
    }
    if (!S_ISDIR(stat_of.st_mode))
        doctor_add(doctor, "state directory", HEALTH_FAIL,
                   "move the file away, or choose a folder with TANDEM_STATE_DIR",
                   "%s is no folder", dir);
    else if (is_writable(dir))
        doctor_add(doctor, "state directory", HEALTH_OK, NULL, "%s is writable%s", dir,
                   is_in_use(dir) ? ", and a server that runs has it" : "");
    else
        doctor_add(doctor, "state directory", HEALTH_FAIL,
                   "make the folder writable, or choose another with TANDEM_STATE_DIR", "%s: %s",
                   dir, strerror(errno));
    check_disk(doctor, dir);
}

static void check_confinement(struct doctor *doctor)
{
    struct td_error err = {0};
    if (!doctor->config->privacy.confine)
        doctor_add(doctor, "confinement", HEALTH_WARN, "set privacy.confine: true",
                   "switched off: a process with network access answers restricted requests");
    else if (confine_try(&err) == TD_OK)
        doctor_add(
            doctor, "confinement", HEALTH_OK, NULL,
            "a confined worker was started as a test: it can open neither sockets nor files");
    else
        doctor_add(
            doctor, "confinement", HEALTH_FAIL,
            "restricted requests are refused; privacy.confine: false lets the server itself answer "
            "them",
            "%s", err.message);
}

static void check_address(struct doctor *doctor, const struct config_listen *address)
{
    struct td_error err = {0};
    int fd;
    if (address->path) {
        if (listen_try_path(address->path, &err))
            doctor_add(doctor, "socket", HEALTH_OK, NULL, "%s is free", address->path);
    } else if ((fd = listen_open(address->host, address->port, false, &err)) >= 0) {
        close(fd);
        doctor_add(doctor, "port", HEALTH_OK, NULL, "%s is free", address->text);
    }
    if (err.status == TD_INVALID)
        doctor_add(doctor, "port", HEALTH_FAIL, "write server.listen as HOST:PORT or unix:/PATH",
                   "%s", err.message);
    else if (err.status != TD_OK)
        doctor_add(doctor, address->path ? "socket" : "port", HEALTH_WARN,
                   "no problem if that is tandem; else choose another address with --listen or "
                   "TANDEM_LISTEN",
                   "%s", err.message);
}

static void check_tls(struct doctor *doctor)
{
    struct tls_options options;
    struct tls_files more[TLS_MORE_MAX];
    struct tls_keeper *keeper;
    struct td_error err = {0};
    if (!listeners_tls(doctor->config, more, &options))
        return;
    if (tls_keeper_new(&options, &keeper, &err) != TD_OK) {
        doctor_add(doctor, "certificate", HEALTH_FAIL, "check server.tls", "%s", err.message);
        return;
    }
    double days = difftime(tls_keeper_expiry(keeper), time(NULL)) / 86400;
    tls_keeper_free(keeper);
    if (days < 0)
        doctor_add(doctor, "certificate", HEALTH_FAIL,
                   "replace it; the server reads the new one by itself",
                   "%s ended %.0f days ago: clients refuse it", options.files.certificate, -days);
    else
        doctor_add(doctor, "certificate", days < LISTENERS_EXPIRY_DAYS ? HEALTH_WARN : HEALTH_OK,
                   days < LISTENERS_EXPIRY_DAYS
                       ? "replace it; the server reads the new one by itself"
                       : NULL,
                   "%s ends in %.0f days", options.files.certificate, days);
}

static void check_port(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct td_error err = {0};
    enum td_status status = client_keys_check(config, &err);
    if (status != TD_OK)
        doctor_add(doctor, "keys", HEALTH_FAIL,
                   status == TD_DENIED ? "set client keys, or say that everybody may come"
                                       : "mend that setting: until then the server does not start",
                   "%s", err.message);
    for (size_t i = 0; i < config->server.address_count; i++) {
        const struct config_listen *address = &config->server.addresses[i];
        struct td_error own = {0};
        check_address(doctor, address);
        if (address->host &&
            listeners_check_tiers(config, address->host, address->port, &own) != TD_OK)
            doctor_add(doctor, "own address", HEALTH_FAIL, "unset the variable, or change base_url",
                       "%s", own.message);
    }
}

void doctor_check_machine(struct doctor *doctor)
{
    check_cpu(doctor);
    check_cores(doctor);
    check_device(doctor);
    check_clock(doctor);
}

void doctor_check_place(struct doctor *doctor)
{
    check_state(doctor);
}

void doctor_check_door(struct doctor *doctor)
{
    check_confinement(doctor);
    check_port(doctor);
    check_tls(doctor);
}
