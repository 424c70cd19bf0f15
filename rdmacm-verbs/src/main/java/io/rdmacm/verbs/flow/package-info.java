// SPDX-License-Identifier: Apache-2.0

/**
 * What flow rules are made of (ibv_create_flow(3), ibv_flow_action_esp(3)): matches of packet headers, actions, and the
 * attributes of {@link io.rdmacm.verbs.QueuePair#createFlow} and
 * {@link io.rdmacm.verbs.VerbsContext#createFlowActionEsp}. All of it is values: immutable, and of any thread.
 */
package io.rdmacm.verbs.flow;
