import x;
counter int y;
BEGIN { import = 1; }
BEGIN { counter = 1; }
