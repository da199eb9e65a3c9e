/* udp.d - datagrams of UDP. A header that is not known is NULL: its numbers are 0. */
#pragma D depends_on library net.d
#pragma D depends_on library ip.d

typedef struct udpinfo {
	uint16_t udp_sport;		/* source port */
	uint16_t udp_dport;		/* destination port */
	uint16_t udp_length;		/* bytes, with the header */
	uint16_t udp_checksum;
	uintptr_t udp_hdr;		/* address of the header */
} udpinfo_t;

typedef struct udpsinfo {
	uintptr_t udps_addr;		/* address of the system's structure */
	uint16_t udps_lport;		/* our port */
	uint16_t udps_rport;		/* theirs; 0 if the socket is not connected */
	string udps_laddr;
	string udps_raddr;
} udpsinfo_t;

translator udpinfo_t < struct udphdr *U > {
	udp_sport = U == NULL ? 0 : ntohs(U->source);
	udp_dport = U == NULL ? 0 : ntohs(U->dest);
	udp_length = U == NULL ? 0 : ntohs(U->len);
	udp_checksum = U == NULL ? 0 : ntohs(U->check);
	udp_hdr = (uintptr_t)U;
};

translator udpsinfo_t < struct sock *S > {
	udps_addr = (uintptr_t)S;
	udps_lport = ntohs(((struct inet_sock *)S)->inet_sport);
	udps_rport = ntohs(S->__sk_common.skc_dport);
	udps_laddr = S->__sk_common.skc_family == AF_INET ? inet_ntoa((ipaddr_t *)&S->__sk_common.skc_rcv_saddr) :
	    inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_rcv_saddr);
	udps_raddr = S->__sk_common.skc_family == AF_INET ? inet_ntoa((ipaddr_t *)&S->__sk_common.skc_daddr) :
	    inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_daddr);
};
