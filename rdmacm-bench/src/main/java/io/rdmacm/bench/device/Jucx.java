// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.MessageEnd;
import io.rdmacm.bench.thirdparty.NamedFiles;
import io.rdmacm.bench.thirdparty.SourceLoader;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.error.RdmaException;

/** jucx, the Java binding of UCX, if the environment names its jar. */
final class Jucx {
    /** The variable with the path of the jar, which brings its native library. */
    static final String JAR = "RDMACM_BENCH_JUCX_JAR";

    private static final int MAX_GIDS = 256;

    private Jucx() {
    }

    /**
     * {@return the jar; empty if the environment does not name it}
     *
     * @param environment the variables
     * @throws IllegalArgumentException if there is no such file
     */
    static Optional<Path> named(Map<String, String> environment) {
        return NamedFiles.of(environment, List.of(JAR)).map(files -> files.get(JAR));
    }

    /**
     * {@return variables that make UCX use a port, by verbs only: not the memory that the processes share}
     *
     * @param port the port
     */
    static Map<String, String> environment(Port port) throws RdmaException {
        Map<String, String> variables = new HashMap<>(Map.of("UCX_TLS", "rc_verbs,ud_verbs",
                "UCX_NET_DEVICES", port.device().name() + ":" + port.number(), "UCX_WARN_UNUSED_ENV_VARS", "n",
                // the process answers on standard output
                "UCX_LOG_FILE", "stderr"));
        // over SoftRoCE, UCX 1.13 does not connect with an IPv4 address
        try (VerbsContext context = port.device().open()) {
            context.queryGidTable(MAX_GIDS).stream().filter(entry -> entry.port() == port.number()
                            && entry.type() == GidType.ROCE_V2 && !entry.gid().isIpv4()).mapToInt(GidEntry::index).max()
                    .ifPresent(index -> variables.put("UCX_IB_GID_INDEX", Integer.toString(index)));
        }
        return variables;
    }

    /** Once in a process, as it loads a native library. */
    private static final class Loaded {
        static final Constructor<?> END = load();

        private static Constructor<?> load() {
            Path jar = named(System.getenv()).orElseThrow(() -> new IllegalArgumentException(JAR + " is not set"));
            try {
                return new SourceLoader(jar, Map.of()).compile(Jucx.class, "JucxEnd")
                        .getConstructor(int.class, int.class, int.class, Runnable.class);
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /**
     * Creates an end.
     *
     * @param size the size of the largest message
     * @param depth how many sends may be in flight
     * @param receives how many receives are posted
     * @param idle called when there is nothing to do
     */
    static MessageEnd open(int size, int depth, int receives, Runnable idle) throws IOException {
        try {
            return (MessageEnd) Loaded.END.newInstance(size, depth, receives, idle);
        } catch (ReflectiveOperationException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException("jucx cannot be used: " + cause.toString().lines().findFirst().orElseThrow(), e);
        }
    }
}
