"""Pages of the codes IG170 to IG199: signatures, dimensions and geometry, judged when a kernel is decorated."""

from isogrid.diagnostics.pages import CodePage

_HEAD = "@ig.kernel(grid=N)\n"

PAGES: dict[str, CodePage] = {
    "IG170": CodePage(
        title="The source of a kernel cannot be read; define it in a file or a notebook",
        explanation=(
            "A kernel is compiled from its text. Python keeps the text of files and notebook cells, and of\n"
            "code run by `exec` only if its lines are put into `linecache.cache` under the file name given to\n"
            "`compile`."
        ),
        example_bad='exec("@ig.kernel(grid=N)\\ndef k(x: InOut[f32, N]) -> None: ...")',
        example_good=(
            'lines = text.splitlines(keepends=True)\nlinecache.cache["<made>"] = (len(text), None, lines, "<made>")\n'
            'exec(compile(text, "<made>", "exec"))'
        ),
    ),
    "IG171": CodePage(
        title="A kernel is one plain `def`; write it as one, and import its file again after editing it",
        explanation=(
            "The line where Python says that the function begins holds no such `def`: the function is a\n"
            "lambda, was made by another decorator, is `async`, or the file has changed since it was\n"
            "imported."
        ),
        example_bad="k = ig.kernel(grid=N)(lambda x: None)",
        example_good=_HEAD + "def k(x: InOut[f32, N]) -> None:\n    ...",
    ),
    "IG172": CodePage(
        title="A kernel has plain parameters; write each one out",
        explanation=(
            "Every parameter can be passed by position and by keyword, and their number is fixed: `*args`,\n"
            "`**options`, positional-only and keyword-only parameters have no meaning for a device."
        ),
        example_bad=_HEAD + "def k(*arrays: In[f32, N]) -> None: ...",
        example_good=_HEAD + "def k(x: In[f32, N], y: Out[f32, N]) -> None: ...",
    ),
    "IG173": CodePage(
        title="A parameter has no annotation; annotate it with a dtype or an array",
        explanation="A kernel is typed by its signature. Parameters of helpers (`@ig.func`) may stay unannotated.",
        example_bad=_HEAD + "def k(a, x: InOut[f32, N]) -> None: ...",
        example_good=_HEAD + "def k(a: f32, x: InOut[f32, N]) -> None: ...",
    ),
    "IG174": CodePage(
        title="An annotation cannot be evaluated; define its names before the kernel",
        explanation=(
            "Under `from __future__ import annotations`, and for annotations in quotes, isogrid evaluates the\n"
            "text with the names of the module, the closure and the function around the decorator."
        ),
        example_bad=_HEAD + 'def k(x: "InOut[f32, Rows]") -> None: ...   # Rows is not defined',
        example_good="class Rows(ig.Dim): ...\n\n@ig.kernel(grid=Rows)\n" + 'def k(x: "InOut[f32, Rows]") -> None: ...',
    ),
    "IG175": CodePage(
        title="An annotation is no type of the language; use f32, i32, ... or In, Out, InOut",
        explanation=(
            "Scalars are bool, i32, i64, u32, u64, w32, w64, f32 and f64. Array elements may also be i8, i16,\n"
            "u8 and u16. `float` and `int` do not say how many bits they have."
        ),
        example_bad=_HEAD + "def k(a: float, x: InOut[float, N]) -> None: ...",
        example_good=_HEAD + "def k(a: f32, x: InOut[f32, N]) -> None: ...",
    ),
    "IG176": CodePage(
        title="A scalar parameter has a storage type; use the type that it widens to",
        explanation="i8, i16, u8 and u16 are for array elements, which widen to i32 when they are loaded.",
        example_bad=_HEAD + "def k(a: u8, x: InOut[u8, N]) -> None: ...",
        example_good=_HEAD + "def k(a: i32, x: InOut[u8, N]) -> None: ...",
    ),
    "IG177": CodePage(
        title="An array has 1 to 4 extents; write one dimension per axis",
        explanation=(
            "`In[f32, H, W]` is an array of two axes. A C-contiguous array of any rank may bind one of one\naxis."
        ),
        example_bad=_HEAD + "def k(x: InOut[f32]) -> None: ...",
        example_good=_HEAD + "def k(x: InOut[f32, N]) -> None: ...",
    ),
    "IG178": CodePage(
        title="An extent is no dimension; use a Dim class or Literal",
        explanation="An extent is a class of `isogrid.dims` or of your own (`class Rows(ig.Dim)`), or `Literal[4]`.",
        example_bad=_HEAD + "def k(x: InOut[f32, float]) -> None: ...",
        example_good=_HEAD + "def k(x: InOut[f32, N, Literal[3]]) -> None: ...",
    ),
    "IG179": CodePage(
        title="A type variable does not list types of the language; constrain it",
        explanation="A generic kernel is checked for every member and instantiated at launch, by its arrays first.",
        example_bad='T = TypeVar("T")\n\n' + _HEAD + "def k(x: InOut[T, N]) -> None: ...",
        example_good='T = TypeVar("T", f32, f64)\n\n' + _HEAD + "def k(x: InOut[T, N]) -> None: ...",
    ),
    "IG180": CodePage(
        title="Only arrays are optional; a union has one array and None",
        explanation=(
            "`In[f32, C] | None` is specialised on None. A scalar that may be left out has a default value;\n"
            "several element types are a TypeVar."
        ),
        example_bad=_HEAD + "def k(a: f32 | None, x: InOut[f32, N]) -> None: ...",
        example_good=_HEAD + "def k(x: InOut[f32, N], bias: In[f32, N] | None = None, a: f32 = 1.0) -> None: ...",
    ),
    "IG181": CodePage(
        title="A default value does not fit its parameter; write one that the type holds",
        explanation="A scalar's default is a number of its type, an optional array's is None; other arrays have none.",
        example_bad=_HEAD + "def k(x: InOut[f32, N], n: u32 = -1) -> None: ...",
        example_good=_HEAD + "def k(x: InOut[f32, N], n: i32 = -1) -> None: ...",
    ),
    "IG182": CodePage(
        title="A name of the signature means two things; rename one",
        explanation=(
            "Dimensions, type variables and parameters of one signature have different names, and no\n"
            "parameter is called grid, groups, block, device or stream, which are keywords of `launch`."
        ),
        example_bad=_HEAD + "def k(N: i32, x: InOut[f32, N]) -> None: ...",
        example_good=_HEAD + "def k(n: i32, x: InOut[f32, N]) -> None: ...",
    ),
    "IG183": CodePage(
        title="No array has an axis of this size; add one or pass the number as a scalar",
        explanation=(
            "A dimension gets its value from the arrays of a launch, so some array has it as an extent of its\nown."
        ),
        example_bad="@ig.kernel(grid=M)\ndef k(x: InOut[f32, N]) -> None: ...",
        example_good=_HEAD + "def k(x: InOut[f32, N]) -> None: ...",
    ),
    "IG184": CodePage(
        title="A kernel returns nothing; store its results in arrays",
        explanation="Every thread runs the kernel, so there is no one result to return.",
        example_bad=_HEAD + "def k(x: In[f32, N]) -> f32: ...",
        example_good=_HEAD + "def k(x: In[f32, N], total: InOut[f32, Literal[1]]) -> None: ...",
    ),
    "IG185": CodePage(
        title="Both grid and groups are given; keep one",
        explanation=(
            "`grid=` is the number of threads along each axis, `groups=` the number of groups of `block=`\nthreads."
        ),
        example_bad="@ig.kernel(grid=N, groups=N // 256, block=256)\ndef k(x: InOut[f32, N]) -> None: ...",
        example_good="@ig.kernel(groups=ig.cdiv(N, 256), block=256)\ndef k(x: InOut[f32, N]) -> None: ...",
    ),
    "IG186": CodePage(
        title="A grid is 1 to 3 extents over dimensions; the last one varies fastest",
        explanation=(
            "An extent is an integer, a dimension, or an expression over both with `+ - * // %` and\n`ig.cdiv`."
        ),
        example_bad='@ig.kernel(grid="N")\ndef k(x: InOut[f32, N]) -> None: ...',
        example_good="@ig.kernel(grid=(H, W))\ndef k(x: InOut[f32, H, W]) -> None: ...",
    ),
    "IG187": CodePage(
        title="A geometry callable cannot be read; return one expression over parameters and dimensions",
        explanation=(
            "The callable is not called: its text is read as an expression over integer scalars,\n"
            "`x.shape[0]`, `x.size`, `len(x)` and dimensions, with `+ - * // %`, min, max and ig.cdiv."
        ),
        example_bad="@ig.kernel(grid=lambda x: x.sum())\ndef k(x: InOut[i32, N]) -> None: ...",
        example_good="@ig.kernel(grid=lambda x: x.shape[0] // 2)\ndef k(x: InOut[i32, N]) -> None: ...",
    ),
    "IG188": CodePage(
        title="A block is constant and has 1 to 1024 threads; use integers, tunables or constant dimensions",
        explanation=(
            "One number in a grid of several axes is the block's last extent. The product is at most 1024,\n"
            "the number of threads that every device has in a group."
        ),
        example_bad="@ig.kernel(grid=(H, W), block=(64, 64))\ndef k(x: InOut[f32, H, W]) -> None: ...",
        example_good="@ig.kernel(grid=(H, W), block=(16, 16))\ndef k(x: InOut[f32, H, W]) -> None: ...",
    ),
    "IG189": CodePage(
        title="The warp width is 4, 8, 16, 32 or 64",
        explanation="The width is logical: results do not depend on the device's own.",
        example_bad="@ig.kernel(grid=N, warp=24)\ndef k(x: InOut[f32, N]) -> None: ...",
        example_good="@ig.kernel(grid=N, warp=16)\ndef k(x: InOut[f32, N]) -> None: ...",
    ),
    "IG190": CodePage(
        title='An option of the decorator has no such value; races is "check" or ig.trust(...)',
        explanation="`races=` takes the author's word, with a reason, or asks for a check at run time.",
        example_bad="@ig.kernel(grid=N, races=True)\ndef k(x: InOut[f32, N]) -> None: ...",
        example_good='@ig.kernel(grid=N, races=ig.trust("p is a permutation"))\ndef k(x: InOut[f32, N]) -> None: ...',
    ),
}
