BEGIN { exit(0); }
}
