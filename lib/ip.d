/* ip.d - packets of the Internet Protocol. Of a header that is not known (NULL), or is of the other
 * version, addresses are "<unknown>" and numbers 0; so are lengths that do not fit into a header. */
#pragma D depends_on library net.d

typedef struct ipinfo {
	uint8_t ip_ver;			/* 4 or 6 */
	uint32_t ip_plength;		/* bytes after the header */
	string ip_saddr;		/* source */
	string ip_daddr;		/* destination */
} ipinfo_t;

typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;		/* bytes of the header */
	uint8_t ipv4_tos;
	uint16_t ipv4_length;		/* bytes, with the header */
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;		/* of a fragment, in units of 8 bytes */
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;		/* "TCP" */
	uint16_t ipv4_checksum;
	ipaddr_t ipv4_src;
	ipaddr_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	uintptr_t ipv4_hdr;		/* address of the header */
} ipv4info_t;

typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;		/* bytes after the header */
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;		/* "TCP" */
	uint8_t ipv6_hlim;
	string ipv6_saddr;
	string ipv6_daddr;
	uintptr_t ipv6_hdr;		/* address of the header */
} ipv6info_t;

inline string _ip_protocol[int number] = number == 1 ? "ICMP" : number == 2 ? "IGMP" : number == 4 ? "IP" : number == 6 ? "TCP" :
    number == 17 ? "UDP" : number == 41 ? "IPV6" : number == 47 ? "GRE" : number == 50 ? "ESP" : number == 51 ? "AH" :
    number == 58 ? "ICMPV6" : number == 89 ? "OSPF" : number == 132 ? "SCTP" : "<unknown>";

translator ipinfo_t < struct iphdr *I > {
	ip_ver = I == NULL ? 0 : I->version;
	ip_plength = I == NULL ? 0 : I->version == 4 ? (ntohs(I->tot_len) > 4 * I->ihl ? ntohs(I->tot_len) - 4 * I->ihl : 0) : ntohs(((struct ipv6hdr *)I)->payload_len);
	ip_saddr = I == NULL ? "<unknown>" : I->version == 4 ? inet_ntoa((ipaddr_t *)&I->saddr) : inet_ntoa6((in6_addr_t *)&((struct ipv6hdr *)I)->saddr);
	ip_daddr = I == NULL ? "<unknown>" : I->version == 4 ? inet_ntoa((ipaddr_t *)&I->daddr) : inet_ntoa6((in6_addr_t *)&((struct ipv6hdr *)I)->daddr);
};

translator ipv4info_t < struct iphdr *I > {
	ipv4_ver = I == NULL || I->version != 4 ? 0 : I->version;
	ipv4_ihl = I == NULL || I->version != 4 ? 0 : 4 * I->ihl;
	ipv4_tos = I == NULL || I->version != 4 ? 0 : I->tos;
	ipv4_length = I == NULL || I->version != 4 ? 0 : ntohs(I->tot_len);
	ipv4_ident = I == NULL || I->version != 4 ? 0 : ntohs(I->id);
	ipv4_flags = I == NULL || I->version != 4 ? 0 : ntohs(I->frag_off) >> 13;
	ipv4_offset = I == NULL || I->version != 4 ? 0 : ntohs(I->frag_off) & 0x1fff;
	ipv4_ttl = I == NULL || I->version != 4 ? 0 : I->ttl;
	ipv4_protocol = I == NULL || I->version != 4 ? 0 : I->protocol;
	ipv4_protostr = I == NULL || I->version != 4 ? "<unknown>" : _ip_protocol[I->protocol];
	ipv4_checksum = I == NULL || I->version != 4 ? 0 : ntohs(I->check);
	ipv4_src = I == NULL || I->version != 4 ? 0 : I->saddr;
	ipv4_dst = I == NULL || I->version != 4 ? 0 : I->daddr;
	ipv4_saddr = I == NULL || I->version != 4 ? "<unknown>" : inet_ntoa((ipaddr_t *)&I->saddr);
	ipv4_daddr = I == NULL || I->version != 4 ? "<unknown>" : inet_ntoa((ipaddr_t *)&I->daddr);
	ipv4_hdr = (uintptr_t)I;
};

translator ipv6info_t < struct ipv6hdr *I > {
	ipv6_ver = I == NULL || I->version != 6 ? 0 : I->version;
	ipv6_tclass = I == NULL || I->version != 6 ? 0 : (I->priority << 4) | (I->flow_lbl[0] >> 4);
	ipv6_flow = I == NULL || I->version != 6 ? 0 : ((I->flow_lbl[0] & 15) << 16) | (I->flow_lbl[1] << 8) | I->flow_lbl[2];
	ipv6_plen = I == NULL || I->version != 6 ? 0 : ntohs(I->payload_len);
	ipv6_nexthdr = I == NULL || I->version != 6 ? 0 : I->nexthdr;
	ipv6_nextstr = I == NULL || I->version != 6 ? "<unknown>" : _ip_protocol[I->nexthdr];
	ipv6_hlim = I == NULL || I->version != 6 ? 0 : I->hop_limit;
	ipv6_saddr = I == NULL || I->version != 6 ? "<unknown>" : inet_ntoa6((in6_addr_t *)&I->saddr);
	ipv6_daddr = I == NULL || I->version != 6 ? "<unknown>" : inet_ntoa6((in6_addr_t *)&I->daddr);
	ipv6_hdr = (uintptr_t)I;
};
