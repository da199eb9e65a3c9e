#pragma D option quiet

psinfo_t *p;
timestruc_t t;
conninfo_t *c;
ipaddr_t ip;
cpuinfo_t *who;
lwpsinfo_t *l;

BEGIN
{
	printf("%d %d %d %d\n", sizeof (uid_t), sizeof (gid_t), sizeof (zoneid_t), sizeof (taskid_t));
	printf("%d %d %d\n", sizeof (processorid_t), sizeof (timestruc_t), sizeof (ipaddr_t));
	printf("%d %d\n", offsetof (timestruc_t, tv_nsec), offsetof (cpuinfo_t, cpu_lgrp));
	t.tv_sec = 5;
	ip = 0x7f000001;
	printf("%d %x\n", t.tv_sec, ip);
	uid_of = (uid_t)-1;
	printf("%d %d\n", uid_of, (id_t)-1);
	exit(0);
}
