BEGIN { IO.inspect(arg0); }
BEGIN { io:format("~p~n", [arg0]); }
BEGIN { printf("~p\n", arg0); }
BEGIN { println(arg0); }
BEGIN /execname == ok/ { }
BEGIN /pid == "<0.87.0>"/ { }
