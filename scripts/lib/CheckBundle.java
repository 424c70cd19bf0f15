import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/// Checks a bundle by what Maven Central requires of it
/// (<https://central.sonatype.org/publish/requirements/>), and that each jar has the licence, the notice and the name of
/// its module. Run as
///
///     java CheckBundle.java BUNDLE VERSION
///
/// Prints what is in the bundle and what is wrong with it; the exit status is 1 if anything is.
public final class CheckBundle {

    private static final String GROUP = "io/rdmacm/";
    private static final Set<String> POMS = Set.of("rdmacm-parent", "rdmacm-bom");
    private static final Set<String> JARS =
            Set.of("rdmacm-bindings-gen", "rdmacm-verbs", "rdmacm-core", "rdmacm-netty");
    private static final Map<String, String> CHECKSUMS =
            Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256", "sha512", "SHA-512");

    private final String version;
    private final Map<String, byte[]> files = new TreeMap<>();
    private final List<String> problems = new ArrayList<>();

    private CheckBundle(String version) {
        this.version = version;
    }

    public static void main(String[] args) throws Exception {
        CheckBundle check = new CheckBundle(args[1]);
        check.read(Path.of(args[0]));
        check.run();
        check.problems.forEach(problem -> System.out.println("Problem: " + problem));
        System.out.println(check.files.size() + " files, " + check.problems.size() + " problems");
        System.exit(check.problems.isEmpty() ? 0 : 1);
    }

    private void read(Path bundle) throws IOException {
        try (ZipFile zip = new ZipFile(bundle.toFile())) {
            zip.stream().filter(entry -> !entry.isDirectory()).forEach(entry -> {
                try (InputStream in = zip.getInputStream(entry)) {
                    files.put(entry.getName(), in.readAllBytes());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private void run() throws Exception {
        Set<String> expected = new TreeSet<>(POMS);
        expected.addAll(JARS);
        Set<String> found = new TreeSet<>();
        for (String name : files.keySet()) {
            String[] parts = name.split("/");
            if (!name.startsWith(GROUP) || parts.length != 5 || !parts[3].equals(version)
                    || !parts[4].startsWith(parts[2] + "-" + version)) {
                problems.add(name + " is not where Maven looks for it");
            } else {
                found.add(parts[2]);
            }
        }
        if (!found.equals(expected)) {
            problems.add("there are " + found + ", not " + expected);
        }
        for (String artifact : found) {
            String base = GROUP + artifact + "/" + version + "/" + artifact + "-" + version;
            checkPom(base + ".pom");
            if (JARS.contains(artifact)) {
                checkJars(base);
                checkMetadata(base, artifact);
            }
        }
        for (String name : List.copyOf(files.keySet())) {
            if (!name.matches(".*\\.(asc|md5|sha1|sha256|sha512)")) {
                checkSigned(name);
            }
        }
    }

    private byte[] file(String name) {
        byte[] content = files.get(name);
        if (content == null) {
            problems.add("there is no " + name);
        }
        return content;
    }

    private void checkSigned(String name) throws NoSuchAlgorithmException {
        byte[] signature = file(name + ".asc");
        if (signature != null && !new String(signature).startsWith("-----BEGIN PGP SIGNATURE-----")) {
            problems.add(name + ".asc is no signature");
        }
        for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
            byte[] told = file(name + "." + checksum.getKey());
            byte[] digest = MessageDigest.getInstance(checksum.getValue()).digest(files.get(name));
            if (told != null && !new String(told).strip().equals(HexFormat.of().formatHex(digest))) {
                problems.add(name + "." + checksum.getKey() + " is not the checksum of the file");
            }
        }
    }

    private void checkPom(String name) throws ParserConfigurationException, SAXException, IOException {
        byte[] content = file(name);
        if (content == null) {
            return;
        }
        String text = new String(content);
        if (text.contains("SNAPSHOT")) {
            problems.add(name + " depends on a snapshot");
        }
        Element pom = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder()
                .parse(new java.io.ByteArrayInputStream(content)).getDocumentElement();
        Element parent = child(pom, "parent");
        for (String required : List.of("name", "description")) {
            if (child(pom, required) == null) {
                problems.add(name + " has no <" + required + ">");
            }
        }
        if (parent != null) {
            // These are inherited; the parent is checked, too.
            return;
        }
        for (String required : List.of("url", "licenses/license/name", "licenses/license/url",
                "developers/developer/name", "scm/connection", "scm/url")) {
            Element element = pom;
            for (String part : required.split("/")) {
                element = element == null ? null : child(element, part);
            }
            if (element == null || element.getTextContent().isBlank()) {
                problems.add(name + " has no <" + required + ">");
            }
        }
    }

    private static Element child(Element parent, String name) {
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element && element.getTagName().equals(name)) {
                return element;
            }
        }
        return null;
    }

    private void checkJars(String base) throws IOException {
        Set<String> classes = names(base + ".jar");
        require(base + ".jar", classes, "META-INF/LICENSE", "META-INF/NOTICE", "module-info.class");
        Set<String> sources = names(base + "-sources.jar");
        require(base + "-sources.jar", sources, "META-INF/LICENSE", "META-INF/NOTICE", "module-info.java");
        Set<String> docs = names(base + "-javadoc.jar");
        require(base + "-javadoc.jar", docs, "index.html", "META-INF/LICENSE", "META-INF/NOTICE");
        for (String name : classes) {
            // The last class of a file with several top-level classes would have no source of its own name.
            String source = name.replaceFirst("(\\$.*)?\\.class$", ".java");
            if (name.endsWith(".class") && !sources.contains(source)) {
                problems.add(base + "-sources.jar lacks " + source);
            }
        }
        if (file(base + "-cyclonedx.json") != null && files.get(base + "-cyclonedx.json").length == 0) {
            problems.add(base + "-cyclonedx.json is empty");
        }
    }

    /** What GraalVM's native-image has to be told; of the module for Netty it is nothing. */
    private void checkMetadata(String base, String artifact) throws IOException {
        if (!artifact.equals("rdmacm-netty")) {
            require(base + ".jar", names(base + ".jar"),
                    "META-INF/native-image/io.rdmacm/" + artifact + "/reachability-metadata.json");
        }
    }

    private void require(String jar, Set<String> names, String... required) {
        for (String name : required) {
            if (!names.contains(name)) {
                problems.add(jar + " lacks " + name);
            }
        }
    }

    private Set<String> names(String jar) throws IOException {
        Set<String> names = new TreeSet<>();
        byte[] content = file(jar);
        if (content != null) {
            try (ZipInputStream zip = new ZipInputStream(new java.io.ByteArrayInputStream(content))) {
                for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                    names.add(entry.getName());
                }
            }
        }
        return names;
    }
}
