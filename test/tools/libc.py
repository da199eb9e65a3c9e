"""libc - which names the agent's library may ask for: what scripts/dev/libc-names refuses, each test with one breach in what is right; and the library
itself, which is the same file for every C library."""
import os
import shutil
import subprocess

import erlt
from erlt import ROOT
from lint import run, write

LIBRARY = os.path.join(ROOT, "priv", "erltrace_agent.so")
NAMES = os.path.join(ROOT, "scripts", "dev", "libc-names")
FLAGS = ["-shared", "-fPIC", "-O1", "-nostdlib", "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fno-builtin"]

SOURCE = "int enif_self(void);\nint strcmp(const char *, const char *);\nint go(char *a);\nint go(char *a) { return enif_self() + strcmp(a, a + 1); }\n"
LIST = "# A comment.\nstrcmp 2.2.5\n"


def strange(name):
    """The source with one more function."""
    return SOURCE + f"int {name}(void);\nint more(void);\nint more(void) {{ return {name}(); }}\n"


# What is planted: the source, more arguments of the compiler, the list; and what is said of it.
BREACHES = {
    "a name that is not in the list": (strange("qsort"), [], LIST, r"list: qsort is missing, which .* asks for"),
    "a name that no library has": (strange("nowhere"), [], LIST + "nowhere 2.2.5\n", r"list: nowhere is not in .*libc\.so"),
    "a row that nothing asks for": (SOURCE, [], LIST + "qsort 2.2.5\n", r"list: .* no longer asks for qsort"),
    "a name that is too young": (strange("gettid"), [], LIST + "gettid 2.30\n", r"list: gettid is not in glibc 2\.17"),
    "several versions without a reason": (strange("pthread_cond_wait"), [], LIST + "pthread_cond_wait 2.2.5,2.3.2\n", r"several versions of pthread_cond_wait: why"),
    "a version that the row does not have": (strange("pthread_cond_wait"), [], LIST + "pthread_cond_wait 2.2.5\n",
                                             r"list: glibc has version 2\.3\.2 of pthread_cond_wait, which is not among 2\.2\.5"),
    "a library that it needs": (SOURCE, ["-Wl,--no-as-needed", "-lm"], LIST, r"needs libm\.so\.6, which a node with another C library does not have"),
    "a version of a name": (SOURCE, ["-lc"], LIST, r"asks for a version of a name, strcmp@GLIBC_2\.2\.5"),
    "variables of threads": (SOURCE + "__thread int mine;\nint *its(void);\nint *its(void) { return &mine; }\n", ["-ftls-model=initial-exec"], LIST,
                             r"has thread-local variables"),
}


def glibc():
    """Whether the compiler links with glibc, whose versions the list has."""
    out = subprocess.run(["gcc", "-print-file-name=libc.so.6"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip() if shutil.which("gcc") else ""
    if not os.path.isabs(out):
        raise erlt.Skipped("there is no gcc that links with glibc")


def checked(t, source, flags, listed):
    """Exit status and lines of libc-names for a library of this source."""
    write(t.folder, {"x.c": source, "list": listed})
    status, out = run(["gcc", *FLAGS, "-o", "x.so", "x.c", *flags], t.folder)
    t.equal(status, 0, out)
    status, out = run([NAMES, "x.so", "list"], t.folder)
    return status, out.splitlines()


def test_names_of_the_c_library(t):
    """What is right passes; each breach is told."""
    glibc()
    t.equal(checked(t, SOURCE, [], LIST), (0, []))
    t.equal(checked(t, strange("pthread_cond_wait"), [], LIST + "pthread_cond_wait 2.2.5,2.3.2 a reason\n"), (0, []))
    for what, (source, flags, listed, says) in BREACHES.items():
        status, lines = checked(t, source, flags, listed)
        t.equal(status, 1, what)
        t.match("\n".join(lines), says, what)


# Has every function of an emulator, none of which does anything; loads the library as an emulator does, and asks it what it is.
LOADER = """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void *(*init)(void) = library ? (void *(*)(void))dlsym(library, "nif_init") : 0;
    if (!init) {
        puts(dlerror());
        return 1;
    }
    puts(*(const char **)((char *)init() + 2 * sizeof(int)));
    return 0;
}
"""


def loaded_by(t, compiler):
    """What the smallest program of that C library says of the agent's library."""
    if shutil.which(compiler) is None:
        raise erlt.Skipped(f"{compiler} is missing: scripts/dev/deps otp-musl")
    names = subprocess.run(["nm", "-D", "--undefined-only", "--format=just-symbols", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    emulators = [name for name in names if name.startswith("enif_")]
    t.true(len(emulators) > 20, f"functions of the emulator: {names}")
    write(t.folder, {"loader.c": LOADER + "".join(f"void {name}(void);\nvoid {name}(void) {{}}\n" for name in emulators)})
    status, out = run([compiler, "-rdynamic", "-o", "loader", "loader.c", *([] if "musl" in compiler else ["-ldl", "-pthread"])], t.folder)
    t.equal(status, 0, out)
    return run(["./loader", LIBRARY], t.folder)


def test_agent_and_musl(t):
    """A program that is built with musl loads the library: musl has all names that it asks for."""
    t.equal(loaded_by(t, "musl-gcc"), (0, "erltrace_agent\n"))


def test_agent_and_glibc(t):
    """So does one that is built with the C library of this host."""
    t.equal(loaded_by(t, "gcc"), (0, "erltrace_agent\n"))
