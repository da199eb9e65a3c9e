string s;
BEGIN { trace(s[1000]); }
BEGIN { trace(s[-1]); }
BEGIN { trace("abc"["a"]); }
BEGIN { s[0] = 'x'; }
BEGIN { trace(s[1, 2]); }
