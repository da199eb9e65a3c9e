#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", AF_INET, AF_INET6, ARPHRD_ETHER, ARPHRD_INFINIBAND);
	printf("%d %d %d %d\n", IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6);
	printf("%x %x %x %x\n", B_READ, B_WRITE, B_ASYNC, B_ERROR);
	printf("%d %d %d %d\n", RW_WRITER, RW_READER, PCAP_ETHER, PCAP_IP);
	printf("%d %d %d %d %d\n", SSLEEP, SRUN, SZOMB, SSTOP, SONPROC);
	printf("%x %x %x\n", PR_STOPPED, PR_ISTOP, PR_FORK);
	printf("%d %d\n", sizeof (SRUN), sizeof (PR_STOPPED));
	exit(0);
}
