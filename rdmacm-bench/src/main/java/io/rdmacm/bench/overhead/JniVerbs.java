// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

/**
 * Post and poll through JNI, written for this comparison: each completion is copied into an object, member by member,
 * by functions of JNI. It is no published library; {@link Disni} is.
 */
@SuppressWarnings("restricted")
final class JniVerbs {
    static {
        System.load(NullProvider.unpacked().jni().toString());
        initialize(Completion.class);
    }

    private JniVerbs() {
    }

    /** The target of a poll. */
    static final class Completion {
        long id;
        int status;
        int opcode;
        int vendorError;
        int byteLength;
        int queuePairNumber;
        int flags;
    }

    private static native void initialize(Class<Completion> completion);

    /** Posts the chain of requests that starts at an address, and returns the error number or 0. */
    static native int postSend(long queuePair, long request);

    /** Polls completions into the objects, and returns their number. */
    static native int pollCq(long queue, Completion[] completions);
}
