/* opformat.h - numbers the formats of opcodes.list, for the verifier and the disassembler. */
#ifndef ET_DIF_OPFORMAT_H
#define ET_DIF_OPFORMAT_H

enum format { /* F_BAD: no such instruction */
              F_BAD,
              F_NONE,
              F_A,
              F_AB,
              F_RAB,
              F_ABC,
              F_AI,
              F_RAI,
              F_UAI,
              F_I,
              F_ABN,
              F_AN,
              F_T,
              F_RABC
};

#endif
