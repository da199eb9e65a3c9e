"""program - random D programs that have one right output, for the comparison of tiers.

A program is made of declarations and clauses; a clause is a list of statements, so that shrink() can leave some out. What it prints depends
on nothing but its text: no clock, no CPU, no process, no clause-local variable before it is assigned. Faults belong to it.
"""

INTS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long", "uint64_t", "int8_t"]
WORDS = ["", "a", "b", "ab", "abc", "hello", "Hello World", "a,b;c", "/usr/lib/x", "/", "//a/./b/../c/", "..", "12 apples", "-77", "0x1f", "zz",
         "{\\\"a\\\":{\\\"b\\\":[1,\\\"two\\\",null]},\\\"n\\\":-5}", "[10,{\\\"k\\\":\\\"v\\\"}]", "  x  ", "0123456789abcdef0123456789abcdef", "\\xc3\\xa4", "\\t"]
PATHS = ["a", "a.b", "a.b[1]", "a.b[9]", "n", "[1].k", "[0]", "", "x"]
LIMITS = [0, 1, 2, 3, 5, 7, 10, 31, 32, 63, 64, 65, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 65536, 2147483647, 2147483648, 4294967295,
          4294967296, 9223372036854775807]
BINARY = ["+", "-", "*", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "^^"]
KEYS = ["int", "string", "char", "long", "unsigned short"]
LOCALS = {"i": "int", "c": "char", "l": "long", "w": "string"}  # clause-local variables
CONVERSIONS = ["%d", "%d", "%u", "%x", "%#x", "%o", "%5d", "%-6d", "%08x", "%+d", "%'d"]


END = ["turn++", "exit(turn - 4)"]  # the statements that end a program


class Variable:
    """name is written in the program, `self->` with it; keys are the types of an associative array's keys, else None."""

    def __init__(self, name, text, keys=None):
        self.name, self.text, self.keys = name, text, keys


class Program:
    """What random draws from `r` make of it. `units` are the declarations and the clauses: (head, [statements])."""

    def __init__(self, r):
        self.r = r
        self.strsize = r.choice([256, 64, 31])
        self.units, self.variables = [], []
        self.aggregations = {}  # name: (function, types of the keys)
        self.made = []          # clause-local variables of the clause that have been assigned
        self.thread = True      # whether the clause fires in the thread that BEGIN and END have; ticks fire in any
        self.declare()
        for _ in range(r.randint(1, 3)):
            self.clause("BEGIN")
        self.speculations()
        self.units.append(("tick-1ms", [END[0]]))
        self.thread = False
        for _ in range(r.randint(1, 3)):
            self.clause(f"tick-1ms\n/turn < {r.randint(2, 4)}/" if r.random() < 0.5 else f"tick-1ms\n/turn == {r.randint(1, 3)}/")
        self.thread = True
        self.units.append(("tick-1ms\n/turn >= 4/", [END[1]]))
        self.clause("END")
        self.units.append(("END", [self.show() for _ in range(3)] + [self.printed() for _ in range(3) if self.aggregations]))
        self.units.append(("ERROR", ['printf("%d %d %d %d\\n", arg2, arg3, arg4, arg4 == DTRACEFLT_BADADDR ? 0 : arg5)']))

    def text(self, keep=None):
        """Returns the program; `keep` chooses (unit, statement) pairs."""
        out = ["#pragma D option quiet", "#pragma D option strsize=" + str(self.strsize)]
        for u, (head, body) in enumerate(self.units):
            lines = [s for i, s in enumerate(body) if keep is None or (u, i) in keep or s in END]
            if head is None:
                out += lines
            elif lines:
                out.append(head + "\n{\n" + "".join(f"\t{s}{'' if s.endswith('}') else ';'}\n" for s in lines) + "}")
        return "\n".join(out) + "\n"

    def statements(self):
        """Returns the pairs that text() takes."""
        return [(u, i) for u, (_, body) in enumerate(self.units) for i, s in enumerate(body) if s not in END]

    # == declarations and clauses ==============================================================================

    def declare(self):
        r = self.r
        lines = ["int turn;", "string s;", "int spec;", "this char *from;", "this char *to;", "struct point { int x; unsigned char y; int low:5; unsigned int high:11; long z; };", "struct point p0;", "int list[5];"]
        lines += [f"this {type} {name};" for name, type in LOCALS.items()]
        self.variables += [Variable(f"p0.{member}", False) for member in ("x", "y", "low", "high", "z")]
        for i in range(r.randint(8, 14)):
            type = r.choice([*INTS, "string", "string", "string", "string"])
            keys = [r.choice(KEYS) for _ in range(r.randint(1, 3))] if r.random() < 0.3 else None
            own = "self " if r.random() < 0.25 else ""
            lines.append(f"{own}{type} g{i}{'[' + ', '.join(keys) + ']' if keys else ''};")
            self.variables.append(Variable(("self->" if own else "") + f"g{i}", type == "string", keys))
        self.units.append((None, lines))

    def clause(self, head):
        """A clause, which assigns the clause-local variables that it uses."""
        self.made = []
        body = []
        for name in self.r.sample(sorted(LOCALS), self.r.randint(0, 2)):
            body.append(f"this->{name} = {self.string(2) if LOCALS[name] == 'string' else self.number(2)}")
            self.made.append(name)
        self.units.append((head, body + [self.statement() for _ in range(self.r.randint(2, 8))]))

    def names(self, text):
        """The variables of the type string, or those of integer types, that hold one value."""
        return [v.name for v in self.known() if v.text == text and not v.keys] + [f"this->{n}" for n in self.made if (LOCALS[n] == "string") == text]

    def known(self):
        return [v for v in self.variables if self.thread or not v.name.startswith("self->")]

    def elements(self, text):
        """The associative arrays of such values."""
        return [v for v in self.known() if v.text == text and v.keys]

    def speculations(self):
        """Records that are kept back; some come, some do not."""
        r = self.r
        if r.random() < 0.3:
            self.units.append(("BEGIN", ["spec = speculation()"]))
            self.units.append(("BEGIN", [f"speculate({r.choice(['spec', 'spec', 'spec', self.number(1)])})", self.show(), self.show()]))
            self.units.append((f"BEGIN\n/{self.number(1)}/", [f"{r.choice(['commit', 'discard'])}(spec)"]))
            self.units.append(("BEGIN", [f"{r.choice(['commit', 'discard'])}({r.choice(['spec', 'spec', self.number(1)])})"]))

    # == statements ============================================================================================

    def statement(self, deep=0):
        r = self.r
        kind = r.random()
        if kind < 0.22:
            return f"{self.target()} {r.choice(['=', '=', '=', '+=', '-=', '*=', '&=', '|=', '^=', '<<=', '>>='])} {self.number(3)}"
        if kind < 0.30:
            return f"{r.choice([*self.names(True), 's'])} = {self.string(3)}"
        if kind < 0.40 and self.elements(True) + self.elements(False):
            v = r.choice(self.elements(True) + self.elements(False))
            value = "0" if r.random() < 0.15 else self.string(2) if v.text else self.number(2)
            return f"{self.element(v)} = {value}"
        if kind < 0.46:
            return f"list[{self.index()}] = {self.number(2)}"
        if kind < 0.52:
            return f"{self.target()}{r.choice(['++', '--'])}"
        if kind < 0.70:
            return self.aggregate()
        if kind < 0.74:
            return self.memory()
        if kind < 0.80 and deep < 2:
            body = "; ".join(self.statement(deep + 1) for _ in range(r.randint(1, 2)))
            other = " else { " + "; ".join(self.statement(deep + 1) for _ in range(r.randint(1, 2))) + "; }" if r.random() < 0.5 else ""
            return f"if ({self.number(2)}) {{ {body}; }}{other}".replace("};", "}")
        return self.show()

    def show(self):
        r = self.r
        if r.random() < 0.12:
            return f"trace({self.string(2) if r.random() < 0.4 else self.number(2)})"
        form, values = [], []
        for _ in range(r.randint(1, 4)):
            if r.random() < 0.35:
                form.append(r.choice(["%s", "%s", "%10s", "%-12s", "%.3s", "%S"]))
                values.append(self.string(3))
            else:
                form.append(r.choice(CONVERSIONS))
                values.append(self.number(3))
        return f'printf("{" ".join(form)}\\n", {", ".join(values)})'

    def aggregate(self):
        r = self.r
        if self.aggregations and r.random() < 0.5:
            name = r.choice(sorted(self.aggregations))
            function, keys = self.aggregations[name]
        else:
            name = f"@a{len(self.aggregations)}"
            low = r.choice([-100, 0, 10, -2147483648])
            steps = r.choice([f"0, {r.choice([1, 4])}, 10", f"1, {r.choice([2, 5])}, 20"])
            function = r.choice(["count()", "sum(V)", "avg(V)", "min(V)", "max(V)", "stddev(V)", "quantize(V)", "quantize(V, W)",
                                 f"lquantize(V, {low}, {low + r.choice([50, 1000])}, {r.choice([1, 7, 50])})",
                                 f"lquantize(V, {low}, {low + 60}, 10, W)", f"llquantize(V, 10, {steps})", f"llquantize(V, 10, {steps}, W)"])
            keys = [r.choice(KEYS) for _ in range(r.choice([0, 1, 1, 2, 3]))]
            self.aggregations[name] = function, keys
        of = f"[{self.keys(keys)}]" if keys else ""
        return f"{name}{of} = " + function.replace("V", self.number(2)).replace("W", f"(int)({self.number(1)} % 100)")

    def memory(self):
        """Memory of the clause, its content, and what leads beyond it."""
        r = self.r
        size = r.choice([1, 4, 7, 8, 16, 24])
        rounded = (size + 7) // 8 * 8
        copied = r.choice([size, size, size, f"{size} + ({self.number(1)} % 3)"])
        text = r.choice([f"bcopy(this->from, this->to, {copied})", f'bcopy("{r.choice([w for w in WORDS if len(w) >= 5])}", this->to, {r.choice([1, 2, 4])})',
                         f"bcopy({self.string(1)}, this->to, 1)"])
        at = r.randint(0, size - 1) if r.random() < 0.9 else f"{self.target()} & 63"
        return "; ".join([f"this->{name} = (char *)alloca({size}); bcopy(\"abcdefghijklmnopqrstuvwx\", this->{name}, {rounded})" for name in ("from", "to")] +
                         [f"this->from[0] = {self.number(1)}", f"this->from[{size - 1}] = {r.choice([0, 65])}", f"this->to[{size - 1}] = {r.choice([0, 66])}", text,
                          f"this->from[{at}] = {self.number(1)}", 'printf("%d %d %s\\n", this->to[0], this->from[0], stringof(this->to))'])

    def printed(self):
        """Shows an aggregation before the end, and changes how it is shown."""
        r = self.r
        name = r.choice(sorted(self.aggregations))
        function, keys = self.aggregations[name]
        whole = "quantize" in function
        form = " ".join(["%s" if k == "string" else r.choice(["%d", "%u", "%x"]) for k in keys[:r.randint(0, len(keys))]] + ["%@8d" if not whole else "%@d"])
        return r.choice([f"printa({name})", f'printa("{form}\\n", {name})', f"normalize({name}, {r.choice([1, 3, 10])})", f"denormalize({name})", f"clear({name})",
                         f"trunc({name})", f"trunc({name}, {r.choice([1, 2, -1])})"])

    def target(self):
        return self.r.choice(self.names(False))

    def element(self, v):
        return f"{v.name}[{self.keys(v.keys)}]"

    def keys(self, types):
        return ", ".join(self.string(1) if t == "string" else f"({t}){self.number(1)}" for t in types)

    # == expressions ===========================================================================================

    def number(self, deep):
        """An expression of an integer type, in brackets where it needs them."""
        r = self.r
        if deep <= 0 or r.random() < 0.15:
            return self.leaf()
        kind = r.random()
        if kind < 0.45:
            return f"({self.number(deep - 1)} {r.choice(BINARY)} {self.number(deep - 1)})"
        if kind < 0.52:
            return f"({self.number(deep - 1)} {r.choice('/%')} {self.divisor()})"
        if kind < 0.60:
            return f"({r.choice('-~!')}{self.number(deep - 1)})"
        if kind < 0.68:
            return f"(({r.choice(INTS)}){self.number(deep - 1)})"
        if kind < 0.74:
            return f"({self.number(deep - 1)} ? {self.number(deep - 1)} : {self.number(deep - 1)})"
        if kind < 0.78:
            return f"({self.string(deep - 1, typed=True)} {r.choice(['==', '!=', '<', '<=', '>', '>='])} {self.string(deep - 1)})"
        if kind < 0.82 and self.elements(False):
            return self.element(r.choice(self.elements(False)))
        if kind < 0.84:
            return f"list[{self.index()}]"
        if kind < 0.87:
            return f"({r.choice(['++', '--'])}{self.target()})" if r.random() < 0.5 else f"({self.target()}{r.choice(['++', '--'])})"
        return self.call_number(deep)

    def leaf(self):
        r = self.r
        if r.random() < 0.5:
            return r.choice(self.names(False))
        if r.random() < 0.15:
            return r.choice(["'a'", "'\\n'", "'0'", "sizeof (int)", "sizeof (struct point)", "turn"])
        value = r.choice(LIMITS) if r.random() < 0.7 else r.getrandbits(r.choice([8, 16, 31, 40, 63]))
        return f"(-{value})" if r.random() < 0.3 and value else f"{value}{'U' if r.random() < 0.1 else 'L' if r.random() < 0.1 else ''}"

    def index(self):
        """An index, which may be beyond the array when the clause runs."""
        r = self.r
        return f"{self.target()} & 7" if r.random() < 0.15 else r.randint(0, 4)

    def divisor(self):
        """Seldom 0, and never a constant 0."""
        r = self.r
        return f"({self.leaf()} | {r.choice([1, 3, 6])})" if r.random() < 0.9 else self.target()

    def call_number(self, deep):
        r = self.r
        s, n = self.string(deep - 1), self.number(deep - 1)
        return r.choice([f"strlen({s})", f"index({s}, {self.string(0)})", f"rindex({s}, {self.string(0)})", f"index({s}, {self.string(0)}, {n})",
                         f"rindex({s}, {self.string(0)}, {n})", f"strtoll({s})", f"strtoll({s}, {r.choice([2, 8, 10, 16, 36])})", f"htons({n})",
                         f"htonl({n})", f"ntohll({n})", f"getmajor({n})", f"getminor({n})"])

    def string(self, deep, typed=False):
        """An expression of the type string. Some of what may be NULL is a fault where it is used, which ends the clause."""
        r = self.r
        if deep <= 0 or r.random() < 0.3:
            return f'"{r.choice(WORDS)}"' if r.random() < 0.5 and not typed else r.choice([*self.names(True), 's'])
        s, n = self.string(deep - 1), self.number(deep - 1)
        small = f"({self.number(deep - 1)} % 40)"
        if r.random() < 0.08 and self.elements(True):
            return self.element(r.choice(self.elements(True)))
        if r.random() < 0.15:
            return r.choice([f"strchr({s}, '{r.choice('abl/,')}')", f"strrchr({s}, '{r.choice('abl/,')}')", f"strstr({s}, {self.string(0)})",
                             f"strtok({s}, \"{r.choice([',', ';/', ' ', 'l'])}\")", f"strtok(NULL, \"{r.choice([',', '/'])}\")",
                             f"json({s}, \"{r.choice(PATHS)}\")"])
        return r.choice([f"strjoin({s}, {self.string(deep - 1)})", f"substr({s}, {small})", f"substr({s}, {small}, {r.choice([small, n])})",
                         f"lltostr({n})", f"lltostr({n}, {r.choice([2, 7, 8, 10, 16, 36])})", f"toupper({s})", f"tolower({s})", f"basename({s})",
                         f"dirname({s})", f"cleanpath({s})", f"({n} ? {s} : {self.string(deep - 1)})", f"strjoin({s}, lltostr({n}))"])


def shrink(program, differs):
    """Leaves out statements as long as the rest still differs. -> the text of the rest"""
    keep = program.statements()
    size = len(keep) // 2
    while size > 0:
        i = 0
        while i < len(keep):
            rest = keep[:i] + keep[i + size:]
            if differs(program.text(set(rest))):
                keep = rest
            else:
                i += size
        size //= 2
    return program.text(set(keep))
