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
        {"rping", "rping.Rping"},
        {"ucmatose", "cm.Ucmatose"},
        {"udaddy", "cm.Udaddy"},
        {"mckey", "cm.Mckey"},
        {"rdma_client", "cm.RdmaClient"},
        {"rdma_server", "cm.RdmaServer"},
        {"rdma_xclient", "cm.RdmaXclient"},
        {"rdma_xserver", "cm.RdmaXserver"},
        {"cmtime", "cm.CmTime"},
        {"rstream", "stream.Rstream"},
        {"riostream", "stream.Riostream"},
        {"rcopy", "stream.Rcopy"},
        {"ibv_devices", "verbs.IbvDevices"},
        {"ibv_devinfo", "verbs.IbvDevinfo"},
        {"ibv_asyncwatch", "verbs.IbvAsyncwatch"},
        {"ibv_rc_pingpong", "verbs.IbvRcPingpong"},
        {"ibv_uc_pingpong", "verbs.IbvUcPingpong"},
        {"ibv_ud_pingpong", "verbs.IbvUdPingpong"},
        {"ibv_srq_pingpong", "verbs.IbvSrqPingpong"},
        {"efa_pingpong", "verbs.EfaPingpong"},
        {"rc_example", "verbs.RcExample"},
        {"echo", "echo.Echo"},
        {"kv_server", "kvstore.KvServer"},
        {"kv_client", "kvstore.KvClient"},
        {"http_server", "netty.HttpServer"},
        {"grpc_server", "grpc.GrpcServer"},
        {"grpc_client", "grpc.GrpcClient"}};

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
