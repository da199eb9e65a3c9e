#pragma D option quiet
uint a;
ushort b;
struct in_addr in;
struct in6_addr in6;
__u8 u8;
__s8 s8;
__be32 be;
__le64 le;
BEGIN
{
	u8 = 255;
	s8 = 255;
	printf("%d %d %d %d %d %d", sizeof (a), sizeof (b), sizeof (in), sizeof (in6), u8, s8);
	printf(" %d %d %d\n", sizeof (be), sizeof (le), sizeof (in6_addr_t));
	this->a = (struct in_addr *)alloca(sizeof (struct in_addr));
	this->a->s_addr = htonl(0x7f000001);
	this->b = (struct in6_addr *)alloca(sizeof (struct in6_addr));
	this->b->in6_u.u6_addr8[15] = 1;
	printf("%s %s\n", inet_ntoa(&this->a->s_addr), inet_ntop(AF_INET, this->a));
	exit(0);
}
