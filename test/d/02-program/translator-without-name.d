struct out { int v; };
translator struct out < int > { v = 1; };
BEGIN { exit(0); }
