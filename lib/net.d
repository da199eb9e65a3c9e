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
