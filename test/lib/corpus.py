"""corpus - the programs that were generated for scripts of tests, in one file: test/kernel/corpus.xz.

It holds what the tool appends to the file that ERLTRACE_PROGRAMS names (c_src/linux/kload.c), each function once:

    function NARGS MAIN INNER NAME       its instructions behind it, a line each
    program KIND BYTES SCRIPT N,N,...    of functions, by their numbers in the file; BYTES: of the map
        NAME

A program is loaded again by build/test/corpus (test/kernel/corpus.c). It needs nothing of the kernel that it was generated on: members of the
kernel's structures are read at places that its map tells. One that has numbers of that kernel's types or functions in it is refused here.
"""
import lzma
import os

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kernel", "corpus.xz")
LOAD, CALL = 0x18, 0x85  # codes of instructions
OF_KERNEL = {(LOAD, 3), (CALL, 2)}  # with the number of a type or variable of the kernel, of a function of its (BPF_PSEUDO_BTF_ID, ..._KFUNC_CALL)


def check(script, function):
    for line in function.splitlines()[1:]:
        word = int(line[:16], 16)
        if (word & 0xff, word >> 12 & 15) in OF_KERNEL:
            raise ValueError(f"{script}: {function.splitlines()[0]}: {line} is of this kernel alone")


def pack(kept):
    """Makes the file. kept: {script: what was appended for it}. Returns how many programs and functions there are."""
    functions, programs, seen = {}, [], set()
    for script, text in sorted(kept.items()):
        for program in ("\n" + text).split("\nprogram ")[1:]:
            head, *parts = program.rstrip("\n").split("\nfunction ")
            kind, size, name = head.split(" ", 2)
            for part in parts:
                if part not in functions:
                    check(script, part)
                    functions[part] = len(functions)
            numbers = ",".join(str(functions[part]) for part in parts)
            if (kind, numbers) not in seen:
                seen.add((kind, numbers))
                programs.append(f"program {kind} {size} {script} {numbers}\n    {name}\n")
    with open(FILE, "wb") as f:
        f.write(lzma.compress(("".join(f"function {part}\n" for part in functions) + "".join(programs)).encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(programs), len(functions)


def unpack():
    """The programs: [(script, name, text for build/test/corpus)], and the bytes of the largest map."""
    with lzma.open(FILE, "rt", encoding="utf-8") as f:
        functions, *programs = f.read().split("\nprogram ")
    functions = functions.removeprefix("function ").split("\nfunction ")
    out, most = [], 0
    for program in programs:
        head, name = program.split("\n")[:2]
        kind, size, script, numbers = head.split(" ")
        most = max(most, int(size))
        out.append((script, name.strip(), f"program {kind} {name.strip()}\n" + "".join(f"function {functions[int(n)]}\n" for n in numbers.split(",")) + "load\n"))
    return out, most
