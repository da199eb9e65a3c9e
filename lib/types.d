/* types.d - names of types that D programs know from the system. */

typedef long time_t;
typedef long off_t;
typedef long loff_t;
typedef longlong_t hrtime_t;
typedef char *caddr_t;
typedef uint64_t dev_t;
typedef id_t psetid_t;
typedef id_t chipid_t;
typedef id_t lgrp_id_t;
typedef id_t projid_t;
typedef id_t dprojid_t;
typedef id_t poolid_t;

typedef struct timestruc {
	time_t tv_sec;
	long tv_nsec;
} timestruc_t;
