// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.thirdparty;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * Loads classes of a jar, and classes that use them: these are compiled from resources, in memory. They can use public
 * classes of the benchmarks.
 */
public final class SourceLoader extends URLClassLoader {
    private final Path jar;
    private final Map<String, Path> libraries;
    private final Map<String, ByteArrayOutputStream> compiled = new HashMap<>();

    /**
     * Creates a loader.
     *
     * @param jar the jar
     * @param libraries where its native libraries are, by the names with which it loads them
     */
    public SourceLoader(Path jar, Map<String, Path> libraries) {
        super(new URL[] {url(jar)}, SourceLoader.class.getClassLoader());
        this.jar = jar;
        this.libraries = Map.copyOf(libraries);
    }

    private static URL url(Path path) {
        try {
            return path.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /**
     * Compiles a class, and loads it.
     *
     * @param beside a class in the package of the resource, which is the package of the new class too
     * @param name the simple name of the class; the resource has this name with {@code .java}
     * @return the class
     * @throws IllegalArgumentException if the jar lacks what it uses, or this Java has no compiler
     */
    public Class<?> compile(Class<?> beside, String name) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalArgumentException("this Java has no compiler, which a comparison with " + jar + " needs");
        }
        StringWriter messages = new StringWriter();
        List<String> options = List.of("-proc:none", "-cp", System.getProperty("java.class.path") + ":" + jar);
        try (JavaFileManager files = new Memory(compiler.getStandardFileManager(null, null, null))) {
            List<JavaFileObject> sources = List.of(source(beside, name));
            if (!compiler.getTask(messages, files, null, options, null, sources).call()) {
                throw new IllegalArgumentException(jar + " lacks what is compared:\n" + messages);
            }
            return loadClass(beside.getPackageName() + "." + name);
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException(name + " could not be compiled", e);
        }
    }

    private static JavaFileObject source(Class<?> beside, String name) throws IOException {
        String file = name + ".java";
        try (InputStream in = beside.getResourceAsStream(file)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return new SimpleJavaFileObject(URI.create("memory:///" + file), JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                    return text;
                }
            };
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        ByteArrayOutputStream code = compiled.get(name);
        return code == null ? super.findClass(name) : defineClass(name, code.toByteArray(), 0, code.size());
    }

    @Override
    protected String findLibrary(String name) {
        Path library = libraries.get(name);
        return library == null ? null : library.toString();
    }

    /** Keeps what the compiler writes. */
    private final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        Memory(JavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind,
                FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream code = new ByteArrayOutputStream();
                    compiled.put(name, code);
                    return code;
                }
            };
        }
    }
}
