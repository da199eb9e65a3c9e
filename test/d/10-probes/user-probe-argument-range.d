erlang*:erltrace:probe:order { trace(args[10]); }
erlang*:erltrace:probe:order { trace(args[2] + 1); }
erlang*:erltrace:probe:order { trace(strlen(args[2])); }
