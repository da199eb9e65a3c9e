BEGIN { x = 0 ? 5 : nosuch; }
BEGIN { x = 1 ? strlen(5) : 7; }
BEGIN { 1 ? trace(1) : 0; }
