erlang*:erltrace:probe:x /args[2] == 'get'/ { }
erlang*:erltrace:probe:x /'ab' != args[2]/ { }
erlang*:erltrace:probe:x /args[2] == 'g' || args[2] == "get"/ { }
erlang*:erltrace:probe:x /map_get('name', args[2]) == 1/ { this->x = args[2]; }
erlang*:erltrace:probe:x /args[2].kind == 'ok'/ { trace(this->x == 'no'); }
BEGIN { exit(0); }
#pragma D option zdefs
