BEGIN { arg3 = 1; }
BEGIN { vtimestamp = 1; }
BEGIN { walltimestamp += 1; }
BEGIN { probefunc = "f"; }
BEGIN { ++tid; }
BEGIN { id = 5; }
BEGIN { cpu--; }
BEGIN { execname = "x"; }
