#pragma D option quiet

#pragma D option aggsize=1k
#pragma D option droptags
BEGIN
{
	@[0] = count();
	@[1] = count();
	@[2] = count();
	@[3] = count();
	@[4] = count();
	@[5] = count();
	@[6] = count();
	@[7] = count();
	@[8] = count();
	@[9] = count();
	@[10] = count();
	@[11] = count();
	@[12] = count();
	@[13] = count();
	@[14] = count();
	@[15] = count();
	@[16] = count();
	@[17] = count();
	@[18] = count();
	@[19] = count();
}
BEGIN
{
	@[20] = count();
	@[21] = count();
	@[22] = count();
	@[23] = count();
	@[24] = count();
	@[25] = count();
	@[26] = count();
	@[27] = count();
	@[28] = count();
	@[29] = count();
	@[30] = count();
	@[31] = count();
	@[32] = count();
	@[33] = count();
	@[34] = count();
	@[35] = count();
	@[36] = count();
	@[37] = count();
	@[38] = count();
	@[39] = count();
}
BEGIN
{
	@[40] = count();
	@[41] = count();
	@[42] = count();
	@[43] = count();
	@[44] = count();
	@[45] = count();
	@[46] = count();
	@[47] = count();
	@[48] = count();
	@[49] = count();
	@[50] = count();
	@[51] = count();
	@[52] = count();
	@[53] = count();
	@[54] = count();
	@[55] = count();
	@[56] = count();
	@[57] = count();
	@[58] = count();
	@[59] = count();
}
BEGIN
{
	@[60] = count();
	@[61] = count();
	@[62] = count();
	@[63] = count();
	@[64] = count();
	@[65] = count();
	@[66] = count();
	@[67] = count();
	@[68] = count();
	@[69] = count();
	@[70] = count();
	@[71] = count();
	@[72] = count();
	@[73] = count();
	@[74] = count();
	@[75] = count();
	@[76] = count();
	@[77] = count();
	@[78] = count();
	@[79] = count();
}
BEGIN
{
	@[80] = count();
	@[81] = count();
	@[82] = count();
	@[83] = count();
	@[84] = count();
	@[85] = count();
	@[86] = count();
	@[87] = count();
	@[88] = count();
	@[89] = count();
	@[90] = count();
	@[91] = count();
	@[92] = count();
	@[93] = count();
	@[94] = count();
	@[95] = count();
	@[96] = count();
	@[97] = count();
	@[98] = count();
	@[99] = count();
}
BEGIN
{
	@[100] = count();
	@[101] = count();
	@[102] = count();
	@[103] = count();
	@[104] = count();
	@[105] = count();
	@[106] = count();
	@[107] = count();
	@[108] = count();
	@[109] = count();
	@[110] = count();
	@[111] = count();
	@[112] = count();
	@[113] = count();
	@[114] = count();
	@[115] = count();
	@[116] = count();
	@[117] = count();
	@[118] = count();
	@[119] = count();
}
BEGIN
{
	@[120] = count();
	@[121] = count();
	@[122] = count();
	@[123] = count();
	@[124] = count();
	@[125] = count();
	@[126] = count();
	@[127] = count();
	@[128] = count();
	@[129] = count();
	@[130] = count();
	@[131] = count();
	@[132] = count();
	@[133] = count();
	@[134] = count();
	@[135] = count();
	@[136] = count();
	@[137] = count();
	@[138] = count();
	@[139] = count();
}
BEGIN
{
	@[140] = count();
	@[141] = count();
	@[142] = count();
	@[143] = count();
	@[144] = count();
	@[145] = count();
	@[146] = count();
	@[147] = count();
	@[148] = count();
	@[149] = count();
	@[150] = count();
	@[151] = count();
	@[152] = count();
	@[153] = count();
	@[154] = count();
	@[155] = count();
	@[156] = count();
	@[157] = count();
	@[158] = count();
	@[159] = count();
}
BEGIN
{
	@[160] = count();
	@[161] = count();
	@[162] = count();
	@[163] = count();
	@[164] = count();
	@[165] = count();
	@[166] = count();
	@[167] = count();
	@[168] = count();
	@[169] = count();
	@[170] = count();
	@[171] = count();
	@[172] = count();
	@[173] = count();
	@[174] = count();
	@[175] = count();
	@[176] = count();
	@[177] = count();
	@[178] = count();
	@[179] = count();
}
BEGIN
{
	@[180] = count();
	@[181] = count();
	@[182] = count();
	@[183] = count();
	@[184] = count();
	@[185] = count();
	@[186] = count();
	@[187] = count();
	@[188] = count();
	@[189] = count();
	@[190] = count();
	@[191] = count();
	@[192] = count();
	@[193] = count();
	@[194] = count();
	@[195] = count();
	@[196] = count();
	@[197] = count();
	@[198] = count();
	@[199] = count();
}
END
{
	trunc(@);
}
BEGIN
{
	exit(0);
}
