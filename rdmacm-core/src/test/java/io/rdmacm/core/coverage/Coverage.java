// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.coverage;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.RequiresRdma;

/** Which C function is which Java method, tested where: read from the annotations of the classes and of their tests. */
final class Coverage {
    // the oldest release supported
    private static final int OLDEST = 44;

    // Parts of the headers that are not for programs, and the function that stands for them.
    private static final Map<String, String> INTERNAL = Map.of("__ibv_get_device_list", "ibv_get_device_list",
            "__ibv_reg_mr", "ibv_reg_mr", "__ibv_reg_mr_iova",
            "ibv_reg_mr_iova", "___ibv_query_port", "ibv_query_port", "_ibv_query_gid_ex", "ibv_query_gid_ex",
            "_ibv_query_gid_table", "ibv_query_gid_table", "verbs_get_ctx", "ibv_query_device_ex",
            "_ibv_query_comp_cntr_caps", "ibv_query_comp_cntr_caps");

    // What SoftRoCE lacks: its device tests are skipped there, or show the refusal.
    private static final Set<String> LACKING_ON_RXE = Set.of("ibv_import_device", "ibv_import_pd", "ibv_unimport_pd",
            "ibv_import_mr", "ibv_unimport_mr", "ibv_import_dm", "ibv_unimport_dm", "ibv_alloc_dm", "ibv_free_dm",
            "ibv_memcpy_to_dm", "ibv_memcpy_from_dm", "ibv_reg_dm_mr", "ibv_reg_dmabuf_mr", "ibv_rereg_mr",
            "ibv_alloc_null_mr", "ibv_alloc_td", "ibv_dealloc_td", "ibv_alloc_parent_domain",
            "ibv_open_xrcd", "ibv_close_xrcd", "ibv_open_qp", "ibv_get_srq_num", "ibv_post_srq_ops",
            "ibv_modify_cq", "ibv_modify_qp_rate_limit", "ibv_set_ece", "ibv_query_ece", "ibv_query_rt_values_ex",
            "ibv_create_wq", "ibv_modify_wq", "ibv_destroy_wq", "ibv_post_wq_recv", "ibv_create_rwq_ind_table",
            "ibv_destroy_rwq_ind_table", "ibv_create_counters", "ibv_destroy_counters", "ibv_read_counters",
            "ibv_create_flow", "ibv_destroy_flow", "ibv_create_flow_action_esp", "ibv_modify_flow_action_esp",
            "ibv_destroy_flow_action", "ibv_attach_counters_point_flow",
            "ibv_alloc_dmah", "ibv_dealloc_dmah", "ibv_query_port_speed", "ibv_dm_export_dmabuf_fd",
            "ibv_export_buf_dmabuf_fd", "ibv_query_comp_cntr_caps", "ibv_create_comp_cntr", "ibv_destroy_comp_cntr",
            "ibv_set_comp_cntr", "ibv_set_err_comp_cntr", "ibv_inc_comp_cntr", "ibv_inc_err_comp_cntr",
            "ibv_read_comp_cntr", "ibv_read_err_comp_cntr", "ibv_qp_attach_comp_cntr",
            "ibv_wr_set_xrc_srqn", "ibv_wr_send_tso", "ibv_wc_read_tm_info",
            "rdma_create_srq_ex");
    // The first kernel of the matrix whose SoftRoCE, or whose connection manager, has it.
    private static final Map<String, String> NEWER_KERNEL = Map.of("ibv_wr_flush", "6.12", "ibv_wr_atomic_write",
            "6.12", "ibv_advise_mr", "7.2", "rdma_resolve_addrinfo", "7.2", "rdma_query_addrinfo", "7.2",
            "rdma_write_cm_event", "7.2");
    // Device tests of that, which are skipped on SoftRoCE also where they use what it has.
    private static final Set<String> SKIPPED_ON_RXE = Set.of("DeviceMemoryDeviceTest", "DmaBufDeviceTest",
            "PagingDeviceTest", "ParentDomainDeviceTest", "ReregistrationDeviceTest",
            "TagMatchingDeviceTest", "XrcDeviceTest");

    private final Map<String, SortedSet<String>> methods = new TreeMap<>();
    private final Map<String, SortedSet<String>> tests = new TreeMap<>();
    private final SortedSet<String> onDevice = new TreeSet<>();

    /**
     * One function of the headers.
     *
     * @param header the file that it is declared in
     * @param kind exported, inline or macro
     * @param name the C name
     * @param since the release of rdma-core that it came with, or 44
     */
    record Function(String header, String kind, String name, int since) {
        /** Whether it is one of the direct verbs. */
        boolean isDirect() {
            return header.endsWith("dv.h");
        }

        private String publicName() {
            return INTERNAL.getOrDefault(name, name);
        }
    }

    Coverage() throws IOException {
        for (Class<?> type : both(ModuleClasses.all(VerbsContext.class), ModuleClasses.all(CmId.class))) {
            members(type).forEach(this::addMethod);
            add(type.getAnnotation(CFunction.class), simpleName(type) + ".close");
        }
        functions().stream().filter(f -> f.header().equals("rsocket.h")).forEach(this::addBinding);
        for (Class<?> type : both(ModuleClasses.all(Covers.class), ModuleClasses.all(Coverage.class))) {
            for (Method method : type.getDeclaredMethods()) {
                addTest(type, method);
            }
        }
    }

    /** All functions and macros of the headers. */
    static List<Function> functions() throws IOException {
        try (var resource = Objects.requireNonNull(Coverage.class.getResourceAsStream("/c-functions.tsv"));
                var reader = new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8))) {
            return reader.lines().skip(1).map(line -> line.split("\t"))
                    .map(part -> new Function(part[0], part[1], part[2], Integer.parseInt(part[3]))).toList();
        }
    }

    SortedSet<String> methodsOf(Function function) {
        return methods.getOrDefault(function.publicName(), new TreeSet<>());
    }

    SortedSet<String> testsOf(Function function) {
        return tests.getOrDefault(function.publicName(), new TreeSet<>());
    }

    /** Names in the annotations that no header knows. */
    SortedSet<String> unknownNames() throws IOException {
        SortedSet<String> names = new TreeSet<>(methods.keySet());
        names.addAll(tests.keySet());
        functions().forEach(function -> names.remove(function.name()));
        return names;
    }

    /** The table. */
    String toMarkdown() throws IOException {
        StringBuilder text = new StringBuilder("""
                # Coverage of the C API

                Every function and macro of `rdma_cma.h`, `rdma_verbs.h` and `verbs.h` (rdma-core 65), with the release
                that it came with if that is later than 44, the Java method that offers it, and a test. Those of
                `rsocket.h` are offered as the bindings have them: the peer that the streams of `io.rdmacm.core.stream`
                are tested against. The last column says where the test runs: on an RDMA device (`rxe` here; other
                devices run it too), or against a fake provider, a C library in the place of the real one that checks
                the bytes it is passed. `rxe refuses`: a device test checks that the refusal becomes the right
                exception, or is skipped with a reason. Device tests of newer functions run where the library has them,
                and are skipped elsewhere.

                The direct verbs of mlx5 and EFA (`mlx5dv.h`, `efadv.h`) have not run on a card: their tests check what
                is handed to the drivers' libraries, or what these hand to a stand-in for kernel and card. A row
                without a test says so.

                CoverageTest generates this page from annotations in the sources. Do not edit it.
                """);
        for (String header : functions().stream().map(Function::header).distinct().toList()) {
            List<Function> rows = functions().stream().filter(f -> f.header().equals(header)).toList();
            long covered = rows.stream().filter(f -> !methodsOf(f).isEmpty() && !testsOf(f).isEmpty()).count();
            text.append("\n## ").append(header).append("\n\n").append(covered).append(" of ").append(rows.size())
                    .append(" with a method and a test.\n\n| C function | kind | since | Java | test | run on |\n")
                    .append("|---|---|---|---|---|---|\n");
            rows.stream().filter(row -> !isLeftOut(row)).forEach(row -> text.append(toMarkdown(row)));
            text.append(leftOut(rows));
        }
        return text.toString();
    }

    /** Whether no class offers a function, on purpose. */
    boolean isLeftOut(Function function) {
        return methodsOf(function).isEmpty() && LeftOut.reason(function.name()).isPresent();
    }

    private String leftOut(List<Function> rows) {
        Map<String, List<Function>> reasons = rows.stream().filter(this::isLeftOut).collect(Collectors.groupingBy(
                row -> LeftOut.reason(row.name()).orElseThrow(), TreeMap::new, Collectors.toList()));
        if (reasons.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("\nLeft out (the bindings have them):\n\n");
        reasons.forEach((reason, functions) -> text.append("* ").append(reason).append(": ")
                .append(functions.stream().map(f -> "`" + f.name() + "`").collect(Collectors.joining(", ")))
                .append("\n"));
        return text.toString();
    }

    private String toMarkdown(Function row) {
        List<String> cells = List.of("`" + row.name() + "`", row.kind(), since(row), code(methodsOf(row)), testOf(row),
                runOn(row));
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    private String runOn(Function row) {
        if (testsOf(row).isEmpty()) {
            return "";
        }
        if (NEWER_KERNEL.containsKey(row.publicName())) {
            return "fake provider; rxe with kernel " + NEWER_KERNEL.get(row.publicName());
        }
        if (LACKING_ON_RXE.contains(row.publicName())) {
            return testsOf(row).stream().anyMatch(onDevice::contains) ? "fake provider; rxe refuses" : "fake provider";
        }
        if (row.isDirect()) {
            return "no card";
        }
        return testsOf(row).stream().anyMatch(this::runsOnRxe) ? "rxe" : "fake provider";
    }

    private static String since(Function row) {
        return row.since() > OLDEST ? Integer.toString(row.since()) : "";
    }

    private boolean runsOnRxe(String test) {
        return onDevice.contains(test) && !SKIPPED_ON_RXE.contains(test.substring(0, test.indexOf('.')));
    }

    /** One that does what the function is for, where there is a choice. */
    private String testOf(Function row) {
        Predicate<String> wanted = LACKING_ON_RXE.contains(row.publicName())
                || NEWER_KERNEL.containsKey(row.publicName()) ? name -> !onDevice.contains(name)
                : this::runsOnRxe;
        return testsOf(row).stream().filter(wanted).findFirst()
                .or(() -> testsOf(row).stream().findFirst()).map(name -> "`" + name + "`").orElse("");
    }

    private static String code(SortedSet<String> names) {
        return names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
    }

    private void addMethod(Executable member) {
        // what destroy() does is done by close()
        String name = member instanceof Constructor ? "new" : member.getName().equals("destroy")
                ? "close"
                : member.getName();
        add(member.getAnnotation(CFunction.class), simpleName(member.getDeclaringClass()) + "." + name);
    }

    private void add(CFunction annotation, String method) {
        if (annotation != null) {
            for (String function : annotation.value()) {
                methods.computeIfAbsent(function, f -> new TreeSet<>()).add(method);
            }
        }
    }

    /** The method of the bindings, or the class, if the function takes a variable number of arguments. */
    private void addBinding(Function function) {
        Stream.concat(Stream.of(Rdma.class.getMethods()).map(Method::getName),
                        Stream.of(Rdma.class.getClasses()).map(Class::getSimpleName))
                .filter(function.name()::equals)
                .forEach(name -> methods.computeIfAbsent(name, n -> new TreeSet<>()).add("Rdma." + name));
    }

    private void addTest(Class<?> type, Method method) {
        Covers annotation = method.getAnnotation(Covers.class);
        if (annotation != null) {
            String name = simpleName(type) + "." + method.getName();
            for (String function : annotation.value()) {
                tests.computeIfAbsent(function, f -> new TreeSet<>()).add(name);
            }
            if (needsDevice(type)) {
                onDevice.add(name);
            }
        }
    }

    private static boolean needsDevice(Class<?> type) {
        return type.isAnnotationPresent(RequiresRdma.class)
                || type.getEnclosingClass() != null && needsDevice(type.getEnclosingClass());
    }

    private static Stream<Executable> members(Class<?> type) {
        return Stream.concat(Stream.of(type.getDeclaredMethods()), Stream.of(type.getDeclaredConstructors()));
    }

    private static String simpleName(Class<?> type) {
        return type.getEnclosingClass() == null
                ? type.getSimpleName()
                : simpleName(type.getEnclosingClass()) + "." + type.getSimpleName();
    }

    private static List<Class<?>> both(List<Class<?>> first, List<Class<?>> second) {
        List<Class<?>> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }
}
