#pragma D option libdir=lib-plain
#pragma D option syslibdir=lib-plain
#pragma D option nolibs
BEGIN { exit(0); }
