BEGIN { x = alloca(257); }
