// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.EOFException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Outcome;

/**
 * One of the two processes of the Java side: it has one end of what is measured. It reads calls from standard input,
 * and answers each on standard output with what the call returns, or a {@link Failure}. It ends with its input.
 */
final class Peer {
    private End end;

    private Peer() {
    }

    /** What the controlling process has this one do. */
    @FunctionalInterface
    interface Call extends Serializable {
        Serializable in(Peer peer) throws Exception;
    }

    /**
     * The answer to a call that failed; the stack trace is on standard error.
     *
     * @param message what went wrong
     */
    record Failure(String message) implements Serializable {
    }

    /** Answers calls until the input ends. */
    public static void main(String[] args) throws Exception {
        Peer peer = new Peer();
        try (ObjectOutputStream out = new ObjectOutputStream(System.out)) {
            // what is printed must not come between the answers
            System.setOut(System.err);
            out.flush();
            ObjectInputStream in = new ObjectInputStream(System.in);
            while (true) {
                out.writeObject(peer.answer((Call) in.readObject()));
                out.flush();
            }
        } catch (EOFException e) {
            peer.close();
        }
    }

    private Serializable answer(Call call) {
        try {
            return call.in(this);
        } catch (Exception e) {
            e.printStackTrace();
            return new Failure(e.toString());
        }
    }

    Serializable open(End.Opener opener, End.Load load, boolean client) throws Exception {
        close();
        end = opener.open(load, client);
        return end.address();
    }

    Serializable connect(Serializable peer) throws Exception {
        end.connect(peer);
        return null;
    }

    Outcome run() throws Exception {
        return end.run();
    }

    Serializable close() throws Exception {
        End closed = end;
        end = null;
        if (closed != null) {
            closed.close();
        }
        return null;
    }
}
