// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import static io.rdmacm.verbs.queue.QueuePairAttribute.ACCESS_FLAGS;
import static io.rdmacm.verbs.queue.QueuePairAttribute.ALT_PATH;
import static io.rdmacm.verbs.queue.QueuePairAttribute.AV;
import static io.rdmacm.verbs.queue.QueuePairAttribute.CUR_STATE;
import static io.rdmacm.verbs.queue.QueuePairAttribute.DEST_QPN;
import static io.rdmacm.verbs.queue.QueuePairAttribute.EN_SQD_ASYNC_NOTIFY;
import static io.rdmacm.verbs.queue.QueuePairAttribute.MAX_DEST_RD_ATOMIC;
import static io.rdmacm.verbs.queue.QueuePairAttribute.MAX_QP_RD_ATOMIC;
import static io.rdmacm.verbs.queue.QueuePairAttribute.MIN_RNR_TIMER;
import static io.rdmacm.verbs.queue.QueuePairAttribute.PATH_MIG_STATE;
import static io.rdmacm.verbs.queue.QueuePairAttribute.PATH_MTU;
import static io.rdmacm.verbs.queue.QueuePairAttribute.PKEY_INDEX;
import static io.rdmacm.verbs.queue.QueuePairAttribute.PORT;
import static io.rdmacm.verbs.queue.QueuePairAttribute.QKEY;
import static io.rdmacm.verbs.queue.QueuePairAttribute.RATE_LIMIT;
import static io.rdmacm.verbs.queue.QueuePairAttribute.RETRY_CNT;
import static io.rdmacm.verbs.queue.QueuePairAttribute.RNR_RETRY;
import static io.rdmacm.verbs.queue.QueuePairAttribute.RQ_PSN;
import static io.rdmacm.verbs.queue.QueuePairAttribute.SQ_PSN;
import static io.rdmacm.verbs.queue.QueuePairAttribute.STATE;
import static io.rdmacm.verbs.queue.QueuePairAttribute.TIMEOUT;
import static io.rdmacm.verbs.queue.QueuePairState.ERROR;
import static io.rdmacm.verbs.queue.QueuePairState.INIT;
import static io.rdmacm.verbs.queue.QueuePairState.RESET;
import static io.rdmacm.verbs.queue.QueuePairState.RTR;
import static io.rdmacm.verbs.queue.QueuePairState.RTS;
import static io.rdmacm.verbs.queue.QueuePairState.SQD;
import static io.rdmacm.verbs.queue.QueuePairState.SQE;
import static io.rdmacm.verbs.queue.QueuePairType.RAW_PACKET;
import static io.rdmacm.verbs.queue.QueuePairType.RC;
import static io.rdmacm.verbs.queue.QueuePairType.UC;
import static io.rdmacm.verbs.queue.QueuePairType.UD;
import static io.rdmacm.verbs.queue.QueuePairType.XRC_RECV;
import static io.rdmacm.verbs.queue.QueuePairType.XRC_SEND;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * The attributes that are required and optional for each state transition of a queue pair: the tables of the InfiniBand
 * architecture specification (volume 1, 11.2.5.2), which the kernel uses too. They make it possible to report which
 * attributes are wrong, where the kernel just returns EINVAL.
 */
public final class TransitionTable {
    private static final Map<Way, Map<QueuePairType, Rule>> TABLE = new HashMap<>();
    private static final Rule NOTHING = new Rule(Set.of(), Set.of());
    // The states in which CUR_STATE has a meaning.
    private static final Set<QueuePairState> ASSUMABLE = EnumSet.of(RTR, RTS, SQD, SQE);

    static {
        for (QueuePairState state : EnumSet.range(RESET, ERROR)) {
            way(state, RESET);
            if (state != RESET) {
                way(state, ERROR);
            }
        }
        fromResetAndInit();
        fromRtr();
        fromRts();
        fromSqd();
        way(SQE, RTS).put(UD, may(CUR_STATE, QKEY));
        way(SQE, RTS).put(UC, may(CUR_STATE, ACCESS_FLAGS));
    }

    private TransitionTable() {
    }

    /**
     * The attributes of a transition.
     *
     * @param required the attributes that must be present
     * @param optional the attributes that may be present
     */
    public record Rule(Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        Rule and(QueuePairAttribute... more) {
            return new Rule(required, setOf(more));
        }
    }

    private record Way(QueuePairState from, QueuePairState to) {
    }

    private static void fromResetAndInit() {
        for (QueuePairType type : EnumSet.of(RC, UC, XRC_SEND, XRC_RECV)) {
            way(RESET, INIT).put(type, must(PKEY_INDEX, PORT, ACCESS_FLAGS));
            way(INIT, INIT).put(type, may(PKEY_INDEX, PORT, ACCESS_FLAGS));
        }
        way(RESET, INIT).put(UD, must(PKEY_INDEX, PORT, QKEY));
        way(INIT, INIT).put(UD, may(PKEY_INDEX, PORT, QKEY));
        way(RESET, INIT).put(RAW_PACKET, must(PORT));

        way(INIT, RTR).put(UD, may(PKEY_INDEX, QKEY));
        for (QueuePairType type : EnumSet.of(UC, XRC_SEND)) {
            way(INIT, RTR).put(type, must(AV, PATH_MTU, DEST_QPN, RQ_PSN).and(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX));
        }
        for (QueuePairType type : EnumSet.of(RC, XRC_RECV)) {
            way(INIT, RTR).put(type, must(AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER)
                    .and(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX));
        }
    }

    private static void fromRtr() {
        Map<QueuePairType, Rule> way = way(RTR, RTS);
        way.put(UD, must(SQ_PSN).and(CUR_STATE, QKEY));
        way.put(UC, must(SQ_PSN).and(CUR_STATE, ALT_PATH, ACCESS_FLAGS, PATH_MIG_STATE));
        Rule sender = must(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN, MAX_QP_RD_ATOMIC);
        way.put(RC, sender.and(CUR_STATE, ALT_PATH, ACCESS_FLAGS, MIN_RNR_TIMER, PATH_MIG_STATE));
        way.put(XRC_SEND, sender.and(CUR_STATE, ALT_PATH, ACCESS_FLAGS, PATH_MIG_STATE));
        way.put(XRC_RECV, must(TIMEOUT, SQ_PSN)
                .and(CUR_STATE, ALT_PATH, ACCESS_FLAGS, MIN_RNR_TIMER, PATH_MIG_STATE));
        way.put(RAW_PACKET, may(RATE_LIMIT));
    }

    private static void fromRts() {
        Map<QueuePairType, Rule> way = way(RTS, RTS);
        intoSending(way);
        way.put(RAW_PACKET, may(RATE_LIMIT));
        for (QueuePairType type : EnumSet.of(RC, UC, UD, XRC_SEND, XRC_RECV)) {
            way(RTS, SQD).put(type, may(EN_SQD_ASYNC_NOTIFY));
        }
    }

    private static void fromSqd() {
        intoSending(way(SQD, RTS));
        Map<QueuePairType, Rule> way = way(SQD, SQD);
        way.put(UD, may(PKEY_INDEX, QKEY));
        way.put(UC, may(AV, ALT_PATH, ACCESS_FLAGS, PKEY_INDEX, PATH_MIG_STATE));
        way.put(RC, may(PORT, AV, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, MAX_DEST_RD_ATOMIC, ALT_PATH,
                ACCESS_FLAGS, PKEY_INDEX, MIN_RNR_TIMER, PATH_MIG_STATE));
        way.put(XRC_SEND, may(PORT, AV, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, ALT_PATH, ACCESS_FLAGS,
                PKEY_INDEX, PATH_MIG_STATE));
        way.put(XRC_RECV, may(PORT, AV, TIMEOUT, MAX_DEST_RD_ATOMIC, ALT_PATH, ACCESS_FLAGS, PKEY_INDEX,
                MIN_RNR_TIMER, PATH_MIG_STATE));
    }

    private static void intoSending(Map<QueuePairType, Rule> way) {
        way.put(UD, may(CUR_STATE, QKEY));
        for (QueuePairType type : EnumSet.of(UC, XRC_SEND)) {
            way.put(type, may(CUR_STATE, ACCESS_FLAGS, ALT_PATH, PATH_MIG_STATE));
        }
        for (QueuePairType type : EnumSet.of(RC, XRC_RECV)) {
            way.put(type, may(CUR_STATE, ACCESS_FLAGS, ALT_PATH, PATH_MIG_STATE, MIN_RNR_TIMER));
        }
    }

    /**
     * Returns the rule for a transition; null if there is no such transition.
     *
     * @param type the type of the queue pair; not DRIVER, whose rules are known to the driver only
     */
    public static Rule rule(QueuePairType type, QueuePairState from, QueuePairState to) {
        Map<QueuePairType, Rule> rules = TABLE.get(new Way(from, to));
        return rules == null ? null : rules.getOrDefault(type, NOTHING);
    }

    /**
     * Checks the attributes for a transition as the kernel would.
     *
     * @throws IllegalStateException if there is no transition between the states
     * @throws IllegalArgumentException if required attributes are missing, or others are not allowed
     */
    public static void check(QueuePairType type, QueuePairState from, QueuePairState to,
            Set<QueuePairAttribute> given) {
        Rule rule = rule(type, from, to);
        if (rule == null) {
            throw new IllegalStateException("a queue pair of type " + type + " cannot go from " + from + " to " + to
                    + ", only to " + next(from));
        }
        Set<QueuePairAttribute> missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(rule.required());
        missing.removeAll(given);
        Set<QueuePairAttribute> surplus = EnumSet.noneOf(QueuePairAttribute.class);
        surplus.addAll(given);
        surplus.removeAll(rule.required());
        surplus.removeAll(rule.optional());
        surplus.remove(STATE);
        if (given.contains(CUR_STATE) && !ASSUMABLE.contains(from)) {
            surplus.add(CUR_STATE);
        }
        if (!missing.isEmpty() || !surplus.isEmpty()) {
            throw new IllegalArgumentException("the transition of a queue pair of type " + type + " from " + from
                    + " to " + to
                    + (missing.isEmpty() ? "" : " requires " + missing)
                    + (missing.isEmpty() || surplus.isEmpty() ? "" : " and")
                    + (surplus.isEmpty() ? "" : " does not allow " + surplus));
        }
    }

    private static Set<QueuePairState> next(QueuePairState from) {
        Set<QueuePairState> states = EnumSet.noneOf(QueuePairState.class);
        for (Way way : TABLE.keySet()) {
            if (way.from() == from) {
                states.add(way.to());
            }
        }
        return states;
    }

    private static Map<QueuePairType, Rule> way(QueuePairState from, QueuePairState to) {
        return TABLE.computeIfAbsent(new Way(from, to), way -> new EnumMap<>(QueuePairType.class));
    }

    private static Rule must(QueuePairAttribute... attributes) {
        return new Rule(setOf(attributes), Set.of());
    }

    private static Rule may(QueuePairAttribute... attributes) {
        return new Rule(Set.of(), setOf(attributes));
    }

    private static Set<QueuePairAttribute> setOf(QueuePairAttribute... attributes) {
        return Set.of(attributes);
    }
}
