// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.examples.testing.CommandLines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines of the programs of libibverbs: wrong arguments and --help, without a device. */
class VerbsOptionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "ibv_rc_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -r --rx-depth= -n --iters="
                + " -l --sl= -e --events -g --gid-idx= -o --odp -O --iodp -P --prefetch -t --ts -c --chk -j --dm"
                + " -N --new_send -U --allow-cc-unprotected",
        "ibv_uc_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -r --rx-depth= -n --iters="
                + " -l --sl= -e --events -g --gid-idx= -c --chk",
        "ibv_ud_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -r --rx-depth= -n --iters= -l --sl="
                + " -e --events -g --gid-idx= -c --chk",
        "ibv_srq_pingpong | -p --port= -d --ib-dev= -i --ib-port= -s --size= -m --mtu= -q --num-qp= -r --rx-depth="
                + " -n --iters= -l --sl= -e --events -o --odp -g --gid-idx= -c --chk",
        "ibv_devinfo | -d --ib-dev= -i --ib-port= -l --list -v --verbose",
        "ibv_asyncwatch | -d --ib-dev= -h --help",
        "ibv_devices | --help"})
    void helpShowsTheOptionsOfTheCProgramAndAnExample(String name, String options) throws Exception {
        assertThat(CommandLines.help(name)).contains(options.split(" "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "ibv_rc_pingpong -p 65536 | Invalid port 65536", "ibv_rc_pingpong -p 0 host | a client needs the server's port:"
                + " -p PORT",
        "ibv_rc_pingpong -i 0 | Invalid port of a device 0", "ibv_rc_pingpong -i 256 | Invalid port of a device 256",
        "ibv_rc_pingpong -s 0 | Invalid size 0", "ibv_ud_pingpong -s 0 | Invalid size 0",
        "ibv_rc_pingpong -m 1000 | Invalid MTU 1000", "ibv_uc_pingpong -m 128 | Invalid MTU 128",
        "ibv_rc_pingpong -m 8192 | Invalid MTU 8192",
        "ibv_rc_pingpong -r 0 | Invalid number of receives 0", "ibv_ud_pingpong -n 0 | Invalid number of iterations 0",
        "ibv_rc_pingpong -l 16 | Invalid service level 16", "ibv_rc_pingpong -g -2 | Invalid GID index -2",
        "ibv_rc_pingpong -g 256 | Invalid GID index 256", "ibv_rc_pingpong --timeout 0 | Invalid timeout 0",
        "ibv_srq_pingpong -q 256 | Invalid number of connections 256",
        "ibv_srq_pingpong -q 0 | Invalid number of connections 0",
        "ibv_srq_pingpong -q 9 -r 8 | rx_depth 8 is too small for 9 QPs -- must have at least one receive per QP.",
        "ibv_rc_pingpong -o -j | DM memory region can't be on demand",
        "ibv_rc_pingpong -O -j | DM memory region can't be on demand",
        "ibv_rc_pingpong -P | prefetch is valid only with on-demand memory region",
        "ibv_rc_pingpong -U | -U needs ibv_alloc_buf of rdma-core 64, this library is made for 44",
        "ibv_rc_pingpong one two | Unmatched argument at index 2: 'two'",
        "ibv_uc_pingpong -N | Unknown option: '-N'",
        "ibv_devinfo -i 0 | Invalid port 0", "ibv_devinfo -x | Unknown option: '-x'",
        "ibv_asyncwatch -d | Missing required parameter for option '--ib-dev' (DEVICE)"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }
}
