// SPDX-License-Identifier: Apache-2.0
// Runs with org.apache.tomcat.embed:tomcat-embed-core:11.0.27

import java.io.IOException;
import java.nio.file.Files;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;

/** Tomcat's HTTP server. */
public final class Tomcat implements Program {
    public static void main(String[] arguments) throws Exception {
        Program.run(new Tomcat(), arguments);
    }

    @Override
    public int serve(String address) throws Exception {
        var server = new org.apache.catalina.startup.Tomcat();
        server.setBaseDir(Files.createTempDirectory("tomcat").toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", address);
        server.setConnector(connector);
        Context context = server.addContext("", null);
        org.apache.catalina.startup.Tomcat.addServlet(context, "echo", new Echo()).addMapping("/");
        server.start();
        return connector.getLocalPort();
    }

    @Override
    public Client client(String address, int port) throws Exception {
        return Program.http(address, port);
    }

    private static final class Echo extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            byte[] body = request.getInputStream().readAllBytes();
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }
}
