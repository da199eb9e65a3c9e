provider shop { probe a(int) };
provider shop { a(int); };
provider shop { probe a; };
provider { probe a(); };
provider shop { probe a(); }
BEGIN { exit(0); }
