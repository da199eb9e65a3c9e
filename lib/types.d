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

typedef uint_t uint;
typedef ushort_t ushort;
typedef ulong_t ulong;
typedef uchar_t u_char;
typedef ushort_t u_short;
typedef uint_t u_int;
typedef ulong_t u_long;

/* Names of the kernel's interfaces; those with be are big-endian (network byte order), those with le little-endian. */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int8_t __s8;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint64_t __be64;
typedef uint16_t __le16;
typedef uint32_t __le32;
typedef uint64_t __le64;

typedef struct timestruc {
	time_t tv_sec;
	long tv_nsec;
} timestruc_t;
