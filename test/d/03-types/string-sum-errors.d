string s;
BEGIN { s += "b"; }
BEGIN { s = "a" + "b"; }
BEGIN { s = "a" - 1; }
BEGIN { s++; }
BEGIN { s = s * 2; }
BEGIN { trace("a" - "b"); }
BEGIN { trace(-s); }
