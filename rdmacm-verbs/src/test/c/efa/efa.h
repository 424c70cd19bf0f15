// SPDX-License-Identifier: Apache-2.0
#ifndef EFA_H
#define EFA_H

#include <stdint.h>

// The GID of the device: the bytes that the file in the stand-in for /sys spells.
#define EFA_GID { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x02, 0, 0xff, 0xfe, 0, 0, 0x01 }

// Answers a request to the kernel: returns an errno, 0 on success.
int efa_answer(void *request);
// Returns the file behind the offset of a mapping of the device; -1 if there is none.
int efa_file_at(uint64_t key);
// The device was opened.
void efa_opened(void);
// A file was closed.
void efa_closed(int file);

#endif
