// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;

/** The format of the addresses on the command line: option {@code -f}. */
enum AddressFormat {
    /** Host names or IP addresses. */
    NAME,
    /** IPv4 or IPv6 addresses; names are not looked up. */
    IP,
    /** The same as {@link #IP}. */
    IPV6,
    /** InfiniBand GIDs. */
    GID;

    /** Resolves the address that a server listens on. */
    AddressInfo toListen(String node, String service, PortSpace space) throws RdmaException {
        return resolve(node, service, true, space, null);
    }

    /** Resolves the address of a client's server, to be reached from a local address unless that is null. */
    AddressInfo toConnect(String node, String service, PortSpace space, String from) throws RdmaException {
        AddressInfo source = from == null ? null : resolve(from, null, true, space, null);
        return resolve(node, service, false, space, source);
    }

    private AddressInfo resolve(String node, String service, boolean passive, PortSpace space, AddressInfo source)
            throws RdmaException {
        Set<AddressInfo.Flag> flags = EnumSet.noneOf(AddressInfo.Flag.class);
        if (passive) {
            flags.add(AddressInfo.Flag.PASSIVE);
        }
        if (this != NAME) {
            flags.add(AddressInfo.Flag.NUMERICHOST);
        }
        if (this == GID) {
            flags.add(AddressInfo.Flag.FAMILY);
        }
        AddressInfo.Hints hints = new AddressInfo.Hints(flags, space,
                Optional.ofNullable(source).flatMap(AddressInfo::source),
                this == GID ? Optional.of(AddressInfo.Family.IB) : Optional.empty());
        return AddressInfo.resolve(node, service, hints).getFirst();
    }
}
