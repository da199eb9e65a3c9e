x$nosuch:::a { exit(0); }
x$targets:::a { exit(0); }
x$1:::a { exit(0); }
