/* Simulates faults of the machine: the clock jumps, the disk fails or is full, the process is killed. Tests preload this library into the
 * unchanged program; `faults.rs` writes the block of numbers that selects the faults.
 *
 * Only files under FAULTS_FOLDER fail. The monotonic clock is unchanged, because setting the time of a machine does not affect it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The same order as in `faults.rs`. */
struct block {
    _Atomic int64_t clock_offset_ms;
    _Atomic int64_t armed;       /* whether calls are counted and can fail */
    _Atomic int64_t kind;        /* SYNCS, WRITES or NAMES */
    _Atomic int64_t fail_at;     /* the first call that fails, from 1; 0: none */
    _Atomic int64_t fail_many;   /* how many calls fail */
    _Atomic int64_t error;       /* the errno of failed calls; below 0, the process is killed instead */
    _Atomic int64_t seen[3];     /* the calls of each kind since `armed` was set */
    _Atomic int64_t failed;      /* how many of them failed */
    _Atomic int64_t loaded;      /* whether the program has loaded this library */
    char path[256];              /* the file of the first call that failed */
};

enum { SYNCS = 0, WRITES = 1, NAMES = 2 };

static struct block nothing;
static struct block *block = &nothing;
static char folder[PATH_MAX];
static size_t folder_length;

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("FAULTS_BLOCK");
    const char *under = getenv("FAULTS_FOLDER");
    if (!file || !under)
        return;
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    folder_length = strlen(under);
    if (folder_length >= sizeof folder)
        return;
    memcpy(folder, under, folder_length + 1);
    block = map;
    atomic_store(&block->loaded, 1);
}

#define REAL(name)                                       \
    static __typeof__(name) *real;                       \
    if (!real)                                           \
    real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* Returns whether this call on the file with this name fails. If it does, sets errno. */
static int fails_at(int kind, const char *path)
{
    if (!atomic_load(&block->armed) || strncmp(path, folder, folder_length) != 0 || path[folder_length] != '/')
        return 0;
    int64_t number = atomic_fetch_add(&block->seen[kind], 1) + 1;
    int64_t first = atomic_load(&block->fail_at);
    if (atomic_load(&block->kind) != kind || first == 0 || number < first || number - first >= atomic_load(&block->fail_many))
        return 0;
    if (atomic_fetch_add(&block->failed, 1) == 0)
        snprintf(block->path, sizeof block->path, "%s", path + folder_length + 1);
    int64_t error = atomic_load(&block->error);
    if (error < 0)
        kill(getpid(), SIGKILL);
    errno = (int)error;
    return 1;
}

/* Like fails_at, for an open file. */
static int fails(int kind, int fd)
{
    if (!atomic_load(&block->armed))
        return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int kept = errno;
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = kept;
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails_at(kind, path);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return fails_at(NAMES, to) ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    REAL(linkat);
    return fails_at(NAMES, to) ? -1 : real(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    REAL(link);
    return fails_at(NAMES, to) ? -1 : real(from, to);
}

int unlink(const char *name)
{
    REAL(unlink);
    return fails_at(NAMES, name) ? -1 : real(name);
}

int fsync(int fd)
{
    REAL(fsync);
    return fails(SYNCS, fd) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return fails(SYNCS, fd) ? -1 : real(fd);
}

ssize_t write(int fd, const void *bytes, size_t many)
{
    REAL(write);
    return fails(WRITES, fd) ? -1 : real(fd, bytes, many);
}

ssize_t writev(int fd, const struct iovec *parts, int many)
{
    REAL(writev);
    return fails(WRITES, fd) ? -1 : real(fd, parts, many);
}

ssize_t pwrite(int fd, const void *bytes, size_t many, off_t at)
{
    REAL(pwrite);
    return fails(WRITES, fd) ? -1 : real(fd, bytes, many, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t many, off64_t at)
{
    REAL(pwrite64);
    return fails(WRITES, fd) ? -1 : real(fd, bytes, many, at);
}

int ftruncate(int fd, off_t length)
{
    REAL(ftruncate);
    return fails(WRITES, fd) ? -1 : real(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    REAL(ftruncate64);
    return fails(WRITES, fd) ? -1 : real(fd, length);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    REAL(clock_gettime);
    int done = real(clock, time);
    if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ms = atomic_load(&block->clock_offset_ms);
        int64_t ns = time->tv_nsec + (ms % 1000) * 1000000;
        time->tv_sec += ms / 1000;
        if (ns < 0) {
            ns += 1000000000;
            time->tv_sec -= 1;
        } else if (ns >= 1000000000) {
            ns -= 1000000000;
            time->tv_sec += 1;
        }
        time->tv_nsec = ns;
    }
    return done;
}
