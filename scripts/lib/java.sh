# Finds a JDK 25 or later, and builds the examples and tests if they are out of date.
# shellcheck shell=bash

JDK_WANTED=25

# is_jdk FOLDER: tells whether it is a JDK that is new enough, from its "release" file, without starting a JVM.
is_jdk() {
    local version
    [[ -x $1/bin/javac && -r $1/release ]] || return 1
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    [[ -n $version && $version -ge $JDK_WANTED ]]
}

# find_jdk: prints the folder of a JDK; tries JAVA_HOME, then the usual places, then the java on PATH.
find_jdk() {
    local folder
    for folder in "${JAVA_HOME:-}" /usr/lib/jvm/* /usr/local/lib/jvm/* /usr/java/* /opt/* /opt/java/* \
        "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/* "${HOME:-}"/.m2/jdks/*; do
        if is_jdk "$folder"; then
            echo "$folder"
            return 0
        fi
    done
    if have java; then
        folder=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
        if is_jdk "$folder"; then
            echo "$folder"
            return 0
        fi
    fi
    say "no JDK $JDK_WANTED or later: install one (package openjdk-25-jdk-headless where the distribution has it," \
        "or Eclipse Temurin from adoptium.net) and set JAVA_HOME if it is not below /usr/lib/jvm"
    return 1
}

# use_jdk: sets JAVA_HOME, for Maven and for "$JAVA_HOME/bin/java".
use_jdk() {
    JAVA_HOME=$(find_jdk) || exit 125
    export JAVA_HOME
}

# use_maven: sets RDMACM_MAVEN: the Maven that mvnw downloads or has downloaded, from a mirror of the user's settings if
# there is one, or else a mvn of this machine.
use_maven() {
    [[ -z ${RDMACM_MAVEN:-} ]] || return 0
    local root home=${MAVEN_USER_HOME:-${HOME:-/tmp}/.m2} version mirror=''
    root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
    version=$(sed -n 's,^distributionUrl=.*/\(apache-maven-[0-9.]*\)-bin.*,\1,p' "$root/.mvn/wrapper/maven-wrapper.properties")
    if ! compgen -G "$home/wrapper/dists/$version/*/bin/mvn" >/dev/null; then
        [[ ! -e $home/settings.xml ]] ||
            mirror=$(sed -n '/<mirror>/,/<\/mirror>/s,.*<url>\(.*[^/]\)/*</url>.*,\1,p' "$home/settings.xml" | head -n 1)
        MVNW_REPOURL=${MVNW_REPOURL:-$mirror} timeout 120 "$root/mvnw" -v >/dev/null 2>&1 </dev/null || true
    fi
    RDMACM_MAVEN=$(compgen -G "$home/wrapper/dists/$version/*/bin/mvn" | head -n 1) || true
    if [[ -z $RDMACM_MAVEN ]]; then
        require_all program:mvn || return 1
        say "mvnw cannot download $version: taking the mvn of this machine"
        RDMACM_MAVEN=mvn
    fi
    export RDMACM_MAVEN
}

# run_maven ARGUMENT...: without colours and progress bars, and without the JVM's warnings about Maven's libraries.
run_maven() {
    use_maven || return 1
    MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED ${MAVEN_OPTS:-}" \
        "$RDMACM_MAVEN" -B -ntp -Dstyle.color=never "$@" </dev/null
}

# copy_jars FOLDER ARTIFACT...: puts the jars of artifacts, and of what they need, into the folder's lib. Of two versions
# of the same, that of the artifact that is named first is taken. Words without two colons are not artifacts.
copy_jars() {
    local folder=$1 artifact group id version
    shift
    mkdir -p "$folder/lib"
    {
        echo "<project><modelVersion>4.0.0</modelVersion>"
        echo "<groupId>jars</groupId><artifactId>${folder##*/}</artifactId><version>1</version><dependencies>"
        for artifact; do
            IFS=: read -r group id version <<<"$artifact"
            [[ -z $version ]] || echo "<dependency><groupId>$group</groupId><artifactId>$id</artifactId>" \
                "<version>$version</version></dependency>"
        done
        echo "</dependencies></project>"
    } >"$folder/pom.xml"
    run_maven -q -f "$folder/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies \
        -DoutputDirectory=lib >"$folder/maven.log" 2>&1 || { tail -n 20 "$folder/maven.log"; die 1 "not to be had: $*"; }
}

# test_class_path ROOT: prints the class path of all modules and their tests.
test_class_path() {
    local module path=()
    for module in rdmacm-bindings-gen rdmacm-verbs rdmacm-core rdmacm-netty rdmacm-examples; do
        path+=("$1/$module/target/classes" "$1/$module/target/test-classes")
    done
    (IFS=:; echo "${path[*]}:$(<"$1/rdmacm-examples/target/test-classpath.txt")")
}

EXAMPLES_JAR=rdmacm-examples/target/rdmacm-examples.jar
# The JVM's cache of the classes that the programs load (JEP 483), with which they start in about half the time.
EXAMPLES_CACHE=rdmacm-examples/target/rdmacm-examples.jsa

# examples_outdated ROOT: tells whether a source of the jar is newer than the jar.
examples_outdated() {
    local root=$1 jar=$1/$EXAMPLES_JAR module sources=()
    [[ -e $jar ]] || return 0
    for module in rdmacm-bindings-gen rdmacm-verbs rdmacm-core rdmacm-netty rdmacm-examples; do
        sources+=("$root/$module/pom.xml" "$root/$module/src/main")
        [[ ! -d $root/$module/src/generated ]] || sources+=("$root/$module/src/generated")
    done
    [[ -n $(find "$root/pom.xml" "${sources[@]}" -newer "$jar" -print -quit) ]]
}

# build_examples ROOT: builds quietly unless it fails. If two run at once (server and client), only one builds.
build_examples() {
    local root=$1 lock log=$1/rdmacm-examples/target/build.log
    if ! examples_outdated "$root"; then
        # A build by hand makes the jar anew, and the JVM refuses a cache that is of another one.
        [[ ! $root/$EXAMPLES_JAR -nt $root/$EXAMPLES_CACHE ]] || build_cache "$root" "$EXAMPLES_CACHE" "$root/$EXAMPLES_JAR"
        return 0
    fi
    mkdir -p "$root/rdmacm-examples/target"
    exec {lock}>"$root/rdmacm-examples/target/.build.lock"
    flock "$lock"
    if examples_outdated "$root"; then
        use_maven || return 1
        say "building the examples"
        if ! (cd "$root" && run_maven -q -DskipTests -pl rdmacm-examples -am package) >"$log" 2>&1; then
            tail -n 40 "$log" >&2
            return 1
        fi
        # Maven does not touch the jar if its content has not changed.
        touch "$root/$EXAMPLES_JAR"
        build_cache "$root" "$EXAMPLES_CACHE" "$root/$EXAMPLES_JAR"
    fi
    exec {lock}>&-
}

# The same cache for the JVMs of the tests: it holds for class paths that begin with these jars.
TESTS_CACHE=target/test/classes.jsa
# The tests of rdmacm-sockets run with the JDK's own channels.
# shellcheck disable=SC2034  # for the scripts that read this one
MODULE_OPTIONS=(--enable-native-access=ALL-UNNAMED --add-exports java.base/sun.nio.ch=ALL-UNNAMED)

# test_jars ROOT: prints the jars of all modules and of what their tests use, as a class path.
test_jars() {
    local root=$1 module version path=()
    for module in rdmacm-bindings-gen rdmacm-verbs rdmacm-core rdmacm-netty rdmacm-sockets rdmacm-examples rdmacm-bench; do
        version=$(sed -n 's/^version=//p' "$root/$module/target/maven-archiver/pom.properties")
        path+=("$root/$module/target/$module-$version.jar")
    done
    for module in rdmacm-examples rdmacm-bench rdmacm-netty rdmacm-sockets; do
        path+=("$(<"$root/$module/target/test-classpath.txt")")
    done
    (IFS=:; echo "${path[*]}")
}

# build_tests_cache ROOT: after a build.
build_tests_cache() {
    mkdir -p "$1/target/test"
    # For the many JVMs that tests start. The one that runs the tests exports a package, and cannot use it.
    build_cache "$1" "$TESTS_CACHE" "$(test_jars "$1")" --enable-native-access=ALL-UNNAMED
}

# tests_cache_holds ROOT: tells whether nothing was compiled since it was made.
tests_cache_holds() {
    [[ -e $1/$TESTS_CACHE && -z $(find "$1"/rdmacm-*/target/classes -newer "$1/$TESTS_CACHE" -print -quit) ]]
}

# The classes to cache, written by list-classes. Those that a JVM does not find there or here are loaded as usual. With
# the AOT cache of a run (JEP 514), which needs a device, rping takes an eighth longer to start, connect and end; with
# the names in the jar and the JDK's own list instead of this one, half as long again.
CLASSES=scripts/lib/classes.txt

# Without code: that for this machine's CPU crashes the JVM in a guest with another one.
CACHE_OPTIONS=("-Xlog:aot*=off" "-Xlog:cds*=off" -XX:+UnlockDiagnosticVMOptions -XX:-AOTAdapterCaching -XX:-AOTStubCaching)

# build_cache ROOT CACHE CLASS_PATH OPTION...: with the options of the JVMs that will use it and that concern modules.
# A JVM that cannot write the cache, or cannot use it later, does without.
build_cache() {
    rm -f "$1/$2"
    "$JAVA_HOME/bin/java" -XX:+UseSerialGC "${CACHE_OPTIONS[@]}" -Xshare:dump -XX:+AOTClassLinking \
        -XX:SharedClassListFile="$1/$CLASSES" -XX:SharedArchiveFile="$1/$2" "${@:4}" -cp "$3" >/dev/null 2>&1 || true
}

# build_tests ROOT: builds the examples, the modules below them and all their tests, quietly unless it fails.
build_tests() {
    local root=$1 built=$1/rdmacm-examples/target/.tests-built log=$1/rdmacm-examples/target/build-tests.log
    if [[ -e $built && -z $(find "$root"/pom.xml "$root"/rdmacm-{bindings-gen,verbs,core,netty,examples}/{pom.xml,src} \
        -newer "$built" -print -quit) ]]; then
        return 0
    fi
    use_maven || return 1
    say "building the tests"
    mkdir -p "$root/rdmacm-examples/target"
    if ! (cd "$root" && run_maven -q -DskipTests -pl rdmacm-examples -am package) >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        return 1
    fi
    touch "$built"
}
