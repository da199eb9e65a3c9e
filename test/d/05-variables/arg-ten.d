BEGIN { trace(arg10); }
BEGIN { trace(arg); }
BEGIN { trace(arg01); }
