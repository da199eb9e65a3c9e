erlang*:erltrace:probe:x { trace(args[2]["name"]); }
erlang*:erltrace:probe:x { trace(args[2][0]); }
erlang*:erltrace:probe:x { inspect(args[2]); }
erlang*:erltrace:probe:x /args[2] == :get/ { }
erlang*:erltrace:probe:x /:get == args[2]/ { }
BEGIN { trace(arg0 ? 1 :arg1); }
gleam@list:->list/1 { }
lists:map->return { }
gleam@list:with blank/0:entry { }
