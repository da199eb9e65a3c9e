BEGIN { if (1) trace(1); else trace(2); exit(0); }
