// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.races;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A short version of what {@code scripts/lib/races} does for minutes; and that it would catch an unsafe guard. */
@WithFakeVerbs
class RacesTest {
    private static final int FAILED = 1;

    @TempDir
    private Path folder;

    private ForkedJvm jvm() {
        return ForkedJvm.of(RunRaces.class).nativeAccess()
                .options("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash"));
    }

    @ParameterizedTest
    @ValueSource(classes = {BiasedLockRaces.class, VerbsRaces.class, ObjectRaces.class})
    void aCloseMayComeAtAnyTime(Class<? extends Races> races) throws Exception {
        ForkedJvm.Result result = jvm().run(races.getName(), "races=2000", "millis=80");

        assertThat(result.status()).describedAs(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).isNotEmpty()
                .allSatisfy(line -> assertThat(line.split("\t")[1]).describedAs(line).isNotEqualTo("0"));
    }

    @Test
    void nothingReadsWhatIsGone() throws Exception {
        ForkedJvm.Result result = jvm().run(ObjectRaces.class.getName(), "races=2000", "millis=80", "watch=2",
                "only=.* every method/close");

        assertThat(result.status()).describedAs(result.output() + result.errors()).isZero();
    }

    @Nightly
    @ParameterizedTest
    @CsvSource({
        "NO_MEMBARRIER, io.rdmacm.verbs.races.BiasedLockRaces, BiasedLock use/close",
        "NO_MARK, io.rdmacm.verbs.races.BiasedLockRaces, BiasedLock use/close",
        "NO_SECOND_LOOK, io.rdmacm.verbs.races.BiasedLockRaces, BiasedLock use/close",
        "NO_WAIT, io.rdmacm.verbs.races.BiasedLockRaces, BiasedLock use/use/close",
        "NO_MEMBARRIER, io.rdmacm.verbs.races.BiasedLockRaces, LockGroup look/free",
        "NO_MARK, io.rdmacm.verbs.races.BiasedLockRaces, LockGroup look/free",
        "NO_LOOK_AT_MARKS, io.rdmacm.verbs.races.BiasedLockRaces, LockGroup look/look/look/free",
        "NO_LOOK_AT_LOCK, io.rdmacm.verbs.races.BiasedLockRaces, LockGroup lookLocked/free",
        "NO_MARK, io.rdmacm.verbs.races.VerbsRaces, QueuePair postSend/close",
        "NO_WAIT, io.rdmacm.verbs.races.VerbsRaces, CompletionQueue poll/close",
        "NO_MARK, io.rdmacm.verbs.races.VerbsRaces, SharedReceiveQueue postReceive/close",
        "NO_MARK, io.rdmacm.verbs.races.ObjectRaces, 'MemoryRegion inline/close, its memory freed at once'",
        "NO_USERS, io.rdmacm.verbs.races.ObjectRaces, Counters read/close",
    })
    void anUnsafeGuardIsCaught(Mutant mutant, String races, String race) throws Exception {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "one processor: its threads do not race");
        mutant.write(folder);

        ForkedJvm.Result result = jvm()
                .classPath(folder + File.pathSeparator + System.getProperty("java.class.path"))
                .run(races, "only=\\Q" + race + "\\E", "races=1000000000", "millis=120000");

        assertThat(result.status()).describedAs(result.output() + result.errors()).isEqualTo(FAILED);
        assertThat(result.output()).contains("FAILED " + race);
    }

    @Test
    void aRaceThatHangsIsReported() throws IOException, InterruptedException {
        ForkedJvm.Result result = jvm().run(HangingRaces.class.getName(), "hang=1", "races=1");

        assertThat(result.status()).isEqualTo(3);
        assertThat(result.output()).contains("HANGS waits for ever", "HangingRaces");
    }
}
