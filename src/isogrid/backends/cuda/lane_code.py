"""What a lane of copies does, as machine code: part after part of a job, without Python between them.

A job is 64-bit words that all its lanes share, in the order of `JOB`; they take the parts from a common counter. A move
is five words, as in `MOVE`: part n of an array is its bytes from n * each on. A lane has pinned memory and a stream:

    for each part:  array -> pinned -> device, for what goes in;  the kernel on the part's blocks, where there is one;
                    device -> pinned -> array, for what comes out
"""

from typing import Final

#: The words of a job: the next part, how many there are, the driver's calls, the kernel (`launch` is 0 where there is
#: none), the moves, blocks of a part and in all, the kernel's parameters (their number and the one that says where it
#: starts), and the first failure of a call.
JOB: Final = (
    *("next", "parts", "copy_in", "copy_out", "synchronise", "launch", "function", "threads", "shared"),
    *("moves", "list", "blocks", "total", "words", "count", "start", "failed"),
)
MOVE: Final = ("host", "device", "each", "size", "kind")
GOES_IN, COMES_OUT = 1, 2
#: The words of a lane: pinned memory, stream, room for its own parameters and for pointers to them.
LANE: Final = ("room", "stream", "own", "pointers")


def lane_text() -> str:
    """LLVM IR of `i32 @lane(job, lane)`, which returns the driver's code of what failed, or 0."""
    lines = ["define i32 @lane(ptr %job, ptr %lane) {", "entry:"]
    for number, name in enumerate(LANE):
        lines += _word(name, "lane", number)
    for number, name in enumerate(JOB[1:-1], 1):
        lines += _word(name, "job", number)
    lines += [f"  %failed = getelementptr i64, ptr %job, i64 {JOB.index('failed')}"]
    for name in (
        "stream",
        "copy_in",
        "copy_out",
        "synchronise",
        "launch",
        "function",
        "list",
        "words",
        "own",
        "pointers",
    ):
        lines.append(f"  %{name}.p = inttoptr i64 %{name} to ptr")
    lines += ["  %threads.i = trunc i64 %threads to i32", "  %shared.i = trunc i64 %shared to i32"]
    return "\n".join([*lines, _BODY, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"])


def _word(name: str, base: str, number: int) -> list[str]:
    return [f"  %{name}.at = getelementptr i64, ptr %{base}, i64 {number}", f"  %{name} = load i64, ptr %{name}.at"]


def _moves(step: str, before: str, after: str, kind: int, body: str) -> str:
    """Do `body` for each move of this kind that has something in the part; `here` is its place in pinned memory."""
    text = f"""{step}:
  %m.S = phi i64 [ 0, %{before} ], [ %more.S, %S.next ]
  %here.S = phi i64 [ %room, %{before} ], [ %after.S, %S.next ]
  %any.S = icmp slt i64 %m.S, %moves
  br i1 %any.S, label %S.move, label %{after}
S.move:
  %move.S = getelementptr [5 x i64], ptr %list.p, i64 %m.S
  %host.S = load i64, ptr %move.S
  %d.S = getelementptr i64, ptr %move.S, i64 1
  %device.S = load i64, ptr %d.S
  %e.S = getelementptr i64, ptr %move.S, i64 2
  %each.S = load i64, ptr %e.S
  %s.S = getelementptr i64, ptr %move.S, i64 3
  %size.S = load i64, ptr %s.S
  %k.S = getelementptr i64, ptr %move.S, i64 4
  %kind.S = load i64, ptr %k.S
  %start.S = mul i64 %part, %each.S
  %left.S = sub i64 %size.S, %start.S
  %less.S = icmp slt i64 %left.S, %each.S
  %bytes.S = select i1 %less.S, i64 %left.S, i64 %each.S
  %some.S = icmp sgt i64 %bytes.S, 0
  %bit.S = and i64 %kind.S, {kind}
  %wanted.S = icmp ne i64 %bit.S, 0
  %go.S = and i1 %some.S, %wanted.S
  %array.S = add i64 %host.S, %start.S
  %there.S = add i64 %device.S, %start.S
  %array.p.S = inttoptr i64 %array.S to ptr
  %here.p.S = inttoptr i64 %here.S to ptr
  br i1 %go.S, label %S.go, label %S.next
S.go:
{body}
S.next:
  %more.S = add i64 %m.S, 1
  %after.S = add i64 %here.S, %each.S
  br label %{step}
"""
    return text.replace(".S", f".{step}").replace("%S.", f"%{step}.").replace("\nS.", f"\n{step}.")


_IN: Final = """  call void @llvm.memcpy.p0.p0.i64(ptr %here.p.S, ptr %array.p.S, i64 %bytes.S, i1 false)
  %rc.S = call i32 %copy_in.p(i64 %there.S, ptr %here.p.S, i64 %bytes.S, ptr %stream.p)
  %bad.S = icmp ne i32 %rc.S, 0
  br i1 %bad.S, label %fail, label %S.next"""
_OUT: Final = """  %rc.S = call i32 %copy_out.p(ptr %here.p.S, i64 %there.S, i64 %bytes.S, ptr %stream.p)
  %bad.S = icmp ne i32 %rc.S, 0
  br i1 %bad.S, label %fail, label %S.next"""
_BACK: Final = """  call void @llvm.memcpy.p0.p0.i64(ptr %array.p.S, ptr %here.p.S, i64 %bytes.S, i1 false)
  br label %S.next"""

_BODY: Final = f"""  br label %take
take:
  %stopped = load atomic i64, ptr %failed monotonic, align 8
  %others = icmp ne i64 %stopped, 0
  br i1 %others, label %done, label %next
next:
  %part = atomicrmw add ptr %job, i64 1 monotonic
  %is = icmp slt i64 %part, %parts
  br i1 %is, label %in, label %done
{_moves("in", "next", "run", GOES_IN, _IN)}
run:
  %kernel = icmp ne i64 %launch, 0
  br i1 %kernel, label %pack, label %out
pack:
  %length = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own.p, ptr %words.p, i64 %length, i1 false)
  %first = mul i64 %part, %blocks
  %first.at = getelementptr i64, ptr %own.p, i64 %start
  store i64 %first, ptr %first.at
  %rest = sub i64 %total, %first
  %fewer = icmp slt i64 %rest, %blocks
  %now = select i1 %fewer, i64 %rest, i64 %blocks
  %none = icmp slt i64 %now, 1
  br i1 %none, label %out, label %begin
begin:
  %now.i = trunc i64 %now to i32
  %rc.run = call i32 %launch.p(ptr %function.p, i32 %now.i, i32 1, i32 1, i32 %threads.i, i32 1, i32 1, i32 %shared.i,
    ptr %stream.p, ptr %pointers.p, ptr null)
  %bad.run = icmp ne i32 %rc.run, 0
  br i1 %bad.run, label %fail, label %out
{_moves("out", "X", "wait", COMES_OUT, _OUT)}
wait:
  %rc.wait = call i32 %synchronise.p(ptr %stream.p)
  %bad.wait = icmp ne i32 %rc.wait, 0
  br i1 %bad.wait, label %fail, label %back
{_moves("back", "wait", "take", COMES_OUT, _BACK)}
fail:
  %rc = phi i32 [ %rc.in, %in.go ], [ %rc.run, %begin ], [ %rc.out, %out.go ], [ %rc.wait, %wait ]
  %wide = zext i32 %rc to i64
  store atomic i64 %wide, ptr %failed monotonic, align 8
  %last = call i32 %synchronise.p(ptr %stream.p)
  ret i32 %rc
done:
  ret i32 0
}}
""".replace("[ 0, %X ]", "[ 0, %run ], [ 0, %pack ], [ 0, %begin ]").replace(
    "[ %room, %X ]", "[ %room, %run ], [ %room, %pack ], [ %room, %begin ]"
)
