/* Sets the wall clock by STEP_BY seconds, STEP_AT seconds after the tool began: as the tool reads it, and as the kernel
 * stamps what arrives. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static int now(clockid_t clock, struct timespec *time) {
    return ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, time);
}

static long step(void) {
    static double began;
    struct timespec time;
    now(CLOCK_MONOTONIC, &time);
    double at = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    if (began == 0)
        began = at;
    return at - began > atof(getenv("STEP_AT")) ? atol(getenv("STEP_BY")) : 0;
}

__attribute__((constructor)) static void begin(void) {
    step();
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = now(clock, time);
    if (clock == CLOCK_REALTIME)
        time->tv_sec += step();
    return status;
}

int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    int got = ((int (*)(int, struct mmsghdr *, unsigned, int, struct timespec *))dlsym(RTLD_NEXT, "recvmmsg"))(
        socket, messages, count, flags, timeout);
    for (int i = 0; i < got; i++) {
        struct msghdr *message = &messages[i].msg_hdr;
        for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
            struct timespec stamp;
            if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS)
                continue;
            memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
            stamp.tv_sec += step();
            memcpy(CMSG_DATA(part), &stamp, sizeof stamp);
        }
    }
    return got;
}
