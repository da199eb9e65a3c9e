provider shop { probe a(int); };
provider shop { probe a(long); };
provider shop { probe b(int); };
provider shop { probe a(int, int); };
provider shop { };
provider dtrace { probe BEGIN(); };
BEGIN { exit(0); }
