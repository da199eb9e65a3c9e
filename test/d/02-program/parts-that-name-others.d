/* One part is the name, two are function and name, three module, function and name. */
nosuch { exit(0); }
dtrace:BEGIN { exit(0); }
dtrace::BEGIN { exit(0); }
dtrace:BEGIN:: { exit(0); }
