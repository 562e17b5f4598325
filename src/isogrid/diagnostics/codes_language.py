"""Pages of the codes IG100 to IG169: what a kernel body may say, and how to say what it may not."""

from isogrid.diagnostics.pages import CodePage

_ARRAYS = "x: In[f32, N], k: In[i32, N], y: Out[f32, N]"


def _kernel(
    body: str, parameters: str = _ARRAYS, before: str = "", head: str = "i = ig.gid()\n", grid: str = "N"
) -> str:
    """An example as a reader would write it: a whole kernel, after what stands before it in the file."""
    lines = "".join(f"    {line}\n" for line in (head + body).splitlines())
    kernel = f"@ig.kernel(grid={grid})\ndef example({parameters}) -> None:\n{lines}".rstrip()
    return f"{before}\n\n\n{kernel}" if before else kernel


PAGES: dict[str, CodePage] = {
    "IG100": CodePage(
        title="A statement is outside the language; the remedy says how to write it",
        explanation=(
            "A kernel body has assignments, `if`, `for`, `while`, `break`, `continue`, bare `return`, `assert`\n"
            "and calls. Python's other statements handle exceptions, resources, modules or variables of the host,\n"
            "which a device does not have."
        ),
        example_bad=_kernel("try:\n    y[i] = 1.0 / x[i]\nexcept ZeroDivisionError:\n    y[i] = 0.0"),
        example_good=_kernel("y[i] = 1.0 / x[i] if x[i] != 0.0 else 0.0"),
    ),
    "IG101": CodePage(
        title="An expression is outside the language; the remedy says how to write it",
        explanation=(
            "Values of a kernel are numbers, fixed tuples and elements of arrays. Lists, dicts, strings, slices,\n"
            "comprehensions, lambdas and `:=` have no counterpart in a thread."
        ),
        example_bad=_kernel("last = [x[0], x[i]]\ny[i] = x[i]"),
        example_good=_kernel("last = (x[0], x[i])\ny[i] = last[1]"),
    ),
    "IG102": CodePage(
        title="This part of the language is not supported yet; the remedy says what to use meanwhile",
        explanation=(
            "The language has it, this version of isogrid does not. Nothing is approximated or silently replaced."
        ),
        example_bad=_kernel("y[i] = math.degrees(x[i])", before="import math"),
        example_good=_kernel("y[i] = x[i] * (180.0 / math.pi)", before="import math"),
    ),
    "IG103": CodePage(
        title="A loop has an `else`; set a flag and test it after the loop",
        explanation="The `else` of a loop runs when no `break` was met. A flag says the same to every reader.",
        example_bad=_kernel("for j in range(4):\n    if x[j] < 0.0:\n        break\nelse:\n    y[i] = 1.0"),
        example_good=_kernel(
            "found = False\nfor j in range(4):\n    if x[j] < 0.0:\n        found = True\n        break\n"
            "if not found:\n    y[i] = 1.0"
        ),
    ),
    "IG104": CodePage(
        title="A condition is no bool; write the comparison",
        explanation=(
            "Conditions, operands of `and`, `or`, `not` and asserted expressions are bools. Numbers, arrays and\n"
            "None are neither true nor false, so that a forgotten comparison is noticed."
        ),
        example_bad=_kernel("if k[i]:\n    y[i] = x[i]"),
        example_good=_kernel("if k[i] != 0:\n    y[i] = x[i]"),
    ),
    "IG105": CodePage(
        title="A name is not defined; check its spelling or import it",
        explanation=(
            "Names are looked up as Python does: locals, parameters, the closure, the module, builtins. Constants\n"
            "from outside are read when the kernel is first checked."
        ),
        example_bad=_kernel("y[i] = sacle * x[i]", before="scale = 2.0"),
        example_good=_kernel("y[i] = scale * x[i]", before="scale = 2.0"),
    ),
    "IG106": CodePage(
        title="A local may be read before it is assigned; assign it on every path",
        explanation=(
            "Every path to a read must pass an assignment. A loop may run no trip, unless its range is constant,\n"
            "so its counter and what it assigns have no value after it. As in Python, a name that the body\n"
            "assigns anywhere is a local everywhere in it."
        ),
        example_bad=_kernel("if k[i] > 0:\n    v = x[i]\ny[i] = v"),
        example_good=_kernel("v = 0.0\nif k[i] > 0:\n    v = x[i]\ny[i] = v"),
    ),
    "IG107": CodePage(
        title="A local has two types; convert one value or use two names",
        explanation=(
            "A local has one type in the whole function: that of its assignments that are not literals, or of its\n"
            "annotation. Literals follow. `s = 0.0` and later `s += d[i]` with an f64 array makes `s` an f64."
        ),
        example_bad=_kernel("v = x[i]\nif k[i] > 0:\n    v = k[i]\ny[i] = x[i]"),
        example_good=_kernel("v = x[i]\nif k[i] > 0:\n    v = f32(k[i])\ny[i] = v"),
    ),
    "IG108": CodePage(
        title="An operation mixes types; convert one side",
        explanation=(
            "Nothing is converted silently: the result would depend on rules that nobody remembers. The exception\n"
            "are i32 and u32 beside an i64 (sizes and indices are i64), which lose nothing. Literals take the\n"
            "other side's type."
        ),
        example_bad=_kernel("y[i] = x[i] * k[i]"),
        example_good=_kernel("y[i] = x[i] * f32(k[i])"),
    ),
    "IG109": CodePage(
        title="An operator is not defined for a type; the remedy gives the way to write it",
        explanation=(
            "Bools are not numbers, floats have no bits to combine, and a shift amount is an integer. The table\n"
            "of operators by type is in the reference."
        ),
        example_bad=_kernel("positive = x[i] > 0.0\ncount = positive + positive\ny[i] = x[i]"),
        example_good=_kernel("positive = x[i] > 0.0\ncount = int(positive) + int(positive)\ny[i] = f32(count)"),
    ),
    "IG110": CodePage(
        title="`/` divides integers; write `//`, or convert to a float",
        explanation=(
            "Python's `/` makes a float of two integers, C's an integer rounded towards zero. Neither is guessed\n"
            "here: `//` rounds down, and `f32(a) / f32(b)` gives the fraction."
        ),
        example_bad=_kernel("y[i] = f32(k[i] / 2)"),
        example_good=_kernel("y[i] = f32(k[i] // 2)"),
    ),
    "IG111": CodePage(
        title="A literal is out of range for its type; write another number or a wider type",
        explanation=(
            "A literal takes the type of what it meets, and must be a value of it: for elements of an array, of\n"
            "the element type. Floats are rounded once; one that would become infinite is out of range."
        ),
        example_bad=_kernel("b[i] = 300", parameters="b: Out[u8, N]"),
        example_good=_kernel("b[i] = 255", parameters="b: Out[u8, N]"),
    ),
    "IG112": CodePage(
        title="A literal is of another kind than what it meets; write one of the right kind",
        explanation=(
            "An integer literal may be an integer or a float, a float literal a float only, True and False a bool\n"
            "only."
        ),
        example_bad=_kernel("y[i] = f32(k[i] * 1.5)"),
        example_good=_kernel("y[i] = f32(k[i]) * 1.5"),
    ),
    "IG113": CodePage(
        title="A constant expression has no value; correct it",
        explanation="Expressions of literals and constants are computed as Python does, before the kernel runs.",
        example_bad=_kernel("step = 1 // 0\ny[i] = x[i]"),
        example_good=_kernel("step = 4 // 2\ny[i] = x[i // step]"),
    ),
    "IG114": CodePage(
        title="A conversion is refused, or its result is kept; elements are converted where they are stored",
        explanation=(
            "i8, i16, u8, u16, f16 and bf16 are types of elements. `u8(v)` may stand only where it is stored; values\n"
            "are computed with as i32 or f32."
        ),
        example_bad=_kernel("v = u8(k[i])\nb[i] = v", parameters="k: In[i32, N], b: Out[u8, N]"),
        example_good=_kernel("b[i] = u8(k[i])", parameters="k: In[i32, N], b: Out[u8, N]"),
    ),
    "IG115": CodePage(
        title="A value has another type than the elements; write the conversion",
        explanation=(
            "A store converts by itself only an integer into a narrower integer element, with a check that it\n"
            "fits. Float to integer, integer to float, f64 to f32 and f32 to f16 or bf16 are written, since each may\n"
            "lose something."
        ),
        example_bad=_kernel("y[i] = k[i]"),
        example_good=_kernel("y[i] = f32(k[i])"),
    ),
    "IG116": CodePage(
        title="An array that is only read is written; declare it Out or InOut",
        explanation="An `In` array and a constant table are never written by the kernel. Launches rely on it.",
        example_bad=_kernel("x[i] = 0.0", parameters="x: In[f32, N]"),
        example_good=_kernel("x[i] = 0.0", parameters="x: Out[f32, N]"),
    ),
    "IG117": CodePage(
        title="An Out array is read; declare it InOut",
        explanation="`Out` says that the kernel needs nothing of what the array held. To read it, declare it InOut.",
        example_bad=_kernel("y[i] = y[i] + 1.0", parameters="y: Out[f32, N]"),
        example_good=_kernel("y[i] = y[i] + 1.0", parameters="y: InOut[f32, N]"),
    ),
    "IG118": CodePage(
        title="An Out array is updated; declare it InOut",
        explanation="`y[i] += v` and atomics read the element before they write it.",
        example_bad=_kernel("y[i] += 1.0", parameters="y: Out[f32, N]"),
        example_good=_kernel("y[i] += 1.0", parameters="y: InOut[f32, N]"),
    ),
    "IG119": CodePage(
        title="The number of indices is not the rank of the array; give one index per axis",
        explanation=(
            "An element has one index per axis. Fewer indices name a row, which may be indexed further, looped\n"
            "over or passed to a helper, but not computed with or stored to."
        ),
        example_bad=_kernel("m[i] = 0.0", parameters="m: Out[f32, N, M]"),
        example_good=_kernel("for j in range(m.shape[1]):\n    m[i, j] = 0.0", parameters="m: Out[f32, N, M]"),
    ),
    "IG120": CodePage(
        title="An index is no integer; convert it",
        explanation="Any integer type may stand in a subscript. Floats and bools are converted in writing.",
        example_bad=_kernel("y[i] = x[x[i]]"),
        example_good=_kernel("y[i] = x[int(x[i])]"),
    ),
    "IG121": CodePage(
        title="An index is negative; count from the end with the extent",
        explanation="Indices do not count from the end. A negative index at run time is an error of the launch.",
        example_bad=_kernel("y[i] = x[-1]"),
        example_good=_kernel("y[i] = x[x.shape[0] - 1]"),
    ),
    "IG122": CodePage(
        title="A tuple is indexed by a run-time value or outside its components; use a table or `ig.local`",
        explanation="The components of a tuple may differ in type, so which one is meant is known at compile time.",
        example_bad=_kernel("y[i] = WEIGHTS[k[i]] * x[i]", before="WEIGHTS = (0.25, 0.5, 0.25)"),
        example_good=_kernel(
            "y[i] = WEIGHTS[k[i]] * x[i]",
            before="WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)\nWEIGHTS.flags.writeable = False",
        ),
    ),
    "IG123": CodePage(
        title="A value has no such attribute; arrays have shape, size, ndim and dtype",
        explanation="Numbers have no attributes in a kernel, arrays only the four that describe them.",
        example_bad=_kernel("y[i] = f32(x.nbytes)"),
        example_good=_kernel("y[i] = f32(x.size * 4)"),
    ),
    "IG124": CodePage(
        title="An array, attribute or tuple component is assigned; store elements, or use another name",
        explanation=(
            "Which array a name means is known at compile time, so that accesses can be proved. To switch between\n"
            "two buffers, make one array with an axis of 2 and switch the index."
        ),
        example_bad=_kernel("a = ig.local(f32, 4)\nb = ig.local(f32, 4)\na = b\ny[i] = a[0]"),
        example_good=_kernel("buffer = ig.local(f32, (2, 4))\nchosen = 1\ny[i] = buffer[chosen, 0]"),
    ),
    "IG125": CodePage(
        title="A constant may change; make it a tuple or a read-only array",
        explanation=(
            "Constants are read when the kernel is first checked and kept. A list, a dict or a writable array\n"
            "could change afterwards without the kernel noticing, so they are refused."
        ),
        example_bad=_kernel("y[i] = WEIGHTS[0] * x[i]", before="WEIGHTS = [1.0, 2.0]"),
        example_good=_kernel("y[i] = WEIGHTS[0] * x[i]", before="WEIGHTS = (1.0, 2.0)"),
    ),
    "IG126": CodePage(
        title="An array cannot be a table; give it 1 to 4 axes and a dtype of the language",
        explanation=(
            "A constant table has bool, integer, float32 or float64 elements, 1 to 4 axes, and at least one\nelement."
        ),
        example_bad=_kernel("y[i] = T[k[i]]", before="T = np.zeros(4, np.complex64)\nT.flags.writeable = False"),
        example_good=_kernel("y[i] = T[k[i]]", before="T = np.zeros(4, np.float32)\nT.flags.writeable = False"),
    ),
    "IG127": CodePage(
        title="A plain Python function is called; decorate it with `@ig.func`",
        explanation=(
            "A helper is marked, since it must stay within the language. It is inlined and typed at each call."
        ),
        example_bad=_kernel("y[i] = square(x[i])", before="def square(v):\n    return v * v"),
        example_good=_kernel("y[i] = square(x[i])", before="@ig.func\ndef square(v):\n    return v * v"),
    ),
    "IG128": CodePage(
        title="A helper calls itself; return the call as it is, or write a loop",
        explanation=(
            "Helpers are inlined. A call of itself that is returned unchanged becomes a loop; one whose result is\n"
            "used further, or a circle of several helpers, would have no end."
        ),
        example_bad=_kernel(
            "y[i] = f32(factorial(k[i]))",
            before="@ig.func\ndef factorial(n):\n    return 1 if n <= 1 else n * factorial(n - 1)",
        ),
        example_good=_kernel(
            "y[i] = f32(factorial(k[i]))",
            before="@ig.func\ndef factorial(n, m=1):\n    return m if n <= 1 else factorial(n - 1, m * n)",
        ),
    ),
    "IG129": CodePage(
        title="A call has the wrong arguments; the remedy shows the parameters",
        explanation="The number and names of arguments are checked as Python would, without `*` and `**`.",
        example_bad=_kernel("y[i] = ig.clamp(x[i], 0.0)"),
        example_good=_kernel("y[i] = ig.clamp(x[i], 0.0, 1.0)"),
    ),
    "IG130": CodePage(
        title="An argument has a type that the function does not take; convert it",
        explanation="Functions take the types that the reference lists. Literals take whichever of them fits.",
        example_bad=_kernel("y[i] = math.sqrt(k[i])", before="import math"),
        example_good=_kernel("y[i] = math.sqrt(f32(k[i]))", before="import math"),
    ),
    "IG131": CodePage(
        title="The returns of a helper differ, or one is missing; return the same kind of value on every path",
        explanation="Either no path of a helper returns a value, or every path returns the same kind of value.",
        example_bad=_kernel("y[i] = sign(x[i])", before="@ig.func\ndef sign(v):\n    if v < 0.0:\n        return -1.0"),
        example_good=_kernel(
            "y[i] = sign(x[i])", before="@ig.func\ndef sign(v):\n    if v < 0.0:\n        return -1.0\n    return 1.0"
        ),
    ),
    "IG132": CodePage(
        title="A kernel returns a value; store it in an array",
        explanation="Each thread would return its own value. Results are stored; a bare `return` ends the thread.",
        example_bad=_kernel("return x[i]"),
        example_good=_kernel("y[i] = x[i]\nreturn"),
    ),
    "IG133": CodePage(
        title="`ig.shared` stands in a branch, loop or helper; move it to the top level of the kernel",
        explanation=("A shared array exists once per group, before its first thread runs, whatever path threads take."),
        example_bad=_kernel("if i < 64:\n    tile = ig.shared(f32, 256)\n    tile[0] = 0.0"),
        example_good=_kernel("tile = ig.shared(f32, 256)\nif i < N:\n    tile[ig.lid()] = x[i]"),
    ),
    "IG134": CodePage(
        title="A shape is not a positive constant; use literals, constants, tunables or constant dimensions",
        explanation="The size of shared and local arrays is part of the compiled kernel; it stays below 2^31 bytes.",
        example_bad=_kernel("buffer = ig.local(f32, n)\ny[i] = buffer[0]", parameters="n: i32, y: Out[f32, N]"),
        example_good=_kernel("buffer = ig.local(f32, 16)\ny[i] = buffer[0]", parameters="n: i32, y: Out[f32, N]"),
    ),
    "IG135": CodePage(
        title="A `for` goes over something else; loop over a range, an array, a tuple, `enumerate` or `zip`",
        explanation=(
            "A `for` goes over `range(...)`, over the elements or rows of an array, over a tuple, and over\n"
            "`enumerate` and `zip` of these. `zip` needs parts that count 0, 1, 2..."
        ),
        example_bad=_kernel("for j in n:\n    y[i] = f32(j)", parameters="n: i32, y: Out[f32, N]"),
        example_good=_kernel("for j in range(n):\n    y[i] = f32(j)", parameters="n: i32, y: Out[f32, N]"),
    ),
    "IG136": CodePage(
        title="The arguments of `range` are wrong; give one to three integers and a step that is not 0",
        explanation="A loop counts with i32, i64, u32 or u64, in the common type of its arguments.",
        example_bad=_kernel("for j in range(0, 8, 0):\n    y[i] = f32(j)"),
        example_good=_kernel("for j in range(0, 8, 2):\n    y[i] = f32(j)"),
    ),
    "IG137": CodePage(
        title="The number of values differs from the number of targets; write as many",
        explanation="Only tuples are unpacked, and their length is known at compile time.",
        example_bad=_kernel("a, b = (1, 2, 3)\ny[i] = x[i]"),
        example_good=_kernel("a, b, c = (1, 2, 3)\ny[i] = f32(a + b + c)"),
    ),
    "IG139": CodePage(
        title="An atomic update does not fit its array; use one of the element types it takes",
        explanation=(
            "Atomics work on i32, i64, u32, u64, w32 and w64 elements of global and shared arrays; `atomic_min`\n"
            "and `atomic_max` on f32 and f64 too. The value has the element type."
        ),
        example_bad=_kernel("ig.atomic_add(counts, i, 1)", parameters="counts: InOut[u8, N]"),
        example_good=_kernel("ig.atomic_add(counts, i, 1)", parameters="counts: InOut[i32, N]"),
    ),
    "IG140": CodePage(
        title="The result of an exchange depends on the order; give every call the same values",
        explanation=(
            "`atomic_exchange` and `atomic_cas` are accepted where the order of threads cannot be seen: every\n"
            "value is the same for the whole launch, and every access to the array is that call."
        ),
        example_bad=_kernel("ig.atomic_exchange(flag, 0, i)", parameters="flag: InOut[i64, N]"),
        example_good=_kernel("ig.atomic_exchange(flag, 0, 1)", parameters="flag: InOut[i64, N]"),
    ),
    "IG141": CodePage(
        title="A query has no such axis; give a literal axis of the grid",
        explanation="Axis 0 varies slowest, as in a C-ordered array. `gids()` gives all axes as a tuple.",
        example_bad=_kernel("j = ig.gid(1)\ny[i] = x[i]"),
        example_good=_kernel("j = ig.gid(0)\ny[j] = x[i]"),
    ),
    "IG142": CodePage(
        title="`gid()` has no meaning in a padded grid; take one index per axis",
        explanation=(
            "A grouped kernel runs whole groups, so it may have threads beyond its grid. In two or three\n"
            "dimensions these have no place in the C order of the grid."
        ),
        example_bad=_kernel("first = ig.gid()\nig.barrier()", parameters="x: InOut[f32, H, W]", head="", grid="(H, W)"),
        example_good=_kernel(
            "i, j = ig.gids()\nig.barrier()", parameters="x: InOut[f32, H, W]", head="", grid="(H, W)"
        ),
    ),
    "IG143": CodePage(
        title="`ig.require` stands below the head; move it to the first lines of the kernel",
        explanation=(
            "A precondition is about the launch and is checked once, before any thread. `assert` is per thread."
        ),
        example_bad=_kernel("ig.require(N > 4)\ny[i] = x[i]"),
        example_good=_kernel("ig.require(N > 4)\ni = ig.gid()\ny[i] = x[i]", head=""),
    ),
    "IG144": CodePage(
        title="A precondition depends on a thread or an element; use `assert`, or scalars and sizes",
        explanation=(
            "The launch evaluates preconditions from scalar parameters and sizes alone. About whole arrays that the\n"
            "launch only reads there are `ig.distinct`, `ig.is_sorted`, `ig.all_in_range` and `ig.all_finite`."
        ),
        example_bad=_kernel("ig.require(x[0] > 0.0)\ni = ig.gid()\ny[i] = x[i]", head=""),
        example_good=_kernel("i = ig.gid()\nassert x[i] > 0.0\ny[i] = x[i]", head=""),
    ),
    "IG145": CodePage(
        title="`ig.unroll` has no loop or no constant factor; write it around the head of a loop",
        explanation=(
            "`for i in ig.unroll(range(n), 4)` and `while ig.unroll(c, 4)`; without factor the backend chooses."
        ),
        example_bad=_kernel("for j in ig.unroll(range(4), k[i]):\n    y[i] = x[j]"),
        example_good=_kernel("for j in ig.unroll(range(4), 2):\n    y[i] = x[j]"),
    ),
    "IG146": CodePage(
        title="NumPy is called in a kernel; work on single elements",
        explanation=(
            "NumPy computes whole arrays on the host. In a kernel each thread computes elements, with operators,\n"
            "`math` and `ig`. Arrays of a thread or group are made by `ig.local` and `ig.shared`."
        ),
        example_bad=_kernel("buffer = np.zeros(4)\ny[i] = x[i]"),
        example_good=_kernel("buffer = ig.local(f32, 4)\ny[i] = buffer[0] + x[i]"),
    ),
    "IG147": CodePage(
        title="A method is called; values of a kernel have none",
        explanation="Elements are read and written by subscripts, sums are loops or group operations.",
        example_bad=_kernel("y[i] = x.sum()"),
        example_good=_kernel("s = 0.0\nfor v in x:\n    s += v\ny[i] = s"),
    ),
    "IG148": CodePage(
        title="Something is called that is no function of the language; the remedy says what to write",
        explanation=(
            "Kernels call helpers (`@ig.func`), conversions such as `f32(x)`, and functions of `math` and `ig`."
        ),
        example_bad=_kernel("y[i] = float(k[i])"),
        example_good=_kernel("y[i] = f32(k[i])"),
    ),
    "IG149": CodePage(
        title="A kernel is called from a kernel; share a helper",
        explanation="Kernels are launched from the host. What two kernels have in common is a helper.",
        example_bad=_kernel(
            "clear(y)", before="@ig.kernel(grid=N)\ndef clear(y: Out[f32, N]) -> None:\n    y[ig.gid()] = 0.0"
        ),
        example_good=_kernel("y[i] = zero()", before="@ig.func\ndef zero():\n    return 0.0"),
    ),
    "IG150": CodePage(
        title="A call gives no value; write it as a statement",
        explanation="Barriers, atomics and helpers without a returned value are statements.",
        example_bad=_kernel("v = ig.barrier()\ny[i] = x[i]"),
        example_good=_kernel("ig.barrier()\nif i < N:\n    y[i] = x[i]"),
    ),
    "IG151": CodePage(
        title="An annotation is no type of the language; write a dtype",
        explanation=(
            "Locals may be annotated with a computing type (bool, i32, i64, u32, u64, w32, w64, f32, f64; `int`\n"
            "means i64), parameters of helpers with those or with arrays."
        ),
        example_bad=_kernel("v: float = 1.0\ny[i] = v"),
        example_good=_kernel("v: f32 = 1.0\ny[i] = v"),
    ),
    "IG152": CodePage(
        title="The message of an `assert` is no plain string; write one",
        explanation="The message is part of the compiled kernel. The exception adds the thread and the place.",
        example_bad=_kernel('assert x[i] > 0.0, f"bad {i}"\ny[i] = x[i]'),
        example_good=_kernel('assert x[i] > 0.0, "x is positive"\ny[i] = x[i]'),
    ),
    "IG154": CodePage(
        title="An absent parameter is used; test it for None first",
        explanation=(
            "A parameter `In[f32, N] | None` is specialised: where it is None, the branch `if bias is not None:`\n"
            "is not part of the kernel at all."
        ),
        example_bad=_kernel(
            "y[i] = x[i] + bias[i]", parameters="x: In[f32, N], y: Out[f32, N], bias: In[f32, N] | None = None"
        ),
        example_good=_kernel(
            "v = x[i]\nif bias is not None:\n    v += bias[i]\ny[i] = v",
            parameters="x: In[f32, N], y: Out[f32, N], bias: In[f32, N] | None = None",
        ),
    ),
    "IG155": CodePage(
        title="A dimension or type variable has no value here; annotate a parameter with it",
        explanation=(
            "A dimension gets its value from the arrays of the launch. In a helper it is its own: the extent of\n"
            "the argument that it annotates."
        ),
        example_bad=_kernel("y[i] = last(x)", before="@ig.func\ndef last(v):\n    return v[int(N) - 1]"),
        example_good=_kernel("y[i] = last(x)", before="@ig.func\ndef last(v: In[f32, N]):\n    return v[int(N) - 1]"),
    ),
    "IG157": CodePage(
        title="Something that is no number is computed with or subscripted; take an element or component",
        explanation="Operators work on numbers; whole arrays, tuples, dtypes and strings are not operands.",
        example_bad=_kernel("y[i] = x + 1.0"),
        example_good=_kernel("y[i] = x[i] + 1.0"),
    ),
    "IG158": CodePage(
        title="A kernel nests deeper than Python's stack reaches; split long expressions",
        explanation=(
            "The compiler follows expressions, statements and helpers inside one another by recursion, as Python's\n"
            "own compiler does, and stops at the same limit. About 150 operands in one expression are allowed, more\n"
            "after `sys.setrecursionlimit`. At most 64 helpers are inlined into one another."
        ),
        example_bad="y[i] = x[i] + x[i] + x[i] + ...  # and hundreds more",
        example_good=_kernel("total = x[i] + x[i] + x[i]\ny[i] = total + x[i]"),
    ),
    "IG160": CodePage(
        title="An atomic update would show the order of threads; use an operation whose order cannot be seen",
        explanation=(
            "Every device must give the same bits. A sum of floats rounds differently in each order, and the old\n"
            "value of an element says who came first. A kernel that wants this says `deterministic=False`: it then\n"
            "gives one of the results that some order of its threads gives, and keeps every other proof."
        ),
        example_bad=_kernel("ig.atomic_add(total, 0, 1.0)", parameters="total: InOut[f32, N]"),
        example_good=_kernel(
            "s = ig.group_sum(1.0)\nif ig.lid() == 0:\n    total[ig.group_id()] = s", parameters="total: InOut[f32, N]"
        ),
    ),
}
