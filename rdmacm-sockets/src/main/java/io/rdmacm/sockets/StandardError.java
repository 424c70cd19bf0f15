// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Writes the warnings of the library to standard error: the jar of the agent has an SLF4J of its own, because that of a
 * program is none of its business.
 */
public final class StandardError implements SLF4JServiceProvider {
    private static final Level LEAST = Level.valueOf(System.getProperty("io.rdmacm.sockets.log", "WARN"));

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    /** Called by SLF4J. */
    public StandardError() {
        // Nothing is read.
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return Lines::new;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {
        // It has nothing that needs it.
    }

    /** Returns whether lines of a level are written. */
    static boolean writes(Level level) {
        return level.toInt() >= LEAST.toInt();
    }

    private static final class Lines extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1L;

        Lines(String name) {
            this.name = name;
        }

        @Override
        public boolean isTraceEnabled() {
            return writes(Level.TRACE);
        }

        @Override
        public boolean isDebugEnabled() {
            return writes(Level.DEBUG);
        }

        @Override
        public boolean isInfoEnabled() {
            return writes(Level.INFO);
        }

        @Override
        public boolean isWarnEnabled() {
            return writes(Level.WARN);
        }

        @Override
        public boolean isErrorEnabled() {
            return writes(Level.ERROR);
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return Lines.class.getName();
        }

        @Override
        protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments,
                Throwable failure) {
            Installation.say(level, name + ": " + MessageFormatter.basicArrayFormat(pattern, arguments)
                    + (failure == null ? "" : ": " + failure));
        }
    }
}
