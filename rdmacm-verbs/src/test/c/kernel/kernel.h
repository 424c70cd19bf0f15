// SPDX-License-Identifier: Apache-2.0
/*
 * A stand-in for the kernel and for a network card: a library to be preloaded, with which the real libibverbs and the
 * real drivers of rdma-core run in a process without any RDMA device.
 *
 * files.c takes the calls that the drivers make on /dev/infiniband/uverbsN and leaves all others to the C library.
 * request.c takes requests apart, notes them, and refuses them on demand. objects.c has the objects and their order.
 * kernel.c answers what is the same for all devices; mlx5.c what is not. nic.c is the thread that plays the cards, and
 * mlx5nic.c one of these: it executes the entries of the queues. view.c tells the tests what the card can see.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

#define FILES 4096

enum kind { PD = 1, MR, MW, CQ, QP, SRQ, AH, PAGE, OTHER };

/* A request of ioctl(RDMA_VERBS_IOCTL). The commands of the old write interface come as one, too. */
struct request {
    struct ib_uverbs_ioctl_hdr *header;
    const struct device *device;
    int file;
    uint32_t command;  // of the write interface, or 0
};

/* A kind of card. */
struct device {
    const char *name;        // in sysfs
    const char *path;        // its file
    unsigned minor;
    void (*device_attributes)(struct ib_uverbs_query_device_resp *);
    void (*driver_device_attributes)(struct request *);
    int (*get_context)(struct request *);
    // Answer what the driver adds; return 0 or an errno.
    int (*create)(struct request *, enum kind, uint32_t handle);
    int (*modify_qp)(struct request *, uint32_t handle, const struct ib_uverbs_modify_qp *);
    // Any other request. Returns ENOPROTOOPT if it does not know it.
    int (*other)(struct request *);
    void (*destroyed)(enum kind, uint32_t handle);
    // Does what the card has to do; returns whether there was anything. Called with the lock held.
    bool (*work)(void);
    // Is told of memory of the card that the driver has mapped.
    void (*map)(void *memory, size_t length, long offset);
};

extern const struct device mlx5_device;
extern const struct device *const devices[];

/* The lock of everything. */
void lock(void);
void unlock(void);

/* request.c */
int answer(const struct device *device, int file, struct ib_uverbs_ioctl_hdr *header);
const struct ib_uverbs_attr *attribute(const struct request *request, unsigned id);
const void *in(const struct request *request, unsigned id, size_t size);
uint32_t in32(const struct request *request, unsigned id);
uint64_t in64(const struct request *request, unsigned id);
void out(const struct request *request, unsigned id, const void *value, size_t size);
void set_data(const struct request *request, unsigned id, uint64_t data);
#define OUT(request, id, type, ...) do { type value_ = __VA_ARGS__; out(request, id, &value_, sizeof value_); } while (0)
// The request and the answer of a command of the write interface.
#define COMMAND(request, type) ((const type *)in(request, UVERBS_ATTR_CORE_IN, 0))
#define ANSWER(request, type, ...) OUT(request, UVERBS_ATTR_CORE_OUT, type, __VA_ARGS__)
#define DRIVER_IN(request, type) ((const type *)in(request, UVERBS_ATTR_UHW_IN, sizeof(type)))
#define DRIVER_OUT(request, type, ...) OUT(request, UVERBS_ATTR_UHW_OUT, type, __VA_ARGS__)

/* objects.c */
struct object {
    enum kind kind;
    const struct device *device;
    int file;
    uint32_t parents[6];
    unsigned uses;
    uint64_t user_handle;          // what its events name it by
    // that were raised for it: who destroys it waits until they have been acknowledged
    uint32_t completion_events, async_events;
    void *state;   // of the card; freed with the object
    bool live;
};
uint32_t add_object(const struct request *request, enum kind kind);
struct object *object(uint32_t handle, enum kind kind);
int depend(uint32_t handle, uint32_t parent, enum kind kind);
int destroy_object(uint32_t handle, enum kind kind);
void *state_of(uint32_t handle, enum kind kind);
void close_file(int file);
unsigned live_objects(void);
uint32_t next_number(void);
void each_object(enum kind kind, void (*visit)(uint32_t handle, struct object *));

/* kernel.c */
int handle_request(struct request *request);
void raise_for(struct object *one, uint32_t type);
void closed(int file);
void raise_completion(uint32_t channel, uint64_t user_handle);

/* nic.c */
void start_nic(void);

#endif
