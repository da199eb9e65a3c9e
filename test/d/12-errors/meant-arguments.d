erlang*:lists::entry { trace(arg5); trace(arg2); }
erlang*:lists::return { trace(args[3]); }
erlang*:lists::return { trace(result); }
erlang*:::process-exit { trace(arg2); }
erlang*:lists::exception { trace(arg3); trace(arg4); }
