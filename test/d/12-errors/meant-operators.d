BEGIN /arg0 == 1 and arg1 == 2/ { }
BEGIN /arg0 == 1 or arg1 == 2/ { }
BEGIN /not arg0/ { }
BEGIN /arg0 =:= 1/ { }
BEGIN /arg0 =/= 1/ { }
BEGIN /arg0 === 1/ { }
BEGIN /arg0 =< 1/ { }
BEGIN { x := 1; }
BEGIN { "a" <> "b"; }
BEGIN { trace(timestamp) |> count(); }
