// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.AsyncEventType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command {@code ibv_asyncwatch}, as ibv_asyncwatch(1): prints the asynchronous events of a device. */
@Command(name = "ibv_asyncwatch", header = "Prints the asynchronous events of a device.",
        description = "Prints a line per event of the device and its ports, until it is interrupted.",
        footer = {"%nFor example, to see the link of rxe0 go down and up:", "  rdmacm ibv_asyncwatch -d rxe0"})
final class IbvAsyncwatch extends ExampleProgram {
    @Mixin
    private DeviceChoice choice;

    @Override
    protected void run() throws IOException, InterruptedException {
        Device device = choice.one();
        try (VerbsContext context = device.open()) {
            print(device.name() + ": async event FD " + context.asyncFd());
            while (true) {
                // closing the event acknowledges it
                try (AsyncEvent event = context.getAsyncEvent(FOREVER)) {
                    print("  event_type " + name(event.type()) + " (" + event.type().value() + "), port "
                            + port(event));
                }
            }
        }
    }

    /** Returns the name of an event. Events of queues are unexpected, since the program creates none. */
    private static String name(AsyncEventType type) {
        return switch (type.source()) {
            case PORT, DEVICE -> type == AsyncEventType.OTHER ? "unexpected" : "IBV_EVENT_" + type;
            default -> "unexpected";
        };
    }

    private static int port(AsyncEvent event) {
        return event.type().source() == AsyncEventType.Source.PORT ? event.port() : 0;
    }
}
