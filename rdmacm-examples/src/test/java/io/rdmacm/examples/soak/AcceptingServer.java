// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;

/** A server with a thread that accepts, and one for each client. */
final class AcceptingServer<T extends AutoCloseable> implements Layer.Server {
    private final Worker worker;
    private final AutoCloseable listener;
    private final InetSocketAddress address;
    private final Acceptor<T> acceptor;
    private final Service<T> service;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    AcceptingServer(Worker worker, AutoCloseable listener, InetSocketAddress address, Acceptor<T> acceptor,
            Service<T> service) {
        this.worker = worker;
        this.listener = listener;
        this.address = address;
        this.acceptor = acceptor;
        this.service = service;
        threads.execute(this::acceptAll);
    }

    /** Waits for the next client. */
    @FunctionalInterface
    interface Acceptor<T> {
        T accept() throws IOException, InterruptedException;
    }

    /** Serves a client to its end. */
    @FunctionalInterface
    interface Service<T> {
        void serve(T client) throws Exception;
    }

    private void acceptAll() {
        try {
            while (true) {
                try {
                    begin(acceptor.accept());
                } catch (RdmaTimeoutException e) {
                    // Nobody has come.
                }
            }
        } catch (RdmaClosedException | InterruptedException e) {
            // The server is closed.
        } catch (Exception e) {
            worker.failed(e);
        }
    }

    private void begin(T client) throws Exception {
        try {
            threads.execute(() -> serve(client));
        } catch (RejectedExecutionException e) {
            client.close();
        }
    }

    private void serve(T client) {
        try (client) {
            service.serve(client);
        } catch (InterruptedException e) {
            // This server is closed.
        } catch (RdmaException e) {
            // Whatever a peer does, it is not what the operating system refuses, nor a want of time.
            if (e.errno() != 0 || e instanceof RdmaTimeoutException) {
                worker.failed(e);
            }
        } catch (Exception e) {
            worker.failed(e);
        }
    }

    @Override
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() throws IOException {
        try {
            listener.close();
        } catch (Exception e) {
            throw new IOException(e);
        }
        threads.shutdownNow();
        threads.close();
    }
}
