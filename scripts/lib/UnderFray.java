import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import kotlin.Unit;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.RandomScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;

/// Runs the tests of interleavings under Fray, in a JVM that is instrumented for it, and then those that must fail with
/// code that lacks something. Run by scripts/lib/interleavings as
///
///     java UnderFray FOLDER SCHEDULES PATTERN CLASSES...
///
/// with the folder that MakeMutants has filled, a regular expression that finds the tests in CLASS.METHOD, and the
/// folders with test classes. The exit status is 1 if a test fails, or if none fails with a mutant.
public final class UnderFray {
    private static final int MAX_SECONDS = 600;
    private static final int MAX_STEPS = 200_000;
    private static final long MAX_MILLIS_TO_LOAD = 10_000;
    // what a look at the clock takes; otherwise time passes only when no thread can run
    private static final long NANOS_PER_LOOK = 100_000;

    private final PrintStream out = System.out;
    private final Path folder;
    private final int schedules;
    private final String pattern;
    private final List<Path> classes;
    // those that fail without a mutant say nothing about one
    private final List<String> failed = new ArrayList<>();
    private int missed;
    // of the test that runs now
    private Configuration configuration;
    private int tried;

    private UnderFray(Path folder, int schedules, String pattern, List<Path> classes) {
        this.folder = folder;
        this.schedules = schedules;
        this.pattern = pattern;
        this.classes = classes;
    }

    public static void main(String[] args) throws Exception {
        UnderFray runs = new UnderFray(Path.of(args[0]), Integer.parseInt(args[1]), args[2],
                Arrays.stream(args).skip(3).map(Path::of).toList());
        // Fray reports its progress there.
        System.setOut(new PrintStream(new FileOutputStream(args[0] + "/fray.log"), true));
        runs.run();
        runs.runMutants();
        System.exit(runs.failed.isEmpty() && runs.missed == 0 ? 0 : 1);
    }

    private void run() throws Exception {
        int total = 0;
        for (String name : testClasses()) {
            out.println(name);
            for (Method test : tests(Class.forName(name))) {
                long start = System.nanoTime();
                Throwable found = failure(test);
                int count = tried;
                total += count;
                out.printf("  %-80s %7d schedules %6.1f s  %s%n", test.getName(), count,
                        (System.nanoTime() - start) / 1e9, found == null ? "nothing found" : describe(found));
                if (found != null) {
                    failed.add(label(test));
                }
            }
        }
        out.println(total + " schedules, " + failed.size() + " tests failed");
    }

    /// Each line of the list has the number of a mutant, its tests and what it lacks.
    private void runMutants() throws Exception {
        int caught = 0;
        int all = 0;
        for (String line : Files.readAllLines(folder.resolve("mutants.tsv"))) {
            String[] parts = line.split("\t");
            List<Method> tests = new ArrayList<>();
            try (MutantLoader loader = new MutantLoader(folder.resolve("mutant-" + parts[0]))) {
                for (String name : testClasses()) {
                    if (name.substring(name.lastIndexOf('.') + 1).matches(parts[1])) {
                        tests(loader.loadClass(name)).stream().filter(test -> !failed.contains(label(test)))
                                .forEach(tests::add);
                    }
                }
                if (!tests.isEmpty()) {
                    all++;
                    caught += isCaught(parts[2], tests) ? 1 : 0;
                }
            }
        }
        out.println(caught + " of " + all + " mutants found");
        missed = all - caught;
    }

    private boolean isCaught(String lacks, List<Method> tests) throws Exception {
        int before = 0;
        for (Method test : tests) {
            Throwable found = failure(test);
            before += tried;
            if (found != null) {
                out.printf("  without: %-70s found in schedule %d by %s%n", lacks, before + 1, test.getName());
                return true;
            }
        }
        out.printf("  without: %-70s NOT FOUND in %d schedules%n", lacks, before);
        return false;
    }

    private List<String> testClasses() throws IOException {
        List<String> names = new ArrayList<>();
        for (Path root : classes) {
            try (Stream<Path> files = Files.walk(root)) {
                files.map(file -> root.relativize(file).toString()).filter(file -> file.endsWith("InterleavingTest.class"))
                        .map(file -> file.replace(".class", "").replace('/', '.')).sorted().forEach(names::add);
            }
        }
        return names;
    }

    private List<Method> tests(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Arrays.stream(method.getAnnotations())
                        .anyMatch(annotation -> annotation.annotationType().getSimpleName().equals("Test")))
                .filter(method -> label(method).matches(".*(" + pattern + ").*"))
                .sorted(Comparator.comparing(Method::getName)).toList();
    }

    private static String label(Method test) {
        return test.getDeclaringClass().getSimpleName() + "." + test.getName();
    }

    /// Runs a test; returns why it fails, null if it does not.
    private Throwable failure(Method test) throws Exception {
        Class<?> type = test.getDeclaringClass();
        Consumer<Callable<?>> explorer = scenario -> explore(label(test), scenario);
        type.getClassLoader().loadClass("io.rdmacm.verbs.testing.Interleavings").getMethod("control", Consumer.class)
                .invoke(null, explorer);
        configuration = null;
        tried = 0;
        var constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        test.setAccessible(true);
        try {
            test.invoke(constructor.newInstance());
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        }
    }

    private void explore(String name, Callable<?> scenario) {
        if (loadedBy(scenario, UnderFray.class.getClassLoader())) {
            loadClasses(scenario);
        }
        LambdaExecutor executor = new LambdaExecutor(() -> {
            call(scenario);
            return Unit.INSTANCE;
        });
        explore(name, executor, new RandomScheduler());
        // This one lets a thread stay behind for long.
        explore(name, executor, new POSScheduler());
    }

    private void explore(String name, LambdaExecutor executor, Scheduler scheduler) {
        configuration = new Configuration(new ExecutionInfo(executor, false, false, MAX_STEPS),
                folder.resolve("reports").resolve(name), schedules / 2, MAX_SECONDS, scheduler,
                new ControlledRandomProvider(), false, false, true, false, false, false, NetworkDelegateType.NONE,
                SystemTimeDelegateType.MOCK, NANOS_PER_LOOK, false, true, false, false, false, false, null);
        Throwable found = new TestRunner(configuration).run();
        tried += configuration.getCurrentIteration();
        if (found != null) {
            UnderFray.<RuntimeException>rethrow(found);
        }
    }

    private static boolean loadedBy(Object object, ClassLoader loader) {
        return object.getClass().getClassLoader() == loader;
    }

    /// Runs a scenario as it comes: the steps of static initialisers are not to be chosen.
    private static void loadClasses(Callable<?> scenario) {
        Thread once = Thread.ofPlatform().daemon().start(() -> {
            try {
                call(scenario);
            } catch (Throwable e) {
                // will be found again
            }
        });
        try {
            once.join(MAX_MILLIS_TO_LOAD);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void call(Callable<?> scenario) {
        try {
            scenario.call();
        } catch (Exception e) {
            UnderFray.<RuntimeException>rethrow(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void rethrow(Throwable e) throws T {
        throw (T) e;
    }

    private String describe(Throwable found) {
        Throwable root = found;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return "FAILED in schedule " + (tried + 1) + ": " + root
                + (configuration == null ? "" : "; see " + configuration.getReport() + "/fray.log");
    }

    /// Loads the classes of this project once more, for a mutant of some of them.
    private final class MutantLoader extends URLClassLoader {
        MutantLoader(Path mutant) throws MalformedURLException {
            super(urls(mutant), UnderFray.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded == null) {
                    loaded = name.startsWith("io.rdmacm.") ? findClass(name) : getParent().loadClass(name);
                }
                return loaded;
            }
        }
    }

    private static URL[] urls(Path mutant) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        urls.add(mutant.toUri().toURL());
        for (String part : System.getProperty("java.class.path").split(":")) {
            urls.add(Path.of(part).toUri().toURL());
        }
        return urls.toArray(URL[]::new);
    }
}
