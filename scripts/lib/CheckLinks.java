import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Checks that every link between the pages of a folder leads to a file, and to an element with that id if it names one.
/// Run as `java CheckLinks.java FOLDER`; prints the broken links and exits with 1 if there are any. Links to other sites
/// are not followed.
public final class CheckLinks {

    private static final Pattern LINK = Pattern.compile("<(?:a|link|img|script)\\b[^>]*?\\b(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ID = Pattern.compile("\\b(?:id|name)=\"([^\"]*)\"");
    private static final Pattern ELSEWHERE = Pattern.compile("^(?:[a-z]+:|//).*");

    private final Path folder;
    private final Map<Path, Set<String>> ids = new HashMap<>();
    private int links;

    private CheckLinks(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        CheckLinks check = new CheckLinks(Path.of(args[0]).toRealPath());
        List<String> broken = check.run();
        broken.forEach(System.out::println);
        System.out.println(check.links + " links within the site, " + broken.size() + " broken");
        System.exit(broken.isEmpty() && check.links > 0 ? 0 : 1);
    }

    private List<String> run() throws IOException {
        List<String> broken = new ArrayList<>();
        List<Path> pages;
        try (Stream<Path> files = Files.walk(folder)) {
            pages = files.filter(file -> file.toString().endsWith(".html")).sorted().toList();
        }
        for (Path page : pages) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                String target = link.group(1).replace("&amp;", "&");
                if (ELSEWHERE.matcher(target).matches()) {
                    continue;
                }
                links++;
                if (!leadsSomewhere(page, target)) {
                    broken.add(folder.relativize(page) + ": " + target);
                }
            }
        }
        return broken;
    }

    private boolean leadsSomewhere(Path page, String target) throws IOException {
        int hash = target.indexOf('#');
        String path = decode((hash < 0 ? target : target.substring(0, hash)).replaceFirst("\\?.*", ""));
        Path file = path.isEmpty() ? page : page.resolveSibling(path).normalize();
        if (Files.isDirectory(file)) {
            file = file.resolve("index.html");
        }
        if (!file.startsWith(folder) || !Files.exists(file)) {
            return false;
        }
        return hash < 0 || hash == target.length() - 1 || ids(file).contains(decode(target.substring(hash + 1)));
    }

    private Set<String> ids(Path file) throws IOException {
        Set<String> known = ids.get(file);
        if (known == null) {
            known = new HashSet<>();
            Matcher id = ID.matcher(Files.readString(file));
            while (id.find()) {
                known.add(id.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
            }
            ids.put(file, known);
        }
        return known;
    }

    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
