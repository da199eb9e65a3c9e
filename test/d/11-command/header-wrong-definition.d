provider shop { probe a(int); probe a(int); };
