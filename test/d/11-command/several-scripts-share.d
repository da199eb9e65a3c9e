BEGIN { x = 40; }
