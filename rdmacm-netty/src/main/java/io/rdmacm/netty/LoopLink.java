// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

/** Ties a channel to the event loop that it is registered with. Used in the thread of the event loop. */
interface LoopLink {
    /** Has the channel look soon for what it can do. */
    void look();

    /** The stream was read or written, so that its file has to be armed before the event loop sleeps. */
    void touched();

    /** The file has or has no longer to be watched, because the channel does or does not want to know of it. */
    void interest(boolean interested);

    /** Ends the link. May be called from any thread. */
    void cancel();
}
