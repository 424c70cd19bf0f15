// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/** How a domain of extended reliable connections is opened: flags of open(2), see ibv_open_xrcd(3). */
public enum XrcDomainFlag {
    /** It is made when the file has none yet. */
    CREAT(0x40),
    /** With {@link #CREAT}: it must not be there yet. */
    EXCL(0x80);

    private final int bit;

    XrcDomainFlag(int bit) {
        this.bit = bit;
    }

    /** The bit of the C constant, the same on all processors that this library runs on. */
    public int bit() {
        return bit;
    }
}
