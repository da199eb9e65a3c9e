/* net.d - addresses and connections. */

typedef uint32_t ipaddr_t;
typedef uint32_t in_addr_t;

struct in_addr {
	in_addr_t s_addr;		/* most significant byte first */
};

typedef struct in6_addr {
	union {
		uint8_t u6_addr8[16];
		uint16_t u6_addr16[8];
		uint32_t u6_addr32[4];
	} in6_u;
} in6_addr_t;

typedef struct conninfo {
	string ci_local;		/* our address */
	string ci_remote;		/* theirs */
	string ci_protocol;		/* "ipv4" or "ipv6" */
} conninfo_t;

/* A packet, a socket and a device, as the probes of ip, tcp and udp name them. */
typedef struct pktinfo {
	uintptr_t pkt_addr;		/* address of the system's structure */
} pktinfo_t;

typedef struct csinfo {
	uintptr_t cs_addr;		/* address of the system's structure */
	uint64_t cs_cid;		/* the connection's number, 0 if nobody has asked for it */
	pid_t cs_pid;			/* not known: -1 */
	zoneid_t cs_zoneid;
} csinfo_t;

typedef struct ifinfo {
	string if_name;			/* "eth0" */
	int8_t if_local;		/* whether it leads back to this host */
	uint32_t if_netstack;
	uintptr_t if_addr;		/* address of the system's structure */
} ifinfo_t;

translator pktinfo_t < struct sk_buff *P > {
	pkt_addr = (uintptr_t)P;
};

translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
	cs_cid = S == NULL ? 0 : S->__sk_common.skc_cookie.counter;
	cs_pid = -1;
	cs_zoneid = 0;
};

translator ifinfo_t < struct net_device *D > {
	if_name = stringof(D->name);
	if_local = (D->flags & 8) != 0;
	if_netstack = 0;
	if_addr = (uintptr_t)D;
};
