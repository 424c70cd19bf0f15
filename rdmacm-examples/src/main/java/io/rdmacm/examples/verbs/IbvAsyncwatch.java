// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.AsyncEventType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ibv_asyncwatch}, as ibv_asyncwatch(1): prints the asynchronous events of a device. */
@Command(name = "ibv_asyncwatch", sortOptions = false, header = "Prints the asynchronous events of a device.",
        description = "Prints a line per event of the device and its ports, until it is interrupted.",
        footer = {"%nFor example, to see the link of rxe0 go down and up:", "  rdmacm ibv_asyncwatch -d rxe0"})
public final class IbvAsyncwatch implements Callable<Integer> {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    @Mixin
    private DeviceChoice choice;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public IbvAsyncwatch() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        Device device = choice.one();
        try (VerbsContext context = device.open()) {
            out.println(device.name() + ": async event FD " + context.asyncFd());
            while (true) {
                // closing the event acknowledges it
                try (AsyncEvent event = context.getAsyncEvent(FOREVER)) {
                    out.println("  event_type " + name(event.type()) + " (" + event.type().value() + "), port "
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
