struct out { int v; };
translator struct out < int i > { v = i; v = 2; };
BEGIN { exit(0); }
