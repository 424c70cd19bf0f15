// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.internal.wait.Sleeper;
import org.jspecify.annotations.Nullable;

/** Where threads sleep on the files of a stream, of which there are more when it is connected. */
final class StreamFiles implements Sleeper {
    // written with the lock of the stream held
    private volatile Poller current = new Poller();
    // of a sleep that began before there were more files
    private volatile @Nullable Poller former;

    /** Sets the files. A thread that sleeps is woken. */
    void watch(int... files) {
        Poller ended = current;
        former = ended;
        current = new Poller(files);
        ended.wake();
    }

    @Override
    public void await(long nanos) throws RdmaException, InterruptedException {
        current.await(nanos);
    }

    @Override
    public void wake() {
        current.wake();
        Poller ended = former;
        if (ended != null) {
            ended.wake();
        }
    }

    @Override
    public void close() throws RdmaException {
        current.close();
        Poller ended = former;
        if (ended != null) {
            ended.close();
        }
    }
}
