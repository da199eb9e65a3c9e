struct nope;
struct nope *q;
void *v;

BEGIN
{
	print(q);
	print(v);
	print(5);
	print();
	print(q, v);
}
