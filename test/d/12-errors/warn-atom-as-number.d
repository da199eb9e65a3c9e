erlang*:erltrace:probe:x /args[2] == 'get'/ { }
erlang*:erltrace:probe:x /'ab' != args[2]/ { }
erlang*:erltrace:probe:x /args[2] == 'g' || args[2] == "get"/ { }
BEGIN { exit(0); }
