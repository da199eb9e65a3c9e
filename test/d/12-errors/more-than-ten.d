BEGIN { trace(a); trace(b); trace(c); }
BEGIN { trace(d); trace(e); trace(f); }
BEGIN { trace(g); trace(h); trace(i); }
BEGIN { trace(j); }
BEGIN { trace(k); }
