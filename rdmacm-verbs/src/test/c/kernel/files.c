// SPDX-License-Identifier: Apache-2.0
/* The calls of the C library that the drivers make on the files of the devices. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "kernel.h"

#define MAJOR 231
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const struct device *open_files[FILES];

static const struct device *of_path(const char *path) {
    for (const struct device *const *d = devices; path && *d; d++) {
        if (!strcmp(path, (*d)->path)) return *d;
    }
    return NULL;
}

static const struct device *of_file(int file) {
    return file >= 0 && file < FILES ? __atomic_load_n(&open_files[file], __ATOMIC_ACQUIRE) : NULL;
}

static int open_device(const struct device *device) {
    int file = memfd_create(device->name, MFD_CLOEXEC);
    if (file >= FILES) {
        REAL(close)(file);
        errno = EMFILE;
        return -1;
    }
    if (file >= 0) {
        start_nic();
        __atomic_store_n(&open_files[file], device, __ATOMIC_RELEASE);
    }
    return file;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = mode_of(flags, arguments); \
        va_end(arguments); \
        const struct device *device = of_path(path); \
        return device ? open_device(device) : REAL(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode_t mode = mode_of(flags, arguments); \
        va_end(arguments); \
        const struct device *device = of_path(path); \
        return device ? open_device(device) : REAL(name)(folder, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

static void describe(const struct device *device, struct stat *status) {
    status->st_mode = S_IFCHR | 0666;
    status->st_rdev = makedev(MAJOR, device->minor);
}

int stat(const char *path, struct stat *status) {
    const struct device *device = of_path(path);
    if (!device) return REAL(stat)(path, status);
    memset(status, 0, sizeof *status);
    describe(device, status);
    return 0;
}

int fstat(int file, struct stat *status) {
    int result = REAL(fstat)(file, status);
    const struct device *device = of_file(file);
    if (!result && device) describe(device, status);
    return result;
}

static void *map(void *address, size_t length, int flags, const struct device *device, off_t offset) {
    void *memory = mmap(address, length, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | (flags & MAP_FIXED), -1, 0);
    if (memory != MAP_FAILED && device->map) {
        lock();
        device->map(memory, length, offset);
        unlock();
    }
    return memory;
}

#define MMAP(name) \
    void *name(void *address, size_t length, int protection, int flags, int file, off_t offset) { \
        const struct device *device = of_file(file); \
        return device ? map(address, length, flags, device, offset) \
                : REAL(name)(address, length, protection, flags, file, offset); \
    }
MMAP(mmap)
MMAP(mmap64)

int close(int file) {
    const struct device *device = of_file(file);
    if (device) {
        __atomic_store_n(&open_files[file], NULL, __ATOMIC_RELEASE);
        lock();
        close_file(file);
        unlock();
    }
    static __thread bool inside;
    if (!inside && file >= 0 && file < FILES) {
        inside = true;   // it closes the other end of a pipe itself
        lock();
        closed(file);
        unlock();
        inside = false;
    }
    return REAL(close)(file);
}

int ioctl(int file, unsigned long command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const struct device *device = of_file(file);
    if (!device || command != RDMA_VERBS_IOCTL) return REAL(ioctl)(file, command, argument);
    lock();
    int error = answer(device, file, argument);
    unlock();
    if (error) {
        errno = error;
        return -1;
    }
    return 0;
}
