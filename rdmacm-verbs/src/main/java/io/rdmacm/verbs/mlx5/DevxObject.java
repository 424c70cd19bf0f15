// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * An object of the device that is made by a command in the format of its firmware ({@code struct mlx5dv_devx_obj},
 * mlx5dv_devx_obj_create(3)): the door to everything that has no function. The formats are those of the vendor's
 * programmer's reference manual. All methods are thread-safe.
 *
 * <p>What a command says about other objects, only the program knows: they must be closed after this one.
 */
@CFunction("mlx5dv_devx_obj_destroy")
public final class DevxObject extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("mlx5dv_devx_obj_create");
    private static final NativeFunction QUERY = NativeFunction.of("mlx5dv_devx_obj_query");
    private static final NativeFunction MODIFY = NativeFunction.of("mlx5dv_devx_obj_modify");
    private static final NativeFunction DESTROY = NativeFunction.of("mlx5dv_devx_obj_destroy");

    private final byte[] answer;

    private DevxObject(Lifetime life, long address, byte[] answer) {
        super(life, address, 0);
        this.answer = answer;
    }

    /**
     * Creates an object ({@code mlx5dv_devx_obj_create}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param command the command, in the format of the device
     * @param answerBytes the size of the answer
     * @return the new object
     * @throws IllegalArgumentException if the command or the answer is shorter than the 16 bytes of any command, or
     *         longer than 64 KiB
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException EREMOTEIO if the firmware refuses the command; EPERM or EINVAL if the kernel does
     */
    @CFunction("mlx5dv_devx_obj_create")
    public static DevxObject create(VerbsContext context, byte[] command, int answerBytes) throws RdmaException {
        DevxCommand.check(command, answerBytes);
        try (Arena outer = Arena.ofConfined()) {
            long in = DevxCommand.copy(command, outer);
            long out = outer.allocate(answerBytes, Long.BYTES).address();
            return Lifetime.make(DevxObject.class, List.of(VERBS.lifeOf(context)),
                    arena -> Check.pointer(CREATE,
                            CREATE.callLong(VERBS.addressOf(context), in, command.length, out, answerBytes)),
                    DESTROY::free, (life, address) -> new DevxObject(life, address, Memory.bytes(out, answerBytes)));
        }
    }

    /** {@return the answer to the command that created this object, with the number of the object} */
    public byte[] answer() {
        life().ensureOpen();
        return answer.clone();
    }

    /**
     * Queries this object ({@code mlx5dv_devx_obj_query}).
     *
     * @param command the command, in the format of the device
     * @param answerBytes the size of the answer
     * @return the answer
     * @throws IllegalArgumentException as for {@link #create}
     * @throws RdmaException as for {@link #create}
     */
    @CFunction("mlx5dv_devx_obj_query")
    public byte[] query(byte[] command, int answerBytes) throws RdmaException {
        return call(QUERY, command, answerBytes);
    }

    /**
     * Modifies this object ({@code mlx5dv_devx_obj_modify}).
     *
     * @param command the command, in the format of the device
     * @param answerBytes the size of the answer
     * @return the answer
     * @throws IllegalArgumentException as for {@link #create}
     * @throws RdmaException as for {@link #create}
     */
    @CFunction("mlx5dv_devx_obj_modify")
    public byte[] modify(byte[] command, int answerBytes) throws RdmaException {
        return call(MODIFY, command, answerBytes);
    }

    private byte[] call(NativeFunction function, byte[] command, int answerBytes) throws RdmaException {
        life().enter();
        try {
            return DevxCommand.call(function, address(), command, answerBytes);
        } finally {
            life().leave();
        }
    }
}
