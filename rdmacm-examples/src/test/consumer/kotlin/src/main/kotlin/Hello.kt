// SPDX-License-Identifier: Apache-2.0
import io.rdmacm.core.connection.ConnectionManager
import io.rdmacm.core.connection.ConnectionSettings
import io.rdmacm.core.connection.Message
import java.net.InetSocketAddress
import java.time.Duration

fun main(args: Array<String>) {
    val timeout = Duration.ofMinutes(1)
    ConnectionManager.open().use { manager ->
        manager.listen(InetSocketAddress(args[0], 0)).use { listener ->
            val connecting = manager.connectAsync(listener.address(), ConnectionSettings.defaults(), timeout)
            listener.accept(timeout).use { server ->
                connecting.get().use { client ->
                    client.send("hello from far away".toByteArray(), timeout)
                    server.receive(timeout).use { println(String(it.toArray())) }
                    // The annotations of JSpecify say that it may be null.
                    val more: Message? = server.tryReceive()
                    more?.close()
                }
            }
        }
    }
}
