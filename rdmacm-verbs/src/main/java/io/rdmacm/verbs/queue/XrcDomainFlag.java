// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/** How an XRC domain is opened: flags of open(2), see ibv_open_xrcd(3). */
public enum XrcDomainFlag {
    /** Creates the domain if none is associated with the file yet ({@code O_CREAT}). */
    CREAT(0x40),
    /** With {@link #CREAT}: fails if a domain is associated with the file already ({@code O_EXCL}). */
    EXCL(0x80);

    private final int bit;

    XrcDomainFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant, which is the same on all supported architectures} */
    public int bit() {
        return bit;
    }
}
