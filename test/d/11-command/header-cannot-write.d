provider shop {
	probe order__start(char *item, int n);
	probe closing();
};
