// SPDX-License-Identifier: Apache-2.0
#include "fakeverbs.h"

#include <pthread.h>
#include <string.h>

struct failure {
	char function[48];
	int error;
	int skip;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fake_record records[FAKE_RECORDS];
static uint64_t recorded;
static int recording = 1;
static struct failure failures[8];
static uint64_t result;
static char held_function[48];
static int held;
static int looping;
static int able;
static enum fake_bad bad_requests;
static __thread struct fake_record *latest;

void fake_reset(void)
{
	pthread_mutex_lock(&mutex);
	recorded = 0;
	recording = 1;
	result = 0;
	held_function[0] = '\0';
	held = 0;
	looping = 0;
	able = 0;
	bad_requests = FAKE_NAMED;
	memset(failures, 0, sizeof(failures));
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

void fake_recording(int on)
{
	recording = on;
}

uint64_t fake_records(void)
{
	return recorded;
}

// The last FAKE_RECORDS are kept.
const struct fake_record *fake_record_at(uint64_t index)
{
	return &records[index % FAKE_RECORDS];
}

void fake_fail(const char *function, int error, int skip)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i].error == 0) {
			strncpy(failures[i].function, function, sizeof(failures[i].function) - 1);
			failures[i].error = error;
			failures[i].skip = skip;
			break;
		}
	}
	pthread_mutex_unlock(&mutex);
}

void fake_result(uint64_t scripted)
{
	result = scripted;
}

uint64_t fake_scripted_result(void)
{
	return result;
}

void fake_loop(int on)
{
	looping = on;
}

void fake_able(int on)
{
	able = on;
}

void fake_bad_requests(enum fake_bad how)
{
	bad_requests = how;
}

void fake_refuse(void *bad, void *request)
{
	if (bad_requests != FAKE_UNTOUCHED)
		*(void **)bad = bad_requests == FAKE_NAMED ? request : NULL;
}

int fake_is_able(void)
{
	return able;
}

int fake_looping(void)
{
	return looping;
}

void fake_hold(const char *function)
{
	pthread_mutex_lock(&mutex);
	strncpy(held_function, function, sizeof(held_function) - 1);
	pthread_mutex_unlock(&mutex);
}

void fake_await_held(void)
{
	pthread_mutex_lock(&mutex);
	while (!held)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

void fake_release(void)
{
	pthread_mutex_lock(&mutex);
	held = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static int scripted_failure(const char *function)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i].error != 0 && strcmp(failures[i].function, function) == 0 && failures[i].skip-- == 0) {
			int error = failures[i].error;
			failures[i].error = 0;
			return error;
		}
	}
	return 0;
}

int fake_called(const char *function, const uint64_t *arguments, int count, const void *data, size_t data_size)
{
	fake_used(function, arguments, count);
	if (!recording)
		return 0;
	pthread_mutex_lock(&mutex);
	latest = &records[recorded++ % FAKE_RECORDS];
	latest->function = function;
	memset(latest->arguments, 0, sizeof(latest->arguments));
	if (count > 0)
		memcpy(latest->arguments, arguments, count * sizeof(*arguments));
	latest->data_size = 0;
	fake_append(data, data_size);
	int error = scripted_failure(function);
	if (strcmp(held_function, function) == 0) {
		held_function[0] = '\0';
		held = 1;
		pthread_cond_broadcast(&changed);
		while (held)
			pthread_cond_wait(&changed, &mutex);
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

void fake_append(const void *data, size_t size)
{
	if (!recording || size > FAKE_DATA - latest->data_size)
		return;
	if (size > 0)
		memcpy(latest->data + latest->data_size, data, size);
	latest->data_size += size;
}
