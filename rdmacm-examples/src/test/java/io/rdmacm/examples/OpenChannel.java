// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.io.IOException;

import io.rdmacm.core.EventChannel;
import io.rdmacm.verbs.error.NativeLibraryException;

/** The first call of a program on this library; prints the exception that it ends with. */
final class OpenChannel {
    private OpenChannel() {
    }

    /** No arguments. */
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
