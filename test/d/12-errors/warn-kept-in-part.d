BEGIN { at = 0; self->at = 0; some["a"] = 0; whole = 0LL; small = 0; at = 5; }
BEGIN { at = timestamp; self->at = timestamp; some["b"] = timestamp; whole = timestamp; small = (int)timestamp; }
BEGIN { small = pid; small = at > 1; exit(0); }
