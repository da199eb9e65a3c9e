BEGIN { trace(a); trace(b); trace(c); }
BEGIN { trace(d); trace(e); trace(f); }
BEGIN { trace(g); trace(h); trace(i); }
BEGIN { trace(j); trace(k); trace(l); }
BEGIN { trace(m); trace(n); trace(o); }
BEGIN { trace(p); trace(q); trace(r); }
BEGIN { trace(s); }
BEGIN { trace(t); }
BEGIN { trace(u); }
