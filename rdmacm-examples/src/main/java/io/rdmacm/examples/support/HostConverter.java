// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.net.InetAddress;
import java.net.UnknownHostException;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts host names, IPv4 and IPv6 addresses on the command line. */
public final class HostConverter implements ITypeConverter<InetAddress> {
    /** Created by picocli. */
    public HostConverter() {
    }

    @Override
    public InetAddress convert(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new TypeConversionException("there is no host or IP address '" + host + "'");
        }
    }
}
