struct point { int x, y, z; };
provider shop { probe moved(struct point); };
