provider shop { probe a__b(int); probe a__b(int); };
BEGIN { exit(0); }
