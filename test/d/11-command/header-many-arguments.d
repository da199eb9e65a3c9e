provider shop { probe many(int, int, int, int, int, int, int, int, int, int, int, int, int); };
