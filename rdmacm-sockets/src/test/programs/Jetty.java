// SPDX-License-Identifier: Apache-2.0
// Runs with org.eclipse.jetty:jetty-server:12.1.14

import java.nio.ByteBuffer;

import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** Jetty's HTTP server. */
public final class Jetty implements Program {
    public static void main(String[] arguments) throws Exception {
        Program.run(new Jetty(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(address);
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                ByteBuffer body = Content.Source.asByteBuffer(request);
                response.write(true, body, callback);
                return true;
            }
        });
        server.start();
        return connector.getLocalPort();
    }

    @Override
    public Client client(String address, int port) throws Exception {
        return Program.http(address, port);
    }
}
