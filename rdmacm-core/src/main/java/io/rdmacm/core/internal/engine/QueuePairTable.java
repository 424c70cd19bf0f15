// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Finds what belongs to a queue pair by its number, without boxing it: a hash table with linear probing.
 *
 * @param <C> what is found
 */
@SuppressWarnings("unchecked")
final class QueuePairTable<C> {
    private int[] numbers = new int[16];
    private @Nullable C[] values = (C[]) new Object[16];
    private int size;

    /** Returns what has a number, null if there is none. */
    @Nullable C get(int number) {
        return values[find(number)];
    }

    /** Adds something, in place of one whose number was given to it before that one was removed. */
    void put(int number, C connection) {
        int present = find(number);
        if (values[present] != null) {
            values[present] = connection;
            return;
        }
        if (size >= values.length / 2) {
            @Nullable C[] oldValues = values;
            int[] oldNumbers = numbers;
            @Nullable C[] newValues = (C[]) new Object[2 * oldValues.length];
            int[] newNumbers = new int[newValues.length];
            // There was memory for both.
            values = newValues;
            numbers = newNumbers;
            for (int i = 0; i < oldValues.length; i++) {
                if (oldValues[i] != null) {
                    insert(oldNumbers[i], oldValues[i]);
                }
            }
        }
        insert(number, connection);
        size++;
    }

    /** Removes something, unless something else has its number by now. */
    void remove(int number, C connection) {
        int hole = find(number);
        if (values[hole] == null || values[hole] != connection) {
            return;
        }
        size--;
        values[hole] = null;
        // Moves up those that were put behind it because their own slot was occupied.
        for (int i = next(hole); values[i] != null; i = next(i)) {
            C moved = values[i];
            values[i] = null;
            insert(numbers[i], moved);
        }
    }

    /** Returns a copy of all. */
    List<C> all() {
        List<C> all = new ArrayList<>(size);
        for (C connection : values) {
            if (connection != null) {
                all.add(connection);
            }
        }
        return all;
    }

    /** Returns the slot of a number, or the empty one where it would be. */
    private int find(int number) {
        int i = slot(number);
        while (values[i] != null && numbers[i] != number) {
            i = next(i);
        }
        return i;
    }

    private void insert(int number, C connection) {
        int i = slot(number);
        while (values[i] != null) {
            i = next(i);
        }
        numbers[i] = number;
        values[i] = connection;
    }

    private int next(int i) {
        return i + 1 & values.length - 1;
    }

    private int slot(int number) {
        return number * 0x9E3779B9 >>> 8 & values.length - 1;
    }
}
