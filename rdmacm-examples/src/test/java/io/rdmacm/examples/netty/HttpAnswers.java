// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.netty;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;

/** Answers each request for {@code /N} with N bytes: the letters of the alphabet, again and again. */
final class HttpAnswers extends SimpleChannelInboundHandler<HttpObject> {
    private static final int LONGEST = 1 << 30;
    private static final byte[] LETTERS = "abcdefghijklmnopqrstuvwxyz".getBytes(StandardCharsets.US_ASCII);

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
        if (message instanceof HttpRequest request) {
            FullHttpResponse response = answer(context, request.uri());
            boolean stays = HttpUtil.isKeepAlive(request);
            HttpUtil.setContentLength(response, response.content().readableBytes());
            HttpUtil.setKeepAlive(response, stays);
            var sent = context.writeAndFlush(response);
            if (!stays) {
                sent.addListener(ChannelFutureListener.CLOSE);
            }
        }
    }

    private static FullHttpResponse answer(ChannelHandlerContext context, String uri) {
        int length = length(uri);
        if (length < 0) {
            return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND,
                    Unpooled.EMPTY_BUFFER);
        }
        ByteBuf content = context.alloc().buffer(length);
        for (int left = length; left > 0; left -= LETTERS.length) {
            content.writeBytes(LETTERS, 0, Math.min(left, LETTERS.length));
        }
        return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content);
    }

    /** Returns how many bytes were asked for, -1 if that is not a number, or too many. */
    private static int length(String uri) {
        try {
            int length = Integer.parseInt(uri.substring(1));
            return length > LONGEST ? -1 : length;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // The client has gone, or sent what is not HTTP.
        context.close();
    }
}
