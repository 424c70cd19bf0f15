// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines of the programs: wrong arguments and --help, without a device. */
class OptionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "doctor | --json -d --ib-dev= --no-loopback",
        "rping | -s -c -a -C -S -p -I -P -q -v -V -d", "ucmatose | -s -b -f -P -c -C -S -t -p -a -m",
        "udaddy | -s -b -c -C -S -t -p -P -f", "mckey | -m -M -s -b -c -C -S -p -o -l", "rdma_client | -s -p",
        "rdma_server | -s -p", "rdma_xclient | -s -p -c", "rdma_xserver | -p -c", "cmtime | -s -b -c -p -r -t",
        "rstream | -s -b -f -B -i -I -C -S -p -k -T", "riostream | -s -b -f -B -i -I -C -S -p -T", "rcopy | -p",
        "ibv_rc_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -r --rx-depth= -n --iters="
                + " -l --sl= -e --events -g --gid-idx= -o --odp -O --iodp -P --prefetch -t --ts -c --chk -j --dm"
                + " -N --new_send -U --allow-cc-unprotected",
        "ibv_uc_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -r --rx-depth= -n --iters="
                + " -l --sl= -e --events -g --gid-idx= -c --chk",
        "ibv_ud_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -r --rx-depth= -n --iters= -l --sl="
                + " -e --events -g --gid-idx= -c --chk",
        "ibv_srq_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -q --num-qp= -r --rx-depth="
                + " -n --iters= -l --sl= -e --events -o --odp -g --gid-idx= -c --chk",
        "ibv_devinfo | -d --ib-dev= -i --ib-port= -l --list -v --verbose", "ibv_asyncwatch | -d --ib-dev= -h --help",
        "ibv_devices | -h --help", "efa_pingpong | -d", "kv_server | -a", "kv_client | -a"})
    void helpShowsTheOptionsOfCAndAnExample(String name, String options) throws Exception {
        String help = CommandLines.help(name);
        for (String option : options.split(" ")) {
            assertThat(help).containsPattern("(?m)(^ +|, )" + option + (option.endsWith("=") ? "" : "[ ,=\\r\\n]"));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "doctor extra | Unmatched argument at index 1: 'extra'",
        "rping | either -s or -c: be the server or the client",
        "rping -s -c | either -s or -c: be the server or the client",
        "rping -c | a client needs the server's address: -a ADDR",
        "rping -ca 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "rping -cPa 127.0.0.1 | -P is for servers", "rping -s --wait-server 1 | --wait-server is for clients",
        "rping -ca 127.0.0.1 --wait-server -1 | Invalid time to wait -1",
        "rping -s -S 22 | Invalid size 22 (valid range is 23 to 65535)",
        "rping -s -S x | Invalid value for option '-S': 'x' is not an int",
        "rping -s -C -1 | Invalid count -1", "rping -s -p 65536 | Invalid port 65536",
        "rping -s -a no.such.host.invalid | Invalid value for option '-a': there is no host or IP address"
                + " 'no.such.host.invalid'",
        "rping -s -a | Missing required parameter for option '-a' (ADDR)",
        "ucmatose -x | Unknown option: '-x'", "ucmatose extra | Unmatched argument at index 1: 'extra'",
        "ucmatose -c 0 | Invalid number of connections 0", "ucmatose -C -1 | Invalid number of messages -1",
        "ucmatose -S -1 | Invalid size -1", "ucmatose -P udp | Invalid port space UDP: tcp or ib",
        "ucmatose -t 256 | Invalid type of service 256 (valid range is 0 to 255)",
        "ucmatose -t 0xg | Invalid value for option '-t': '0xg' is not a number",
        "ucmatose -a 32 | Invalid acknowledgement timeout 32 (valid range is 0 to 31)",
        "ucmatose --timeout 0 | Invalid timeout 0",
        "udaddy -P tcp | Invalid port space TCP: udp (0x111) or ipoib (2)",
        "udaddy -p 0x106 | Invalid port space 262: udp (0x111) or ipoib (2)",
        "mckey | either -m or -M: the group to join", "mckey -m 239.1.2.3 -M ff0e::1 | either -m or -M: the group to"
                + " join",
        "mckey -M ff0e::1 | unmapped multicast address requires binding to source address",
        "mckey -m 239.1.2.3 --pause -1 | Invalid pause -1", "mckey -m 239.1.2.3 -c 0 | Invalid number of connections 0",
        "mckey -m 239.1.2.3 -p 7 | Invalid port space 7: udp (0x111) or ipoib (2)",
        "rdma_client -x | Unknown option: '-x'", "rdma_server -p | Missing required parameter for option '-p' (PORT)",
        "rdma_xclient -c y | Invalid type 'y': r for RC or x for XRC",
        "rdma_xserver -c y | Invalid type 'y': r for RC or x for XRC",
        "cmtime -c 0 | Invalid number of connections 0", "cmtime -r -1 | Invalid number of retries -1",
        "cmtime -t 0 | Invalid timeout 0",
        "rstream -T x | Invalid value for option '-T' (TEST): 'x' is no test option",
        "rstream -f gid | Invalid format gid: streams have IP addresses",
        "rstream -f mac | Invalid format mac: name, ip or ipv6",
        "rstream -f ip -s localhost | there is no IP address 'localhost'",
        "rstream -B 100 | Invalid buffer size 100 (valid range is 4096 to 536870912)",
        "rstream -i 65535 | Invalid inline size 65535 (valid range is 0 to 65534)",
        "rstream -I 0 | Invalid number of iterations 0", "rstream -C 0 | Invalid number of transfers 0",
        "rstream -S 0 | Invalid size 0 (valid range is 1 to 536870912, or all)",
        "rstream -S some | Invalid size some (valid range is 1 to 536870912, or all)",
        "rstream -s 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "rstream -k -1 | Invalid keep-alive time -1", "riostream -k | Unknown option: '-k'",
        "riostream -T s | riostream has no test option SOCKETS",
        "riostream -T fork | riostream has no test option FORK",
        "rcopy file | the server is missing: SERVER[:DESTINATION]",
        "rcopy file 127.0.0.1: | the name of the destination is empty",
        "rcopy file 127.0.0.1 -p 0 | a client needs the server's port: -p PORT",
        "rcopy file no.such.host.invalid | there is no host or IP address 'no.such.host.invalid'",
        "ibv_rc_pingpong -p 65536 | Invalid port 65536",
        "ibv_rc_pingpong -p 0 host | a client needs the server's port: -p PORT",
        "ibv_rc_pingpong -i 256 | Invalid port of a device 256", "ibv_uc_pingpong -i 0 | Invalid port of a device 0",
        "ibv_rc_pingpong -s 0 | Invalid size 0", "ibv_ud_pingpong -s 0 | Invalid size 0",
        "ibv_rc_pingpong -m 1000 | Invalid MTU 1000", "ibv_uc_pingpong -m 128 | Invalid MTU 128",
        "ibv_rc_pingpong -m 8192 | Invalid MTU 8192", "ibv_rc_pingpong -r 0 | Invalid number of receives 0",
        "ibv_ud_pingpong -n 0 | Invalid number of iterations 0",
        "ibv_rc_pingpong -l 16 | Invalid service level 16", "ibv_rc_pingpong -g -2 | Invalid GID index -2",
        "ibv_ud_pingpong -g 256 | Invalid GID index 256", "ibv_rc_pingpong --timeout 0 | Invalid timeout 0",
        "ibv_srq_pingpong -q 256 | Invalid number of connections 256",
        "ibv_srq_pingpong -q 0 | Invalid number of connections 0",
        "ibv_srq_pingpong -q 9 -r 8 | rx_depth 8 is too small for 9 QPs -- must have at least one receive per QP.",
        "ibv_rc_pingpong -o -j | DM memory region can't be on demand",
        "ibv_rc_pingpong -O -j | DM memory region can't be on demand",
        "ibv_rc_pingpong -P | prefetch is valid only with on-demand memory region",
        "ibv_rc_pingpong -U | -U needs ibv_alloc_buf of rdma-core 64, this library is made for 44",
        "ibv_rc_pingpong one two | Unmatched argument at index 2: 'two'",
        "ibv_uc_pingpong -N | Unknown option: '-N'", "ibv_devinfo -i 0 | Invalid port 0",
        "ibv_asyncwatch -d | Missing required parameter for option '--ib-dev' (DEVICE)",
        "kv_server -a 127.0.0.1 --slots 12 | Invalid number of slots 12 (a power of two from 8 to 16777216)",
        "kv_server -a 0.0.0.0 | an address of an RDMA device is needed: -a ADDR",
        "kv_server -a 127.0.0.1 -S 0 | Invalid value size 0 (valid range is 1 to 65535)",
        "kv_client -a 127.0.0.1 put key | put KEY VALUE, or get KEY",
        "kv_client -a 127.0.0.1 delete key | put KEY VALUE, or get KEY"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }
}
