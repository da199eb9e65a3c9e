/* Bytes of each name, and whether -1 in it is negative. */
#pragma D option quiet
int8_t i8; int16_t i16; int32_t i32; int64_t i64; intptr_t ip; ssize_t ss; ptrdiff_t pd; id_t id_; pid_t pid_;
uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64; uintptr_t up; size_t sz;
uchar_t uc; ushort_t us; uint_t ui; ulong_t ul; u_longlong_t ull;
BEGIN
{
	i8 = i16 = i32 = i64 = ip = ss = pd = id_ = pid_ = -1;
	u8 = u16 = u32 = u64 = up = sz = uc = us = ui = ul = ull = -1;
	printf("%d %d %d %d %d %d %d %d %d\n", sizeof (i8), sizeof (i16), sizeof (i32), sizeof (i64), sizeof (ip), sizeof (ss),
	    sizeof (pd), sizeof (id_), sizeof (pid_));
	printf("%d%d%d%d%d%d%d%d%d\n", i8 < 0, i16 < 0, i32 < 0, i64 < 0, ip < 0, ss < 0, pd < 0, id_ < 0, pid_ < 0);
	printf("%d %d %d %d %d %d %d %d %d %d %d\n", sizeof (u8), sizeof (u16), sizeof (u32), sizeof (u64), sizeof (up),
	    sizeof (sz), sizeof (uc), sizeof (us), sizeof (ui), sizeof (ul), sizeof (ull));
	printf("%d%d%d%d%d%d%d%d%d%d%d\n", u8 < 0, u16 < 0, u32 < 0, u64 < 0, up < 0, sz < 0, uc < 0, us < 0, ui < 0, ul < 0,
	    ull < 0);
	exit(0);
}
