#pragma D option quiet


int m[int, int];
inline int cell[int row, int column] = m[row, column];

BEGIN
{
	cell[1, 2] = 12;
	cell[1, 2] += 5;
	cell[0, 0]++;
	printf("%d %d %d\n", m[1, 2], cell[1, 2], cell[0, 0]);
	exit(0);
}
