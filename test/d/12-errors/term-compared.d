erlang*:erltrace:probe:x /args[2] == "shop"/ { }
erlang*:erltrace:probe:x /5 < args[2]/ { }
