// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.races;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.races.RunRaces;
import io.rdmacm.verbs.testing.ForkedJvm;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A short version of the races that {@code scripts/lib/races} runs for minutes. */
@FakeRdmaCm.With
class CmRacesTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"watch=1", "watch=2"})
    void objectsCanBeClosedAtAnyTime(String watch) throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(RunRaces.class).nativeAccess()
                .options("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash"))
                .property(FakeRdmaCm.PROPERTY, System.getProperty(FakeRdmaCm.PROPERTY))
                .run(CmRaces.class.getName(), "races=2000", "millis=80", watch);

        assertThat(result.status()).describedAs(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).isNotEmpty()
                .allSatisfy(line -> assertThat(line.split("\t")[1]).describedAs(line).isNotEqualTo("0"));
    }
}
