erlang*:erltrace:probe:x /element(0, args[2]) != NULL/ { }
erlang*:erltrace:probe:x /term_element(args[2], -1) != NULL || element(1, args[2]) == "a"/ { }
BEGIN { exit(0); }
#pragma D option zdefs
