// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.jfr;

import java.util.Set;
import java.util.stream.Collectors;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;

/** A registration of memory. */
@Name("io.rdmacm.MemoryRegistration")
@Label("Memory Registration")
@Category("RDMA")
@Description("Memory was registered with a device; the duration is that of the call of libibverbs")
final class RegistrationEvent extends Event {
    // asks the recorder without creating an event
    private static final RegistrationEvent PROBE = new RegistrationEvent();

    @Label("Address")
    @Description("The address of the first byte for the device")
    @MemoryAddress
    private long address;
    @Label("Length")
    @DataAmount
    private long length;
    @Label("Access")
    @Description("The access flags, in alphabetical order")
    private String access;

    static Object start() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        RegistrationEvent event = new RegistrationEvent();
        event.begin();
        return event;
    }

    static void finish(Object started, long address, long length, Set<? extends Enum<?>> access) {
        RegistrationEvent event = (RegistrationEvent) started;
        event.end();
        if (event.shouldCommit()) {
            event.address = address;
            event.length = length;
            event.access = access.stream().map(Enum::name).sorted().collect(Collectors.joining(" "));
            event.commit();
        }
    }
}
