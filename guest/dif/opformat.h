/* opformat.h - numbers the formats of opcodes.list, for the verifier and the disassembler. */
#ifndef ET_DIF_OPFORMAT_H
#define ET_DIF_OPFORMAT_H

enum format { /* FORMAT_BAD: no such instruction */
              FORMAT_BAD,
              FORMAT_NONE,
              FORMAT_A,
              FORMAT_AB,
              FORMAT_RAB,
              FORMAT_ABC,
              FORMAT_AI,
              FORMAT_RAI,
              FORMAT_UAI,
              FORMAT_I,
              FORMAT_ABN,
              FORMAT_AN,
              FORMAT_T,
              FORMAT_RABC
};

#endif
