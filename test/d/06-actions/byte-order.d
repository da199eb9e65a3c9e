#pragma D option quiet


BEGIN
{
	printf("%x\n", htons(0x1234));
	printf("%x\n", htonl(0x12345678));
	printf("%x\n", htonll(0x1122334455667788));
	printf("%x\n", ntohs(0x11223344));
	printf("%x\n", ntohl(1));
	printf("%x\n", ntohll(1));
	printf("%d\n", htons(ntohs(4660)));
	printf("%d\n", sizeof (htons(1)));
	printf("%d\n", sizeof (htonl(1)));
	printf("%d\n", sizeof (ntohll(1)));
	exit(0);
}
