BEGIN { trace(123$pid); }
BEGIN { trace(x$pid); }
BEGIN { trace(1$1); }
