BEGIN { tracemem(arg0, 4 - 4); exit(0); }
