BEGIN { tracemem("text", 4); exit(0); }
