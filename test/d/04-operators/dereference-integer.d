int v;
BEGIN { trace(*v); exit(0); }
