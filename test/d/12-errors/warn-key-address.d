erlang*:::process-spawn { @[arg0] = count(); @b[arg1, copyinstr(arg0)] = count(); }
erlang*:lists::entry { @c[copyinstr(arg0), arg2] = count(); @d[args[0]] = count(); }
BEGIN { @e[arg0] = count(); exit(0); }
#pragma D option zdefs
