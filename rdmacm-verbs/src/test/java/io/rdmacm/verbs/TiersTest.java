// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;

import io.rdmacm.verbs.testing.Tiers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names of test classes tell their tier: unit, device or two hosts. {@link Tiers} states the rule. */
class TiersTest {
    private static final String UNIT = "@org.junit.jupiter.api.Test void works() { }";
    private static final String DEVICE = "@io.rdmacm.verbs.testing.RequiresRdma ";
    private static final String TAGGED =
            " @org.junit.jupiter.api.Tag(\"device\") @org.junit.jupiter.api.Test void alone() { }";
    private static final String TWO_HOSTS = "@org.junit.jupiter.api.Tag(\"twohosts\") ";

    @TempDir
    private Path folder;

    @Test
    void theNamesOfThisModule() throws IOException {
        assertThat(Tiers.violations()).isEmpty();
    }

    /** That module cannot have this test itself: it does not know the helper. */
    @Test
    void theNamesOfTheBindings() throws IOException {
        Path classes = Path.of("..", "rdmacm-bindings-gen", "target", "test-classes");
        assumeTrue(Files.isDirectory(classes), "the tests of rdmacm-bindings-gen have not been compiled");
        assertThat(Tiers.violations(classes)).isEmpty();
    }

    @Test
    void namesThatFollowTheRule() throws IOException {
        assertThat(violations("class GoodTest { " + UNIT + " }",
                DEVICE + "class GoodDeviceTest { " + UNIT + " }",
                DEVICE + "class NestedDeviceTest { @org.junit.jupiter.api.Nested class Inner { " + UNIT + " } }",
                "class PropertyTest { @net.jqwik.api.Property void holds() { } }",
                TWO_HOSTS + "class GoodTwoHostsTest { " + UNIT + " }",
                DEVICE + "abstract class Base { }",
                "class InheritedDeviceTest extends Base { " + UNIT + " }",
                "class Fixture { static class Kind extends Fixture { } }")).isEmpty();
    }

    @Test
    void theSuffixMustBeThatOfTheTier() throws IOException {
        assertThat(violations(DEVICE + "class UnmarkedTest { " + UNIT + " }",
                "class MarkedDeviceTest { " + UNIT + " }",
                TWO_HOSTS + "class WrongDeviceTest { " + UNIT + " }")).containsExactly(
                        "MarkedDeviceTest: its name ends with DeviceTest, but the class does not have the tag device",
                        "UnmarkedTest: its name must end with DeviceTest",
                        "WrongDeviceTest: its name must end with TwoHostsTest");
    }

    @Test
    void aClassBelongsToOneTier() throws IOException {
        assertThat(violations(
                "class MethodTest { " + UNIT + TAGGED + " }",
                "class OuterTest { " + UNIT + " " + DEVICE + "@org.junit.jupiter.api.Nested class Inner { " + UNIT
                        + " } }",
                DEVICE + TWO_HOSTS + "class BothDeviceTest { " + UNIT + " }")).containsExactly(
                        "BothDeviceTest: a class belongs to one tier, not to device and twohosts",
                        "MethodTest.alone: a class belongs to one tier, but this method alone has the tag device",
                        "OuterTest$Inner: a class belongs to one tier, but this nested class alone has the tag device");
    }

    @Test
    void testsAndNothingElseAreNamedTest() throws IOException {
        assertThat(violations("class Checks { " + UNIT + " }", "class SupportTest { }",
                "class Properties { @net.jqwik.api.Property void holds() { } }")).containsExactly(
                        "Checks: its name must end with Test",
                        "Properties: its name must end with Test",
                        "SupportTest: has no tests, so its name must not end with Test");
    }

    private List<String> violations(String... sources) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", folder.resolve("classes").toString(),
                "-cp", System.getProperty("java.class.path")));
        for (String source : sources) {
            String name = source.replaceFirst("(?s).*?class (\\w+) .*", "$1");
            Path file = folder.resolve(name + ".java");
            Files.writeString(file, source);
            arguments.add(file.toString());
        }
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(status).isZero();
        return Tiers.violations(folder.resolve("classes"));
    }
}
