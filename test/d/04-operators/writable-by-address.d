/* Stores are decided by the address: a list in memory from alloca(), pointers to arrays of D, and
 * what a member or an element points to. */
#pragma D option quiet
struct node { int value; struct node *next; };
struct box { struct node *first; int *at[2]; } b;
int a[4];
this int c[3];
int *p;
struct node *walk;
BEGIN
{
	this->head = (struct node *)alloca(sizeof (struct node));
	this->head->next = (struct node *)alloca(sizeof (struct node));
	this->head->value = 1;
	this->head->next->value = 2;
	this->head->next->next = NULL;
	walk = this->head;
	walk = walk->next;
	walk->value += 10;
	this->head->next->value *= 2;
	printf("%d %d %d\n", this->head->value, this->head->next->value, walk->next == NULL);
}
BEGIN
{
	p = &a[1];
	*p = 5;
	p[1] = 6;
	p++;
	*p += 1;
	*(p + 1) = 8;
	b.at[1] = &a[0];
	*b.at[1] = 4;
	b.at[1][1]--;
	printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
}
BEGIN
{
	this->c[2] = 1;
	this->q = &this->c[1];
	this->q[1] += 41;
	printf("%d\n", this->c[2]);
	exit(0);
}
