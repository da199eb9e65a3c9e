uint16_t { exit(0); }
