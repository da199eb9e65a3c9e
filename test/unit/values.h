/* values.h - values as the consumer decodes them, written down. */
#ifndef ET_TEST_VALUES_H
#define ET_TEST_VALUES_H

#include "result/value.h"

#define VALUE_OF(KIND, SIZE, V)                                                                    \
    {                                                                                              \
        .kind = DIF_##KIND, .size = SIZE, .i = (int64_t)(V)                                        \
    }
#define I8(v)  VALUE_OF(INT, 1, v)
#define I16(v) VALUE_OF(INT, 2, v)
#define I32(v) VALUE_OF(INT, 4, v)
#define I64(v) VALUE_OF(INT, 8, v)
#define U8(v)  VALUE_OF(UINT, 1, v)
#define U16(v) VALUE_OF(UINT, 2, v)
#define U32(v) VALUE_OF(UINT, 4, v)
#define U64(v) VALUE_OF(UINT, 8, v)
#define STR(v)                                                                                     \
    {                                                                                              \
        .kind = DIF_STRING, .size = 256, .s = (v), .len = sizeof(v) - 1                            \
    }

#endif
