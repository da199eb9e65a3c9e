BEGIN
{
	trace(index("a", "b"));
	trace(PCAP_ETHER);
	@ = llquantize(1, 10, 0, 2, 10);
}
