erlang*:erltrace:probe:x /args[2] < "shop"/ { }
erlang*:erltrace:probe:x /5 < args[2]/ { }
erlang*:erltrace:probe:x /args[2] < args[3]/ { }
erlang*:erltrace:probe:x /args[2] == "shop" || args[2] == 5 || args[2] == args[3] || args[2] == atom("a")/ { }
erlang*:erltrace:probe:x { @ = sum(args[2]); }
erlang*:erltrace:probe:x { printf("%s", args[2]); }
erlang*:erltrace:probe:x { printf("%d", args[2]); }
erlang*:erltrace:probe:x { this->n = term_is_int(args[2], 1); }
