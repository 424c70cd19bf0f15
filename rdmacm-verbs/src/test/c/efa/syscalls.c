// SPDX-License-Identifier: Apache-2.0
// Preloaded, it stands between libibverbs and the kernel: the device file and what is done with it are this library's,
// everything else is passed on.
#include "efa.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#define DEVICE "/dev/infiniband/uverbs0"
#define NUMBER makedev(231, 192)
#define MOST_FILES 65536
#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static atomic_bool is_device[MOST_FILES];

static bool is_ours(int file) {
    return file >= 0 && file < MOST_FILES && is_device[file];
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (strcmp(path, DEVICE)) {
        return REAL(open)(path, flags, mode);
    }
    int file = memfd_create("uverbs0", MFD_CLOEXEC);
    if (file >= 0 && file < MOST_FILES) {
        is_device[file] = true;
        efa_opened();
    }
    return file;
}

int close(int file) {
    if (is_ours(file)) {
        is_device[file] = false;
    }
    efa_closed(file);
    return REAL(close)(file);
}

static void describe(struct stat *found) {
    found->st_mode = S_IFCHR | 0666;
    found->st_rdev = NUMBER;
}

int stat(const char *restrict path, struct stat *restrict found) {
    if (strcmp(path, DEVICE)) {
        return REAL(stat)(path, found);
    }
    memset(found, 0, sizeof *found);
    describe(found);
    return 0;
}

int fstat(int file, struct stat *found) {
    int result = REAL(fstat)(file, found);
    if (!result && is_ours(file)) {
        describe(found);
    }
    return result;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (!is_ours(file)) {
        return REAL(mmap)(address, bytes, protection, flags, file, offset);
    }
    int shared = efa_file_at((uint64_t) offset);
    if (shared < 0) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return REAL(mmap)(address, bytes, protection, flags, shared, 0);
}

int ioctl(int file, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!is_ours(file) || request != RDMA_VERBS_IOCTL) {
        return REAL(ioctl)(file, request, argument);
    }
    errno = efa_answer(argument);
    return errno ? -1 : 0;
}
