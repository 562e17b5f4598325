"""The runtime's own kernels, as LLVM IR: `restore` behind a launch that may trap, `gate` before one that waits for
several such launches.

restore(record, poison, mirror, guard, target 0, source 0, bytes 0, ..)    gate(poison, waited 0, .. waited 3)
"""

from isogrid.backends.cuda.layout import POISON_WORD
from isogrid.backends.cuda.target import CudaTarget, data_layout

#: Arrays that one `restore` puts back, and words that one `gate` looks at.
RESTORED = 4
WAITED = 4
RESTORE_THREADS = 256
#: 64-bit words of a launch's status: the record, then the word that later launches wait for.
STATUS_WORDS = 32

_POINTER = "ptr addrspace(1)"


def support_text(target: CudaTarget) -> str:
    """The module."""
    return "\n".join(
        (
            f'target datalayout = "{data_layout(target)}"',
            'target triple = "nvptx64-nvidia-cuda"',
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()",
            _restore_text(),
            _gate_text(),
            "",
        )
    )


def _restore_text() -> str:
    parameters = ", ".join(
        [f"{_POINTER} %record, {_POINTER} %poison, {_POINTER} %mirror, {_POINTER} %guard"]
        + [f"{_POINTER} %target.{n}, {_POINTER} %source.{n}, i64 %bytes.{n}" for n in range(RESTORED)]
    )
    copies = "\n".join(_copy_text(n) for n in range(RESTORED))
    return f"""define ptx_kernel void @restore({parameters}) nounwind "nvvm.reqntid"="{RESTORE_THREADS},1,1" {{
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %blocked = mul i32 %ctaid, {RESTORE_THREADS}
  %thread32 = add i32 %blocked, %tid
  %thread = zext i32 %thread32 to i64
  %stride32 = mul i32 %nctaid, {RESTORE_THREADS}
  %stride = zext i32 %stride32 to i64
  %first = icmp eq i64 %thread, 0
  %guarded = icmp ne {_POINTER} %guard, null
  br i1 %guarded, label %look, label %own
look:
  %waited = load volatile i64, {_POINTER} %guard, align 8
  %skipped = icmp ne i64 %waited, -1
  br i1 %skipped, label %skip, label %own
skip:
  br i1 %first, label %pass_on, label %out
pass_on:
  store volatile i64 0, {_POINTER} %poison, align 8
  br label %out
own:
  %key = load volatile i64, {_POINTER} %record, align 8
  %trapped = icmp ne i64 %key, -1
  br i1 %trapped, label %say, label %out
say:
  br i1 %first, label %report, label %copy.0
report:
  store volatile i64 0, {_POINTER} %poison, align 8
  br label %words
words:
  %w = phi i64 [ 0, %report ], [ %w.next, %words ]
  %from = getelementptr i64, {_POINTER} %record, i64 %w
  %to = getelementptr i64, {_POINTER} %mirror, i64 %w
  %word = load volatile i64, {_POINTER} %from, align 8
  store volatile i64 %word, {_POINTER} %to, align 8
  %w.next = add i64 %w, 1
  %w.more = icmp ult i64 %w.next, {POISON_WORD}
  br i1 %w.more, label %words, label %copy.0
{copies}
copy.{RESTORED}:
  br label %out
out:
  ret void
}}"""


def _copy_text(n: int) -> str:
    """Copy array `n`: whole words where everything is a multiple of 8, else bytes."""
    return f"""copy.{n}:
  %t.{n} = ptrtoint {_POINTER} %target.{n} to i64
  %s.{n} = ptrtoint {_POINTER} %source.{n} to i64
  %ts.{n} = or i64 %t.{n}, %s.{n}
  %all.{n} = or i64 %ts.{n}, %bytes.{n}
  %low.{n} = and i64 %all.{n}, 7
  %whole.{n} = icmp eq i64 %low.{n}, 0
  br i1 %whole.{n}, label %wide.{n}, label %narrow.{n}
wide.{n}:
  %count.{n} = lshr i64 %bytes.{n}, 3
  br label %wide.test.{n}
wide.test.{n}:
  %i.{n} = phi i64 [ %thread, %wide.{n} ], [ %i.next.{n}, %wide.body.{n} ]
  %i.more.{n} = icmp ult i64 %i.{n}, %count.{n}
  br i1 %i.more.{n}, label %wide.body.{n}, label %copy.{n + 1}
wide.body.{n}:
  %wide.from.{n} = getelementptr i64, {_POINTER} %source.{n}, i64 %i.{n}
  %wide.to.{n} = getelementptr i64, {_POINTER} %target.{n}, i64 %i.{n}
  %wide.value.{n} = load i64, {_POINTER} %wide.from.{n}, align 8
  store i64 %wide.value.{n}, {_POINTER} %wide.to.{n}, align 8
  %i.next.{n} = add i64 %i.{n}, %stride
  br label %wide.test.{n}
narrow.{n}:
  br label %narrow.test.{n}
narrow.test.{n}:
  %j.{n} = phi i64 [ %thread, %narrow.{n} ], [ %j.next.{n}, %narrow.body.{n} ]
  %j.more.{n} = icmp ult i64 %j.{n}, %bytes.{n}
  br i1 %j.more.{n}, label %narrow.body.{n}, label %copy.{n + 1}
narrow.body.{n}:
  %narrow.from.{n} = getelementptr i8, {_POINTER} %source.{n}, i64 %j.{n}
  %narrow.to.{n} = getelementptr i8, {_POINTER} %target.{n}, i64 %j.{n}
  %narrow.value.{n} = load i8, {_POINTER} %narrow.from.{n}, align 1
  store i8 %narrow.value.{n}, {_POINTER} %narrow.to.{n}, align 1
  %j.next.{n} = add i64 %j.{n}, %stride
  br label %narrow.test.{n}"""


def _gate_text() -> str:
    parameters = ", ".join([f"{_POINTER} %poison"] + [f"{_POINTER} %waited.{n}" for n in range(WAITED)])
    looks = "\n".join(
        f"""look.{n}:
  %here.{n} = icmp ne {_POINTER} %waited.{n}, null
  br i1 %here.{n}, label %read.{n}, label %look.{n + 1}
read.{n}:
  %word.{n} = load volatile i64, {_POINTER} %waited.{n}, align 8
  %set.{n} = icmp ne i64 %word.{n}, -1
  br i1 %set.{n}, label %close, label %look.{n + 1}"""
        for n in range(WAITED)
    )
    return f"""define ptx_kernel void @gate({parameters}) nounwind "nvvm.reqntid"="1,1,1" {{
entry:
  br label %look.0
{looks}
close:
  store volatile i64 0, {_POINTER} %poison, align 8
  br label %look.{WAITED}
look.{WAITED}:
  ret void
}}"""
