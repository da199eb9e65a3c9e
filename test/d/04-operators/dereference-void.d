void *v;
BEGIN { trace(*v); exit(0); }
