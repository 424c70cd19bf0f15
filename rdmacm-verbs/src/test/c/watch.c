// SPDX-License-Identifier: Apache-2.0
// Objects whose use after their end is noticed (fake_watch): each lies in a slot of its own, which is poisoned when the
// object is destroyed and used again only after all the others. A call takes as long as it is told to, so that whoever
// destroys an object meanwhile is caught.
#include "fakeverbs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 2048, SLOT = 1 << 16, POISONED = 4096, POISON = 0xdb };
enum { EMPTY, LIVE, DEAD };
// What only one thread may do at a time with one object.
enum side { SEND, RECEIVE, POLL, SIDES, NONE = SIDES };

struct slot {
	int state;
	int inside;     // threads
	int sides[SIDES];
	int padding[11];
};

static struct slot slots[SLOTS];
static char poison[POISONED];
static char *memory;
static int mode;
static int length; // of a call
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned free_slots[SLOTS]; // the one that was given back longest ago comes first
static unsigned given, taken;
static uint64_t misuses[FAKE_MISUSES];
static const char *culprits[FAKE_MISUSES];

static void misused(enum fake_misuse misuse, const char *function)
{
	__atomic_store_n(&culprits[misuse], function, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&misuses[misuse], 1, __ATOMIC_SEQ_CST);
}

uint64_t fake_misuses(int misuse)
{
	return __atomic_load_n(&misuses[misuse], __ATOMIC_SEQ_CST);
}

const char *fake_misused_by(int misuse)
{
	return __atomic_load_n(&culprits[misuse], __ATOMIC_SEQ_CST);
}

void fake_watch(int wanted, int turns)
{
	if (!memory && wanted != FAKE_WATCH_BY_SANITIZER) {
		memory = mmap(NULL, (size_t)SLOTS * SLOT, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			abort();
		memset(poison, POISON, POISONED);
		for (unsigned i = 0; i < SLOTS; i++)
			free_slots[given++] = i;
	}
	mode = wanted;
	length = turns;
}

static struct slot *slot_of(uint64_t address)
{
	uint64_t offset = address - (uint64_t)memory;
	return memory && offset < (uint64_t)SLOTS * SLOT ? &slots[offset / SLOT] : NULL;
}

static char *place_of(const struct slot *slot)
{
	return memory + (slot - slots) * (size_t)SLOT;
}

static void protect(struct slot *slot, int protection)
{
	if (mode == FAKE_WATCH_PAGES && mprotect(place_of(slot), SLOT, protection))
		abort();
}

void *fake_allocate(size_t size)
{
	if (!mode || mode == FAKE_WATCH_BY_SANITIZER)
		return calloc(1, size);
	if (size > SLOT)
		abort();
	pthread_mutex_lock(&mutex);
	if (taken == given)
		abort(); // more objects at once than there are slots
	struct slot *slot = &slots[free_slots[taken++ % SLOTS]];
	pthread_mutex_unlock(&mutex);
	protect(slot, PROT_READ | PROT_WRITE);
	if (slot->state == DEAD) {
		if (mode == FAKE_WATCH && memcmp(place_of(slot), poison, POISONED))
			misused(FAKE_WRITTEN_AFTER_FREE, "a write to memory");
		memset(place_of(slot), 0, POISONED);
	}
	memset(slot->sides, 0, sizeof(slot->sides));
	__atomic_store_n(&slot->state, LIVE, __ATOMIC_SEQ_CST);
	return place_of(slot);
}

void fake_free(void *object)
{
	struct slot *slot = slot_of((uint64_t)object);
	if (!slot) {
		free(object);
		return;
	}
	if (__atomic_exchange_n(&slot->state, DEAD, __ATOMIC_SEQ_CST) != LIVE) {
		misused(FAKE_FREED_TWICE, "free");
		return;
	}
	if (__atomic_load_n(&slot->inside, __ATOMIC_SEQ_CST))
		misused(FAKE_FREED_IN_USE, "free");
	memcpy(place_of(slot), poison, POISONED);
	protect(slot, PROT_NONE);
	pthread_mutex_lock(&mutex);
	free_slots[given++ % SLOTS] = slot - slots;
	pthread_mutex_unlock(&mutex);
}

static enum side side_of(const char *function)
{
	switch (function[0]) {
	case 'w':
		return strncmp(function, "wr_", 3) ? NONE : SEND;
	case 'r':
		return strncmp(function, "read_", 5) ? NONE : POLL;
	case 'p':
		if (!strcmp(function, "post_send"))
			return SEND;
		return !strcmp(function, "post_recv") || !strcmp(function, "post_srq_recv") ||
		       !strcmp(function, "post_wq_recv") ? RECEIVE : !strcmp(function, "poll_cq") ? POLL : NONE;
	default:
		return strcmp(function, "start_poll") && strcmp(function, "next_poll") && strcmp(function, "end_poll")
			? NONE : POLL;
	}
}

// As a driver that does some work, now more and now less.
static void spend(void)
{
	static __thread unsigned calls;
	for (volatile int i = length >> (calls++ % 8); i > 0; i--) {
	}
}

// A call with an object: it must not be destroyed before the call ends.
static void use(struct slot *slot, const char *function, enum side side)
{
	__atomic_add_fetch(&slot->inside, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&slot->state, __ATOMIC_SEQ_CST) != LIVE)
		misused(FAKE_USED_AFTER_FREE, function);
	if (side != NONE && __atomic_exchange_n(&slot->sides[side], 1, __ATOMIC_SEQ_CST))
		misused(FAKE_USED_TOGETHER, function);
	spend();
	if (side != NONE)
		__atomic_store_n(&slot->sides[side], 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&slot->state, __ATOMIC_SEQ_CST) != LIVE)
		misused(FAKE_USED_AFTER_FREE, function);
	__atomic_sub_fetch(&slot->inside, 1, __ATOMIC_SEQ_CST);
}

void fake_used(const char *function, const uint64_t *arguments, int count)
{
	if (!mode)
		return;
	enum side side = side_of(function);
	for (int i = 0; i < count; i++) {
		struct slot *slot = slot_of(arguments[i]);
		if (slot)
			use(slot, function, i == 0 ? side : NONE);
	}
}

void fake_touch(const void *object)
{
	if (mode)
		*(const volatile char *)object;
}

int fake_watching(void)
{
	return mode;
}
