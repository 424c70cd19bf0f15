// SPDX-License-Identifier: Apache-2.0

/**
 * Waiting for events and completions. No thread ever blocks inside a C library: file descriptors are non-blocking.
 * Platform threads wait in poll(2), together with an eventfd that wakes them. Virtual threads park, and one daemon
 * thread waits for the files of all of them with epoll(7). Exported to io.rdmacm.core only.
 *
 * <h2>What lives here</h2>
 * {@link io.rdmacm.verbs.internal.wait.Wait}, the one way in which threads wait for a source, with its invariants. On
 * it stand the events of a channel that several threads share ({@link io.rdmacm.verbs.internal.wait.EventSource}) and
 * the completions of one queue ({@link io.rdmacm.verbs.internal.wait.CompletionWait}). Under it lies where a thread
 * sleeps ({@link io.rdmacm.verbs.internal.wait.Poller}). A C function that may block, such as the lookup of a name, is
 * called with {@link io.rdmacm.verbs.internal.wait.BlockingCall}.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.verbs.internal.wait.Wait}, {@link io.rdmacm.verbs.internal.wait.EventSource},
 * {@link io.rdmacm.verbs.internal.wait.Deadline}.
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.verbs.internal.ffi} and {@link io.rdmacm.verbs.error}.
 */
package io.rdmacm.verbs.internal.wait;
