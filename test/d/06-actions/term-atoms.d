/* atoms of the text: terms like others, the same one wherever they are named */
#pragma D option quiet
BEGIN
{
	this->a = atom("get");
	printf("%d%d%d%d %d%d%d%d\n", this->a == atom("get"), this->a != atom("put"), atom("put") == this->a, this->a == NULL,
	    this->a == "get", "put" == this->a, this->a == 0, 1 != this->a);
	printf("%s %d %s %d\n", term_kind(this->a), is_boolean(atom("true")), term_string(atom("a b")), term_hash(this->a) == term_hash(atom("get")));
	printf("%T %T %T %T %T\n", this->a, atom("a b"), atom("end"), atom(""), atom("\303\244"));
	printf("%#T %#T %#T %#T\n", this->a, atom("a b"), atom("nil"), atom("a?"));
	printf("[%-5T|%5T|%.2T]\n", this->a, this->a, this->a);
	trace(this->a);
	print(this->a);
	n[this->a, 1]++;
	printf(" %d\n", n["get", 1]);
	@[atom("a b")] = count();
	printa("%T %@d\n", @);
	exit(0);
}
