/* net.d - addresses and connections. */

typedef uint32_t ipaddr_t;
typedef uint32_t in_addr_t;

typedef struct conninfo {
	string ci_local;		/* our address */
	string ci_remote;		/* theirs */
	string ci_protocol;		/* "ipv4" or "ipv6" */
} conninfo_t;
