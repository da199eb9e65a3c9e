BEGIN { trace(1); }
