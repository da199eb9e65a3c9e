/* tcp.d - connections and segments of TCP. A header that is not known is NULL: its numbers are 0. */
#pragma D depends_on library net.d
#pragma D depends_on library ip.d

/* States of a connection, by the numbers that Linux has for them. */
inline int TCP_STATE_ESTABLISHED = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_FIN_WAIT_1 = 4;
inline int TCP_STATE_FIN_WAIT_2 = 5;
inline int TCP_STATE_TIME_WAIT = 6;
inline int TCP_STATE_CLOSED = 7;
inline int TCP_STATE_CLOSE_WAIT = 8;
inline int TCP_STATE_LAST_ACK = 9;
inline int TCP_STATE_LISTEN = 10;
inline int TCP_STATE_CLOSING = 11;

inline string tcp_state_string[int state] = state == 1 ? "state-established" : state == 2 ? "state-syn-sent" :
    state == 3 || state == 12 ? "state-syn-received" : state == 4 ? "state-fin-wait-1" : state == 5 ? "state-fin-wait-2" :
    state == 6 ? "state-time-wait" : state == 7 ? "state-closed" : state == 8 ? "state-close-wait" : state == 9 ? "state-last-ack" :
    state == 10 ? "state-listen" : state == 11 ? "state-closing" : "<unknown>";

/* Bits of tcp_flags. */
inline uint8_t TH_FIN = 0x01;
inline uint8_t TH_SYN = 0x02;
inline uint8_t TH_RST = 0x04;
inline uint8_t TH_PUSH = 0x08;
inline uint8_t TH_ACK = 0x10;
inline uint8_t TH_URG = 0x20;
inline uint8_t TH_ECE = 0x40;
inline uint8_t TH_CWR = 0x80;

typedef struct tcpinfo {
	uint16_t tcp_sport;		/* source port */
	uint16_t tcp_dport;		/* destination port */
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;		/* bytes of the header */
	uint8_t tcp_flags;		/* TH_* */
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
	uintptr_t tcp_hdr;		/* address of the header */
} tcpinfo_t;

typedef struct tcpsinfo {
	uintptr_t tcps_addr;		/* address of the system's structure */
	int tcps_local;			/* not known: 0 */
	int tcps_active;		/* not known: 0 */
	uint16_t tcps_lport;		/* our port */
	uint16_t tcps_rport;		/* theirs */
	string tcps_laddr;		/* our address */
	string tcps_raddr;		/* theirs */
	int32_t tcps_state;		/* TCP_STATE_* */
	uint32_t tcps_suna;		/* the oldest number that is not acknowledged */
	uint32_t tcps_snxt;		/* the next number to be sent */
	uint32_t tcps_rnxt;		/* the next number to be received */
	uint32_t tcps_swnd;		/* bytes that the peer takes */
	uint32_t tcps_rwnd;		/* bytes that we take */
	uint32_t tcps_cwnd;		/* segments that may be on the way */
	uint32_t tcps_cwnd_ssthresh;	/* segments from which on that grows slowly */
	uint32_t tcps_mss;		/* bytes of a segment */
	uint32_t tcps_rto;		/* not known: 0 */
	uint32_t tcps_rtt;		/* us of a round trip, smoothed */
	int tcps_retransmit;		/* times that the oldest segment was sent again */
} tcpsinfo_t;

typedef struct tcplsinfo {
	int32_t tcps_state;		/* the state before */
} tcplsinfo_t;

translator tcpinfo_t < struct tcphdr *T > {
	tcp_sport = T == NULL ? 0 : ntohs(T->source);
	tcp_dport = T == NULL ? 0 : ntohs(T->dest);
	tcp_seq = T == NULL ? 0 : ntohl(T->seq);
	tcp_ack = T == NULL ? 0 : ntohl(T->ack_seq);
	tcp_offset = T == NULL ? 0 : 4 * T->doff;
	tcp_flags = T == NULL ? 0 : ((uint8_t *)T)[13];
	tcp_window = T == NULL ? 0 : ntohs(T->window);
	tcp_checksum = T == NULL ? 0 : ntohs(T->check);
	tcp_urgent = T == NULL ? 0 : ntohs(T->urg_ptr);
	tcp_hdr = (uintptr_t)T;
};

translator tcpsinfo_t < struct sock *S > {
	tcps_addr = (uintptr_t)S;
	tcps_local = 0;
	tcps_active = 0;
	tcps_lport = ntohs(((struct inet_sock *)S)->inet_sport);
	tcps_rport = ntohs(S->__sk_common.skc_dport);
	tcps_laddr = S->__sk_common.skc_family == AF_INET ? inet_ntoa((ipaddr_t *)&S->__sk_common.skc_rcv_saddr) :
	    inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_rcv_saddr);
	tcps_raddr = S->__sk_common.skc_family == AF_INET ? inet_ntoa((ipaddr_t *)&S->__sk_common.skc_daddr) :
	    inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_daddr);
	tcps_state = S->__sk_common.skc_state;
	tcps_suna = ((struct tcp_sock *)S)->snd_una;
	tcps_snxt = ((struct tcp_sock *)S)->snd_nxt;
	tcps_rnxt = ((struct tcp_sock *)S)->rcv_nxt;
	tcps_swnd = ((struct tcp_sock *)S)->snd_wnd;
	tcps_rwnd = ((struct tcp_sock *)S)->rcv_wnd;
	tcps_cwnd = ((struct tcp_sock *)S)->snd_cwnd;
	tcps_cwnd_ssthresh = ((struct tcp_sock *)S)->snd_ssthresh;
	tcps_mss = ((struct tcp_sock *)S)->mss_cache;
	tcps_rto = 0;
	tcps_rtt = ((struct tcp_sock *)S)->srtt_us >> 3;
	tcps_retransmit = ((struct inet_connection_sock *)S)->icsk_retransmits;
};

translator tcplsinfo_t < int I > {
	tcps_state = I;
};
