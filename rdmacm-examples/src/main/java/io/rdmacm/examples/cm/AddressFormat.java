// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.core.AddressInfo;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;

/** What the addresses on the command line are: the option -f. */
enum AddressFormat {
    /** Names of hosts, or IP addresses. */
    NAME,
    /** IP addresses of both kinds; no name is looked up. */
    IP,
    /** The same. */
    IPV6,
    /** InfiniBand GIDs. */
    GID;

    /** Where a server listens. */
    AddressInfo toListen(String node, String service, PortSpace space) throws RdmaException {
        return resolve(node, service, true, space, null);
    }

    /** How a client gets to its server; from a given address of this machine unless that is null. */
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
