BEGIN { at = 0; self->at = 0; some["a"] = 0; whole = 0LL; small = 0; at = 5; }
BEGIN { at = timestamp; self->at = timestamp; some["b"] = timestamp; whole = timestamp; small = (int)timestamp; }
BEGIN { all = 0; self->all = 0; all += timestamp - whole; self->all += pid; self->all++; all += strlen("x"); }
BEGIN { small = pid; small = at > 1; exit(0); }
