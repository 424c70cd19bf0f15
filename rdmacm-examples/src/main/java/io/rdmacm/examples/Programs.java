// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.util.List;
import java.util.Optional;

import io.rdmacm.examples.cm.CmTime;
import io.rdmacm.examples.cm.Mckey;
import io.rdmacm.examples.cm.RdmaClient;
import io.rdmacm.examples.cm.RdmaServer;
import io.rdmacm.examples.cm.RdmaXclient;
import io.rdmacm.examples.cm.RdmaXserver;
import io.rdmacm.examples.cm.Ucmatose;
import io.rdmacm.examples.cm.Udaddy;
import io.rdmacm.examples.echo.Echo;
import io.rdmacm.examples.eventserver.EventClient;
import io.rdmacm.examples.eventserver.EventServer;
import io.rdmacm.examples.grpc.GrpcClient;
import io.rdmacm.examples.grpc.GrpcServer;
import io.rdmacm.examples.kvstore.KvLoad;
import io.rdmacm.examples.kvstore.KvServer;
import io.rdmacm.examples.manual.ApmExample;
import io.rdmacm.examples.manual.DcExample;
import io.rdmacm.examples.manual.MulticastExample;
import io.rdmacm.examples.manual.RcExample;
import io.rdmacm.examples.manual.SrqExample;
import io.rdmacm.examples.manual.UmrExample;
import io.rdmacm.examples.netty.HttpServer;
import io.rdmacm.examples.rping.Rping;
import io.rdmacm.examples.stream.Rcopy;
import io.rdmacm.examples.stream.Riostream;
import io.rdmacm.examples.stream.Rstream;
import io.rdmacm.examples.valkey.ValkeyCli;
import io.rdmacm.examples.valkey.ValkeyLoad;
import io.rdmacm.examples.verbs.EfaPingpong;
import io.rdmacm.examples.verbs.IbvAsyncwatch;
import io.rdmacm.examples.verbs.IbvDevices;
import io.rdmacm.examples.verbs.IbvDevinfo;
import io.rdmacm.examples.verbs.IbvRcPingpong;
import io.rdmacm.examples.verbs.IbvSrqPingpong;
import io.rdmacm.examples.verbs.IbvUcPingpong;
import io.rdmacm.examples.verbs.IbvUdPingpong;

/**
 * The programs by their names. A class is loaded when its program is asked for, because picocli takes longer to read
 * the options of all programs than most of them run.
 */
final class Programs {
    // in the order of the help
    private static final List<String> NAMES = List.of(
            "rping", "ucmatose", "udaddy", "mckey", "rdma_client", "rdma_server", "rdma_xclient", "rdma_xserver",
            "cmtime", "rstream", "riostream", "rcopy", "echo", "ibv_devices", "ibv_devinfo", "ibv_asyncwatch",
            "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "efa_pingpong",
            "rc_example", "multicast_example", "srq_example", "apm_example", "dc_example", "umr_example",
            "event_server", "event_client", "kv_server", "kv_load", "http_server", "grpc_server", "grpc_client",
            "valkey_cli", "valkey_load");

    private Programs() {
    }

    /** Returns the class of all programs. */
    static List<Class<?>> all() {
        return NAMES.stream().<Class<?>>map(name -> named(name).orElseThrow()).toList();
    }

    /** Returns the class of a program; empty if there is none of that name. */
    static Optional<Class<?>> named(String name) {
        return Optional.ofNullable(switch (name) {
            case "rping" -> Rping.class;
            case "ucmatose" -> Ucmatose.class;
            case "udaddy" -> Udaddy.class;
            case "mckey" -> Mckey.class;
            case "rdma_client" -> RdmaClient.class;
            case "rdma_server" -> RdmaServer.class;
            case "rdma_xclient" -> RdmaXclient.class;
            case "rdma_xserver" -> RdmaXserver.class;
            case "cmtime" -> CmTime.class;
            case "rstream" -> Rstream.class;
            case "riostream" -> Riostream.class;
            case "rcopy" -> Rcopy.class;
            case "echo" -> Echo.class;
            case "ibv_devices" -> IbvDevices.class;
            case "ibv_devinfo" -> IbvDevinfo.class;
            case "ibv_asyncwatch" -> IbvAsyncwatch.class;
            case "ibv_rc_pingpong" -> IbvRcPingpong.class;
            case "ibv_uc_pingpong" -> IbvUcPingpong.class;
            case "ibv_ud_pingpong" -> IbvUdPingpong.class;
            case "ibv_srq_pingpong" -> IbvSrqPingpong.class;
            case "efa_pingpong" -> EfaPingpong.class;
            case "rc_example" -> RcExample.class;
            case "multicast_example" -> MulticastExample.class;
            case "srq_example" -> SrqExample.class;
            case "apm_example" -> ApmExample.class;
            case "dc_example" -> DcExample.class;
            case "umr_example" -> UmrExample.class;
            case "event_server" -> EventServer.class;
            case "event_client" -> EventClient.class;
            case "kv_server" -> KvServer.class;
            case "kv_load" -> KvLoad.class;
            case "http_server" -> HttpServer.class;
            case "grpc_server" -> GrpcServer.class;
            case "grpc_client" -> GrpcClient.class;
            case "valkey_cli" -> ValkeyCli.class;
            case "valkey_load" -> ValkeyLoad.class;
            default -> null;
        });
    }
}
