erlang*:::process-spawn /args[1] == "shop"/ { }
erlang*:lists::entry /copyinstr(arg1) != "lists:map"/ { }
erlang*:lists::entry, erlang*:lists::return /args[0] == "87" || args[0] == "0.87.0"/ { }
erlang*:::message-send /"shop" == args[0]/ { }
erlang*:::process-exit /arg0 == 87/ { }
erlang*:::process-exit /arg1 != 87/ { }
erlang*:::message-queued /args[2] > 100/ { }
/* What can be, and what is not known to be the same in all probes that are meant. */
erlang*:::process-spawn /args[1] == "shop:order/2" || args[0] == "<0.87.0>" || args[1] == "<unknown>"/ { }
erlang*:::process-exit /args[1] == "shop" || arg0 == 0 || arg0 != NULL/ { }
erlang*:::message-send /args[2] > 100 || arg2 == 4294967295/ { }
erlang*:::process-s* /copyinstr(arg1) == "shop"/ { }
erlang*:::message-queued /args[2] != 4294967295 && args[3] == 0 && arg4 != 0/ { }
BEGIN { exit(0); }
#pragma D option zdefs
