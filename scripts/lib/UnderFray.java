import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.regex.Pattern;
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

/// Runs the tests of interleavings under Fray, in a JVM that is instrumented for it. Run by scripts/lib/interleavings as
///
///     java UnderFray FOLDER SCHEDULES PATTERN LACKS CLASSES...
///
/// with a folder for reports, the number of schedules of each test, a regular expression that finds the tests in
/// CLASS.METHOD, what the code lacks ("nothing" or a text for messages), and the folders with test classes. It ends
/// with the first test that fails: the exit status is 1 then, as Fray does not always get rid of threads that hang.
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
    private final boolean mutant;
    private final String lacks;
    private int total;
    // The test that runs now, null before and after; what it has tried, and what it tries now.
    private volatile String test;
    private volatile int tried;
    private volatile Configuration configuration;

    private UnderFray(String[] args) {
        folder = Path.of(args[0]);
        schedules = Integer.parseInt(args[1]);
        pattern = args[2];
        lacks = args[3];
        mutant = !lacks.equals("nothing");
    }

    public static void main(String[] args) throws Exception {
        UnderFray runs = new UnderFray(args);
        // Fray reports its progress there.
        System.setOut(new PrintStream(new FileOutputStream(args[0] + "/fray.log"), true));
        Runtime.getRuntime().addShutdownHook(new Thread(runs::report));
        for (String folder : args[4].split(":")) {
            for (String name : testClasses(Path.of(folder))) {
                runs.run(Class.forName(name));
            }
        }
        if (!runs.mutant) {
            runs.out.println(runs.total + " schedules, nothing found");
        } else if (runs.total > 0) {
            runs.out.printf("  without: %-72s NOT FOUND in %d schedules%n", runs.lacks, runs.total);
        }
        // A mutant without a test that matches was not missed.
        System.exit(runs.mutant && runs.total == 0 ? 1 : 0);
    }

    private static List<String> testClasses(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString())
                    .filter(file -> file.endsWith("InterleavingTest.class"))
                    .map(file -> file.replace(".class", "").replace('/', '.')).sorted().toList();
        }
    }

    private void run(Class<?> type) throws Exception {
        List<Method> tests = Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Arrays.stream(method.getAnnotations())
                        .anyMatch(annotation -> annotation.annotationType().getSimpleName().equals("Test")))
                .filter(method -> Pattern.compile(pattern).matcher(label(method)).find())
                .sorted(Comparator.comparing(Method::getName)).toList();
        if (!mutant && !tests.isEmpty()) {
            out.println(type.getName());
        }
        for (Method method : tests) {
            long start = System.nanoTime();
            run(method);
            if (!mutant) {
                out.printf("  %-72s %6d schedules %6.1f s  nothing found%n", method.getName(), tried,
                        (System.nanoTime() - start) / 1e9);
            }
            total += tried;
        }
    }

    private static String label(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    private void run(Method method) throws Exception {
        Class<?> type = method.getDeclaringClass();
        tried = 0;
        test = label(method);
        Consumer<Callable<?>> explorer = this::explore;
        Class.forName("io.rdmacm.verbs.testing.Interleavings").getMethod("control", Consumer.class)
                .invoke(null, explorer);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        method.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
            test = null;
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace(out);
            System.exit(1);
        }
    }

    private void explore(Callable<?> scenario) {
        if (!mutant) {
            loadClasses(scenario);
        }
        explore(scenario, new RandomScheduler());
        // This one lets a thread stay behind for long.
        explore(scenario, new POSScheduler());
    }

    private void explore(Callable<?> scenario, Scheduler scheduler) {
        LambdaExecutor executor = new LambdaExecutor(() -> {
            call(scenario);
            return Unit.INSTANCE;
        });
        Configuration next = new Configuration(new ExecutionInfo(executor, false, false, MAX_STEPS),
                folder.resolve("reports").resolve(test), schedules / 2, MAX_SECONDS, scheduler,
                new ControlledRandomProvider(), false, false, false, false, false, false, NetworkDelegateType.NONE,
                SystemTimeDelegateType.MOCK, NANOS_PER_LOOK, false, true, false, false, false, false, null);
        configuration = next;
        Throwable found = new TestRunner(next).run();
        if (found != null) {
            // Fray has ended the JVM before, unless the failure came when its threads had ended.
            System.exit(1);
        }
        tried += next.getCurrentIteration();
    }

    /// Runs a scenario as it comes: the steps of static initialisers are not to be chosen.
    private static void loadClasses(Callable<?> scenario) {
        Thread once = Thread.ofPlatform().daemon().start(() -> {
            try {
                call(scenario);
            } catch (Throwable e) {
                // Without Fray, nothing is to be found.
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

    /// Says what was found, if the JVM ends in the middle of a test.
    private void report() {
        Configuration last = configuration;
        if (test == null || last == null) {
            return;
        }
        int schedule = tried + last.getCurrentIteration() + 1;
        if (mutant) {
            out.printf("  without: %-72s found in schedule %d of %s%n", lacks, total + schedule, test);
        } else {
            out.printf("%s FAILED in schedule %d%n", test, schedule);
            errors(last.getReport().resolve("fray.log")).forEach(out::println);
        }
        out.flush();
    }

    private static List<String> errors(Path log) {
        List<String> errors = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(log)) {
                if (!line.contains("org.pastalab.fray") && !line.contains("\tat java.base/")) {
                    errors.add("    " + line);
                }
            }
        } catch (IOException e) {
            errors.add(e.toString());
        }
        return errors;
    }
}
