#!/bin/sh
# reference_without_a_version.sh: a library that asks for a function of glibc without naming a version does not simply get the oldest one.
# glibc 2.36 (libc6 2.36-9+deb12u14), as Debian 12 packs it, on x86-64.
#
# A library that is linked with -nostdlib records names without versions, so that one file can be loaded with any C library. Of a name with
# several versions glibc's loader then takes the first version that the library libc.so.6 has ever had on this processor, GLIBC_2.2.5 on x86-64
# (of memcpy not the one that programs get, 2.14). A name that has no such version, though it has an old one (sched_getaffinity: 2.3.3, which
# takes no size, and 2.3.4), is the default one, as in a program that is linked today.
#
# Prints what it saw. Exit status: 0, as above; 1, it has changed; 75, the package cannot be had, or there is no C compiler.
set -eu
version=2.36-9+deb12u14
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v cc >/dev/null || { echo "there is no C compiler"; exit 75; }
apt-get download "libc6=$version" >/dev/null 2>&1 || { echo "libc6 $version cannot be downloaded"; exit 75; }
dpkg-deb -x libc6_*.deb .
cat >asks.c <<'C'
extern void *memcpy(void *, const void *, unsigned long);
extern int sched_getaffinity(int, unsigned long, void *);
void *copies(void) { return (void *)memcpy; }
void *affinity(void) { return (void *)sched_getaffinity; }
C
cat >tells.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
static const char *which(void *at, const char *name, const char *old, const char *young)
{
    return at == dlvsym(RTLD_DEFAULT, name, old) ? old : at == dlvsym(RTLD_DEFAULT, name, young) ? young : "another";
}
int main(void)
{
    void *l = dlopen("./asks.so", RTLD_NOW);
    void *(*copies)(void) = l ? (void *(*)(void))dlsym(l, "copies") : 0, *(*affinity)(void) = l ? (void *(*)(void))dlsym(l, "affinity") : 0;
    if (!copies || !affinity)
        return 2;
    printf("memcpy: %s\n", which(copies(), "memcpy", "GLIBC_2.2.5", "GLIBC_2.14"));
    printf("sched_getaffinity: %s\n", which(affinity(), "sched_getaffinity", "GLIBC_2.3.3", "GLIBC_2.3.4"));
    return 0;
}
C
cc -O1 -fno-builtin -fPIC -shared -nostdlib -Wl,-z,undefs -o asks.so asks.c
cc -o tells tells.c
lib="$work/lib/x86_64-linux-gnu"
"$lib/ld-linux-x86-64.so.2" --library-path "$lib" ./tells >saw
cat saw
[ "$(cat saw)" = "memcpy: GLIBC_2.2.5
sched_getaffinity: GLIBC_2.3.4" ]
