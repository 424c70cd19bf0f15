// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The programs by their names. A class is loaded when its program is asked for, because picocli takes longer to read
 * the options of all programs than most of them run.
 */
final class Programs {
    // in the order of the help
    private static final String[][] CLASSES = {
        {"doctor", "doctor.Doctor"},
        {"rping", "rping.Rping"},
        {"ucmatose", "cm.Ucmatose"},
        {"udaddy", "cm.Udaddy"},
        {"mckey", "cm.Mckey"},
        {"rdma_client", "cm.SynchronousProgram$Client"},
        {"rdma_server", "cm.SynchronousProgram$Server"},
        {"rdma_xclient", "cm.SynchronousProgram$ExtendedClient"},
        {"rdma_xserver", "cm.SynchronousProgram$ExtendedServer"},
        {"cmtime", "cm.CmTime"},
        {"rstream", "stream.Rstream"},
        {"riostream", "stream.Riostream"},
        {"rcopy", "stream.Rcopy"},
        {"ibv_devices", "verbs.IbvDevices"},
        {"ibv_devinfo", "verbs.IbvDevinfo"},
        {"ibv_asyncwatch", "verbs.IbvAsyncwatch"},
        {"ibv_rc_pingpong", "verbs.IbvRcPingpong"},
        {"ibv_uc_pingpong", "verbs.ConnectedPingPong$Unreliable"},
        {"ibv_ud_pingpong", "verbs.IbvUdPingpong"},
        {"ibv_srq_pingpong", "verbs.IbvSrqPingpong"},
        {"efa_pingpong", "verbs.EfaPingpong"},
        {"kv_server", "kvstore.KvServer"},
        {"kv_client", "kvstore.KvClient"}};

    private Programs() {
    }

    /** Returns the class of all programs. */
    static List<Class<?>> all() {
        return Arrays.stream(CLASSES).<Class<?>>map(program -> load(program[1])).toList();
    }

    /** Returns the class of a program; empty if there is none of that name. */
    static Optional<Class<?>> named(String name) {
        return Arrays.stream(CLASSES).filter(program -> program[0].equals(name)).findFirst()
                .map(program -> load(program[1]));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(Programs.class.getPackageName() + "." + name);
        } catch (ClassNotFoundException e) {
            throw new LinkageError(name, e);
        }
    }
}
