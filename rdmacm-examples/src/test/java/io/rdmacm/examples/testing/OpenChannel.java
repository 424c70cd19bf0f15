// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;

import io.rdmacm.core.EventChannel;
import io.rdmacm.verbs.error.NativeLibraryException;

/** A program that opens an event channel, as every program on librdmacm does first, and prints how that ended. */
public final class OpenChannel {
    private OpenChannel() {
    }

    /** Takes no arguments. */
    public static void main(String[] args) {
        try (EventChannel channel = EventChannel.open()) {
            System.out.println("opened " + channel);
        } catch (NativeLibraryException e) {
            System.out.println("NativeLibraryException of " + e.library() + ": " + e.getMessage());
        } catch (IOException e) {
            System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }
}
