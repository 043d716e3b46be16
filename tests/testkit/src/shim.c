/* Makes calls of a tool fail as a mount would: FAIL_CALL names the call (pwrite, fsync, close, rmdir), FAIL_ERRNO the
 * number that it ends with, or "hang". Only files that are open for writing are concerned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fails(const char *call) {
    const char *wanted = getenv("FAIL_CALL"), *how = getenv("FAIL_ERRNO");
    if (!wanted || !how || strcmp(wanted, call) != 0)
        return 0;
    while (strcmp(how, "hang") == 0)
        sleep(1);
    errno = atoi(how);
    return 1;
}

static int is_written(int fd) {
    struct stat is;
    int flags = fcntl(fd, F_GETFL);
    return fd > 2 && flags != -1 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

int fsync(int fd) {
    if (is_written(fd) && fails("fsync"))
        return -1;
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int close(int fd) {
    int fail = is_written(fd) && fails("close"), error = errno;
    int status = ((int (*)(int))dlsym(RTLD_NEXT, "close"))(fd);
    if (fail)
        errno = error;
    return fail ? -1 : status;
}

ssize_t pwrite64(int fd, const void *from, size_t length, off64_t at) {
    if (is_written(fd) && at > 0 && fails("pwrite"))
        return -1;
    return ((ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(fd, from, length, at);
}

int unlinkat(int directory, const char *name, int flags) {
    if ((flags & AT_REMOVEDIR) && fails("rmdir"))
        return -1;
    return ((int (*)(int, const char *, int))dlsym(RTLD_NEXT, "unlinkat"))(directory, name, flags);
}

int rmdir(const char *name) {
    if (fails("rmdir"))
        return -1;
    return ((int (*)(const char *))dlsym(RTLD_NEXT, "rmdir"))(name);
}
