// A disk that fails for the files of a journal while the file that FAULTY_DISK names says how: `full`, `write`,
// `sync` or `slow`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// The first letter of the fault that this file of a journal has now; nothing for other files.
static char fault(int file) {
    char link[64], name[4096], said[16] = {0};
    const char *control = getenv("FAULTY_DISK");
    if (!control) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length <= 0) return 0;
    name[length] = 0;
    if (!strstr(name, "calls.db")) return 0;
    int said_in = open(control, O_RDONLY | O_CLOEXEC);
    if (said_in < 0) return 0;
    if (read(said_in, said, sizeof said - 1) < 2) said[0] = 0;
    close(said_in);
    return said[0] == 's' ? said[1] : said[0];
}

static int is_refused(int file) {
    switch (fault(file)) {
    case 'f': errno = ENOSPC; return 1;
    case 'w': errno = EIO; return 1;
    default: return 0;
    }
}

static int synced(int file, const char *name) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    switch (fault(file)) {
    case 'y': errno = EIO; return -1;
    case 'l': nanosleep(&(struct timespec){.tv_nsec = 400 * 1000 * 1000}, NULL);
    }
    return next(file);
}

ssize_t write(int file, const void *bytes, size_t count) {
    ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return is_refused(file) ? -1 : next(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    ssize_t (*next)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return is_refused(file) ? -1 : next(file, bytes, count, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    ssize_t (*next)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return is_refused(file) ? -1 : next(file, bytes, count, at);
}

int fsync(int file) { return synced(file, "fsync"); }

int fdatasync(int file) { return synced(file, "fdatasync"); }
