// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

/** The two calls of the data path through JNI, as JNI libraries have them. For comparison only. */
@SuppressWarnings("restricted")
final class JniVerbs {
    static {
        System.load(NullProvider.unpacked().jni().toString());
        initialize(Completion.class);
    }

    private JniVerbs() {
    }

    /** What a poll copies a completion into. */
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

    /** Posts the chain of requests that begins at an address; the result is the error number. */
    static native int postSend(long queuePair, long request);

    /** Copies completions into the objects; the result is how many. */
    static native int pollCq(long queue, Completion[] completions);
}
