BEGIN { trace(1lu); }
BEGIN { trace(1lll); }
BEGIN { trace(1uu); }
BEGIN { trace(1ulll); }
