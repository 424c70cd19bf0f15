// SPDX-License-Identifier: Apache-2.0
// The same two calls through JNI, as JNI libraries offer them: one crossing to post requests that lie ready in direct
// memory, one to poll, with the completions copied into objects of Java.
#include <infiniband/verbs.h>
#include <jni.h>

enum { MAX_POLLED = 64 };

static jfieldID id_field;
static jfieldID status_field;
static jfieldID opcode_field;
static jfieldID vendor_error_field;
static jfieldID byte_length_field;
static jfieldID queue_pair_field;
static jfieldID flags_field;

JNIEXPORT void JNICALL Java_io_rdmacm_bench_overhead_JniVerbs_initialize(JNIEnv *env, jclass caller, jclass completion)
{
	(void)caller;
	id_field = (*env)->GetFieldID(env, completion, "id", "J");
	status_field = (*env)->GetFieldID(env, completion, "status", "I");
	opcode_field = (*env)->GetFieldID(env, completion, "opcode", "I");
	vendor_error_field = (*env)->GetFieldID(env, completion, "vendorError", "I");
	byte_length_field = (*env)->GetFieldID(env, completion, "byteLength", "I");
	queue_pair_field = (*env)->GetFieldID(env, completion, "queuePairNumber", "I");
	flags_field = (*env)->GetFieldID(env, completion, "flags", "I");
}

JNIEXPORT jint JNICALL Java_io_rdmacm_bench_overhead_JniVerbs_postSend(JNIEnv *env, jclass caller, jlong qp, jlong wr)
{
	struct ibv_send_wr *bad;
	(void)env;
	(void)caller;
	return ibv_post_send((struct ibv_qp *)qp, (struct ibv_send_wr *)wr, &bad);
}

JNIEXPORT jint JNICALL Java_io_rdmacm_bench_overhead_JniVerbs_pollCq(JNIEnv *env, jclass caller, jlong cq,
								     jobjectArray completions)
{
	struct ibv_wc wcs[MAX_POLLED];
	jsize room = (*env)->GetArrayLength(env, completions);
	int taken = ibv_poll_cq((struct ibv_cq *)cq, room < MAX_POLLED ? room : MAX_POLLED, wcs);
	(void)caller;
	for (int i = 0; i < taken; i++) {
		jobject completion = (*env)->GetObjectArrayElement(env, completions, i);
		(*env)->SetLongField(env, completion, id_field, wcs[i].wr_id);
		(*env)->SetIntField(env, completion, status_field, wcs[i].status);
		(*env)->SetIntField(env, completion, opcode_field, wcs[i].opcode);
		(*env)->SetIntField(env, completion, vendor_error_field, wcs[i].vendor_err);
		(*env)->SetIntField(env, completion, byte_length_field, wcs[i].byte_len);
		(*env)->SetIntField(env, completion, queue_pair_field, wcs[i].qp_num);
		(*env)->SetIntField(env, completion, flags_field, wcs[i].wc_flags);
		(*env)->DeleteLocalRef(env, completion);
	}
	return taken;
}
