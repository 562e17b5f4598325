; The launch stub: a Python function (METH_FASTCALL) that checks the usual arguments, fills the argument block and runs.
; Continues launch.ll in the same module. One function serves every kernel; stub.py describes the kernel in a %Call.
;
; It never words an error: whatever is not plainly right gives the object `unusual` back, nothing having happened, and
; the launcher in Python does all checks again. Arrays are exactly `numpy.ndarray`, whose fields are part of NumPy's
; binary interface (every C extension reads them through macros): that costs a few loads where the buffer protocol
; costs 25 ns an array.

%Call = type { %Context, i64, ptr, ptr, ptr, i64, i64, ptr, i64, i64 }
; 1 arguments, 2 unusual, 3 parameters, 4 program, 5 operations, 6 flags (1: restore after a trap, 2: small variant),
; 7 numpy.ndarray, 8 cell of the number of units, 9 most bytes to save here
%Parameter = type { i64, i64, i64, i64, i64, i64, i64, i64, i64 }
; kind (0 absent, 1 array, 2 f32, 3 f64, 4 integer, 5 bool), slot; array: NumPy type number, its other number, item
; bytes, rank, written; integer: least and greatest value in fields 2, 3; scalars: 4 the type of NumPy scalar that is
; taken like a Python number, 5 its bytes; 7 first cell (-1: none), 8 slot of the pointer to the counters of an array
; with totals (0: none)
%Operation = type { i64, i64, i64, i64 }
; code, target, left, right: see the switch below. Cells are i64 values on the stack: sizes, integer scalars, results.
%Array = type { i64, i64, i64, i64, i64 }
; address, bytes, written, slot of the pointer to its counters (0: none), elements

@PyFloat_Type = external global i8
@PyLong_Type = external global i8
@_Py_NoneStruct = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare ptr @malloc(i64)
declare void @llvm.x86.sse.sfence()
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare double @llvm.fabs.f64(double)
declare float @llvm.fabs.f32(float)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

; `self` is a tuple whose first item is the capsule of the %Call.
define ptr @isogrid_call(ptr %self, ptr %arguments, i64 %given) {
entry:
  %capsule = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %result = call ptr @launch_call(ptr %capsule, ptr %arguments, i64 %given)
  ret ptr %result
}

define internal ptr @launch_call(ptr %capsule, ptr %arguments, i64 %given) alwaysinline {
entry:
  %block = alloca [192 x i64], align 16
  %cells = alloca [256 x i64], align 16
  %arrays = alloca [64 x %Array], align 16
  store ptr null, ptr %block
  %call = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %wanted.place = getelementptr %Call, ptr %call, i64 0, i32 1
  %wanted = load i64, ptr %wanted.place
  %all = icmp eq i64 %given, %wanted
  br i1 %all, label %read, label %unusual
read:
  %count = call i64 @read_arguments(ptr %call, ptr %arguments, ptr %block, ptr %cells, ptr %arrays)
  %readable = icmp sge i64 %count, 0
  br i1 %readable, label %apart, label %unusual
apart:
  %separate = call i1 @all_apart(ptr %arrays, i64 %count)
  br i1 %separate, label %size, label %unusual
size:
  %sound = call i1 @evaluate(ptr %call, ptr %block, ptr %cells)
  br i1 %sound, label %ready, label %unusual
ready:
  %units.cell.place = getelementptr %Call, ptr %call, i64 0, i32 8
  %units.cell = load i64, ptr %units.cell.place
  %units.place = getelementptr i64, ptr %cells, i64 %units.cell
  %units = load i64, ptr %units.place
  %flags.place = getelementptr %Call, ptr %call, i64 0, i32 6
  %flags = load i64, ptr %flags.place
  %restores.bit = and i64 %flags, 1
  %restores = icmp ne i64 %restores.bit, 0
  br i1 %restores, label %guarded, label %bare
bare:
  %stream.place = getelementptr %Context, ptr %call, i64 0, i32 6
  %stream = load ptr, ptr %stream.place
  %streams = icmp ne ptr %stream, null
  br i1 %streams, label %ask, label %run
ask:
  ; The launcher in Python makes the form that writes past the cache.
  %due = call i64 @isogrid_stream_due(ptr %call, ptr %block, i64 %units)
  %is.due = icmp ne i64 %due, 0
  br i1 %is.due, label %unusual, label %run
run:
  %r = call i64 @isogrid_launch(ptr %call, ptr %block, i64 %units)
  %failed = icmp eq i64 %r, -2
  br i1 %failed, label %raise, label %none
guarded:
  %g = call i64 @launch_guarded(ptr %call, ptr %block, i64 %units, ptr %arrays, i64 %count)
  switch i64 %g, label %unusual [ i64 -1, label %none
                                  i64 -2, label %raise ]
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
raise:
  ret ptr null
unusual:
  %unusual.place = getelementptr %Call, ptr %call, i64 0, i32 2
  %object = load ptr, ptr %unusual.place
  call void @Py_IncRef(ptr %object)
  ret ptr %object
}

; The same as a whole call (METH_FASTCALL | METH_KEYWORDS): what is unusual, keywords included, goes on to a Python
; callable with the same arguments. `self` is the tuple of the capsule, that callable and the object `unusual`.
define ptr @isogrid_whole_call(ptr %self, ptr %arguments, i64 %given, ptr %names) {
entry:
  %positional = icmp eq ptr %names, null
  br i1 %positional, label %try, label %slow
try:
  %capsule = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %result = call ptr @launch_call(ptr %capsule, ptr %arguments, i64 %given)
  %unusual = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  %is.unusual = icmp eq ptr %result, %unusual
  br i1 %is.unusual, label %drop, label %out
out:
  ret ptr %result
drop:
  call void @Py_DecRef(ptr %unusual)
  br label %slow
slow:
  %callable = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %slow.result = musttail call ptr @PyObject_Vectorcall(ptr %callable, ptr %arguments, i64 %given, ptr %names)
  ret ptr %slow.result
}

; Scalars and data pointers into the block, sizes and integer scalars into cells, every array into `arrays`. Gives the
; number of arrays, or -1.
define internal i64 @read_arguments(ptr %call, ptr %arguments, ptr %block, ptr %cells, ptr %arrays) alwaysinline {
entry:
  %over = alloca i32
  %n.place = getelementptr %Call, ptr %call, i64 0, i32 1
  %n = load i64, ptr %n.place
  %table.place = getelementptr %Call, ptr %call, i64 0, i32 3
  %table = load ptr, ptr %table.place
  %flags.place = getelementptr %Call, ptr %call, i64 0, i32 6
  %flags = load i64, ptr %flags.place
  %small.bit = and i64 %flags, 2
  %is.small = icmp ne i64 %small.bit, 0
  %most = select i1 %is.small, i64 2147483647, i64 9223372036854775807
  %ndarray.place = getelementptr %Call, ptr %call, i64 0, i32 7
  %ndarray = load ptr, ptr %ndarray.place
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %count = phi i64 [ 0, %entry ], [ %count.next, %next ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %one, label %done
done:
  ret i64 %count
bad:
  ret i64 -1
one:
  %object.place = getelementptr ptr, ptr %arguments, i64 %k
  %object = load ptr, ptr %object.place
  %type.place = getelementptr ptr, ptr %object, i64 1
  %type = load ptr, ptr %type.place
  %row = getelementptr %Parameter, ptr %table, i64 %k
  %kind = load i64, ptr %row
  %slot.place = getelementptr %Parameter, ptr %row, i64 0, i32 1
  %slot.number = load i64, ptr %slot.place
  %slot = getelementptr i64, ptr %block, i64 %slot.number
  %f2.place = getelementptr %Parameter, ptr %row, i64 0, i32 2
  %f2 = load i64, ptr %f2.place
  %f3.place = getelementptr %Parameter, ptr %row, i64 0, i32 3
  %f3 = load i64, ptr %f3.place
  %cell.place = getelementptr %Parameter, ptr %row, i64 0, i32 7
  %cell.number = load i64, ptr %cell.place
  %cell = getelementptr i64, ptr %cells, i64 %cell.number
  %f4.place = getelementptr %Parameter, ptr %row, i64 0, i32 4
  %f4 = load i64, ptr %f4.place
  %f5.place = getelementptr %Parameter, ptr %row, i64 0, i32 5
  %f5 = load i64, ptr %f5.place
  %type.number = ptrtoint ptr %type to i64
  ; PyArrayScalar: the value at 16.
  %like = icmp eq i64 %type.number, %f4
  %scalar.place = getelementptr i8, ptr %object, i64 16
  switch i64 %kind, label %bad [ i64 0, label %absent
                                 i64 1, label %array
                                 i64 2, label %float
                                 i64 3, label %float
                                 i64 4, label %integer
                                 i64 5, label %bool ]
absent:
  %is.none = icmp eq ptr %object, @_Py_NoneStruct
  br i1 %is.none, label %next, label %bad

float:
  %is.float = icmp eq ptr %type, @PyFloat_Type
  br i1 %is.float, label %from.float, label %perhaps.int
perhaps.int:
  %is.int.too = icmp eq ptr %type, @PyLong_Type
  br i1 %is.int.too, label %from.int, label %from.scalar
from.scalar:
  br i1 %like, label %same.bits, label %bad
same.bits:
  %is.short = icmp eq i64 %f5, 4
  br i1 %is.short, label %bits.32, label %bits.64
bits.32:
  %b32 = load i32, ptr %scalar.place
  %b32.wide = zext i32 %b32 to i64
  store i64 %b32.wide, ptr %slot
  br label %next
bits.64:
  %b64 = load i64, ptr %scalar.place
  store i64 %b64, ptr %slot
  br label %next
from.float:
  %d1 = call double @PyFloat_AsDouble(ptr %object)
  br label %rounded
from.int:
  ; Up to 2^53 an integer is a double, so that the only rounding is the one to f32.
  %i1 = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %over)
  %i1.over = load i32, ptr %over
  %i1.fits = icmp eq i32 %i1.over, 0
  %i1.up = icmp sle i64 %i1, 9007199254740992
  %i1.down = icmp sge i64 %i1, -9007199254740992
  %i1.a = and i1 %i1.up, %i1.down
  %i1.b = and i1 %i1.a, %i1.fits
  %d2 = sitofp i64 %i1 to double
  br i1 %i1.b, label %rounded, label %bad
rounded:
  %d = phi double [ %d1, %from.float ], [ %d2, %from.int ]
  %is.f32 = icmp eq i64 %kind, 2
  br i1 %is.f32, label %narrow, label %wide
wide:
  store double %d, ptr %slot
  br label %next
narrow:
  %s = fptrunc double %d to float
  %s.size = call float @llvm.fabs.f32(float %s)
  %s.inf = fcmp oeq float %s.size, 0x7FF0000000000000
  %d.size = call double @llvm.fabs.f64(double %d)
  %d.inf = fcmp oeq double %d.size, 0x7FF0000000000000
  %lost = icmp ne i1 %s.inf, %d.inf
  store i64 0, ptr %slot
  store float %s, ptr %slot
  br i1 %lost, label %bad, label %next

integer:
  %is.int = icmp eq ptr %type, @PyLong_Type
  br i1 %is.int, label %whole, label %perhaps.scalar
perhaps.scalar:
  br i1 %like, label %scalar, label %bad
scalar:
  %is.word = icmp eq i64 %f5, 4
  br i1 %is.word, label %word, label %long
word:
  %w = load i32, ptr %scalar.place
  %w.signed = sext i32 %w to i64
  %w.unsigned = zext i32 %w to i64
  %signed = icmp slt i64 %f2, 0
  %w.value = select i1 %signed, i64 %w.signed, i64 %w.unsigned
  br label %judge
long:
  ; A u64 of 2^63 or more reads as below 0, which its least value, 0, keeps out.
  %l.value = load i64, ptr %scalar.place
  br label %judge
judge:
  %np = phi i64 [ %w.value, %word ], [ %l.value, %long ]
  %np.down = icmp sge i64 %np, %f2
  %np.up = icmp sle i64 %np, %f3
  %np.in = and i1 %np.down, %np.up
  br i1 %np.in, label %keep.int, label %bad
whole:
  %i.read = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %over)
  %i.over = load i32, ptr %over
  %i.fits = icmp eq i32 %i.over, 0
  %i.down = icmp sge i64 %i.read, %f2
  %i.up = icmp sle i64 %i.read, %f3
  %i.in = and i1 %i.down, %i.up
  %i.ok = and i1 %i.in, %i.fits
  br i1 %i.ok, label %keep.int, label %bad
keep.int:
  %i = phi i64 [ %i.read, %whole ], [ %np, %judge ]
  store i64 %i, ptr %slot
  %has.cell = icmp sge i64 %cell.number, 0
  br i1 %has.cell, label %cell.int, label %next
cell.int:
  store i64 %i, ptr %cell
  br label %next

bool:
  %is.true = icmp eq ptr %object, @_Py_TrueStruct
  %is.false = icmp eq ptr %object, @_Py_FalseStruct
  %is.bool = or i1 %is.true, %is.false
  %b = zext i1 %is.true to i64
  store i64 %b, ptr %slot
  br i1 %is.bool, label %next, label %perhaps.truth
perhaps.truth:
  br i1 %like, label %truth, label %bad
truth:
  %t = load i8, ptr %scalar.place
  %t.wide = zext i8 %t to i64
  store i64 %t.wide, ptr %slot
  br label %next

; PyArrayObject: data 16, nd 24, dimensions 32, descr 56, flags 64. PyArray_Descr: byteorder 26, type_num 28.
array:
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %fields, label %bad
fields:
  %descr.place = getelementptr i8, ptr %object, i64 56
  %descr = load ptr, ptr %descr.place
  %type.num.place = getelementptr i8, ptr %descr, i64 28
  %type.num = load i32, ptr %type.num.place
  %type.num64 = sext i32 %type.num to i64
  %match.1 = icmp eq i64 %type.num64, %f2
  %match.2 = icmp eq i64 %type.num64, %f3
  %matches = or i1 %match.1, %match.2
  %order.place = getelementptr i8, ptr %descr, i64 26
  %order = load i8, ptr %order.place
  %swapped = icmp eq i8 %order, 62
  %native = xor i1 %swapped, true
  %nd.place = getelementptr i8, ptr %object, i64 24
  %nd = load i32, ptr %nd.place
  %nd64 = sext i32 %nd to i64
  %rank.ok = icmp eq i64 %nd64, %f5
  %written.place = getelementptr %Parameter, ptr %row, i64 0, i32 6
  %written = load i64, ptr %written.place
  ; C_CONTIGUOUS 1, ALIGNED 0x100, WRITEABLE 0x400
  %write.bit = mul i64 %written, 1024
  %need = or i64 %write.bit, 257
  %flags.of.place = getelementptr i8, ptr %object, i64 64
  %flags.of = load i32, ptr %flags.of.place
  %flags.of64 = zext i32 %flags.of to i64
  %flags.has = and i64 %flags.of64, %need
  %flags.ok = icmp eq i64 %flags.has, %need
  %a1 = and i1 %matches, %native
  %a2 = and i1 %rank.ok, %flags.ok
  %a3 = and i1 %a1, %a2
  br i1 %a3, label %shape, label %bad
shape:
  %dims.place = getelementptr i8, ptr %object, i64 32
  %dims = load ptr, ptr %dims.place
  br label %axis
axis:
  %x = phi i64 [ 0, %shape ], [ %x.next, %axis.next ]
  %elements = phi i64 [ 1, %shape ], [ %elements.next, %axis.next ]
  %axes.left = icmp slt i64 %x, %f5
  br i1 %axes.left, label %axis.one, label %whole.array
axis.one:
  %extent.place = getelementptr i64, ptr %dims, i64 %x
  %extent = load i64, ptr %extent.place
  %extent.cell = getelementptr i64, ptr %cell, i64 %x
  store i64 %extent, ptr %extent.cell
  %product = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %elements, i64 %extent)
  %elements.next = extractvalue { i64, i1 } %product, 0
  %product.over = extractvalue { i64, i1 } %product, 1
  %extent.big = icmp sgt i64 %extent, %most
  %product.big = icmp sgt i64 %elements.next, %most
  %big.1 = or i1 %extent.big, %product.big
  %big = or i1 %big.1, %product.over
  br i1 %big, label %bad, label %axis.next
axis.next:
  %x.next = add i64 %x, 1
  br label %axis
whole.array:
  %bytes = mul i64 %elements, %f4
  %data.place = getelementptr i8, ptr %object, i64 16
  %data = load i64, ptr %data.place
  store i64 %data, ptr %slot
  %entry.of = getelementptr %Array, ptr %arrays, i64 %count
  store i64 %data, ptr %entry.of
  %bytes.of = getelementptr %Array, ptr %entry.of, i64 0, i32 1
  store i64 %bytes, ptr %bytes.of
  %written.of = getelementptr %Array, ptr %entry.of, i64 0, i32 2
  store i64 %written, ptr %written.of
  %shadow.place = getelementptr %Parameter, ptr %row, i64 0, i32 8
  %shadow = load i64, ptr %shadow.place
  %shadow.of = getelementptr %Array, ptr %entry.of, i64 0, i32 3
  store i64 %shadow, ptr %shadow.of
  %elements.of = getelementptr %Array, ptr %entry.of, i64 0, i32 4
  store i64 %elements, ptr %elements.of
  %count.up = add i64 %count, 1
  br label %next

next:
  %count.next = phi i64 [ %count, %absent ], [ %count, %wide ], [ %count, %narrow ],
                        [ %count, %bits.32 ], [ %count, %bits.64 ], [ %count, %truth ], [ %count, %keep.int ],
                        [ %count, %cell.int ], [ %count, %bool ], [ %count.up, %whole.array ]
  %k.next = add i64 %k, 1
  br label %each
}

; Whether no two arrays share a byte that one of them may write.
define internal i1 @all_apart(ptr %arrays, i64 %count) alwaysinline {
entry:
  br label %outer
outer:
  %i = phi i64 [ 1, %entry ], [ %i.next, %outer.next ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %start, label %yes
yes:
  ret i1 true
no:
  ret i1 false
start:
  %a = getelementptr %Array, ptr %arrays, i64 %i
  %a.lo = load i64, ptr %a
  %a.bytes.place = getelementptr %Array, ptr %a, i64 0, i32 1
  %a.bytes = load i64, ptr %a.bytes.place
  %a.hi = add i64 %a.lo, %a.bytes
  %a.written.place = getelementptr %Array, ptr %a, i64 0, i32 2
  %a.written = load i64, ptr %a.written.place
  br label %inner
inner:
  %j = phi i64 [ 0, %start ], [ %j.next, %inner.next ]
  %again = icmp slt i64 %j, %i
  br i1 %again, label %compare, label %outer.next
compare:
  %b = getelementptr %Array, ptr %arrays, i64 %j
  %b.lo = load i64, ptr %b
  %b.bytes.place = getelementptr %Array, ptr %b, i64 0, i32 1
  %b.bytes = load i64, ptr %b.bytes.place
  %b.hi = add i64 %b.lo, %b.bytes
  %b.written.place = getelementptr %Array, ptr %b, i64 0, i32 2
  %b.written = load i64, ptr %b.written.place
  %either = or i64 %a.written, %b.written
  %is.written = icmp ne i64 %either, 0
  %c1 = icmp ult i64 %a.lo, %b.hi
  %c2 = icmp ult i64 %b.lo, %a.hi
  %c3 = and i1 %c1, %c2
  %c4 = and i1 %c3, %is.written
  br i1 %c4, label %no, label %inner.next
inner.next:
  %j.next = add i64 %j, 1
  br label %inner
outer.next:
  %i.next = add i64 %i, 1
  br label %outer
}

; Run the program over the cells: geometry, equal sizes, preconditions, slots. False: some value is out of order.
define internal i1 @evaluate(ptr %call, ptr %block, ptr %cells) alwaysinline {
entry:
  %program.place = getelementptr %Call, ptr %call, i64 0, i32 4
  %program = load ptr, ptr %program.place
  %length.place = getelementptr %Call, ptr %call, i64 0, i32 5
  %length = load i64, ptr %length.place
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %more = icmp slt i64 %k, %length
  br i1 %more, label %one, label %yes
yes:
  ret i1 true
no:
  ret i1 false
one:
  %operation = getelementptr %Operation, ptr %program, i64 %k
  %code = load i64, ptr %operation
  %target.place = getelementptr %Operation, ptr %operation, i64 0, i32 1
  %target = load i64, ptr %target.place
  %left.place = getelementptr %Operation, ptr %operation, i64 0, i32 2
  %left = load i64, ptr %left.place
  %right.place = getelementptr %Operation, ptr %operation, i64 0, i32 3
  %right = load i64, ptr %right.place
  %left.cell = getelementptr i64, ptr %cells, i64 %left
  %right.cell = getelementptr i64, ptr %cells, i64 %right
  switch i64 %code, label %no [ i64 0, label %constant
                                i64 1, label %slot
                                i64 2, label %add
                                i64 3, label %sub
                                i64 4, label %mul
                                i64 5, label %floordiv
                                i64 6, label %mod
                                i64 7, label %minimum
                                i64 8, label %maximum
                                i64 9, label %equal
                                i64 10, label %less
                                i64 11, label %less.equal
                                i64 12, label %and
                                i64 13, label %or
                                i64 14, label %not
                                i64 15, label %demand
                                i64 16, label %range ]
constant:
  br label %set
slot:
  %slot.value = load i64, ptr %left.cell
  %slot.place = getelementptr i64, ptr %block, i64 %target
  store i64 %slot.value, ptr %slot.place
  br label %next
add:
  %add.l = load i64, ptr %left.cell
  %add.r = load i64, ptr %right.cell
  %add.pair = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %add.l, i64 %add.r)
  br label %exact
sub:
  %sub.l = load i64, ptr %left.cell
  %sub.r = load i64, ptr %right.cell
  %sub.pair = call { i64, i1 } @llvm.ssub.with.overflow.i64(i64 %sub.l, i64 %sub.r)
  br label %exact
mul:
  %mul.l = load i64, ptr %left.cell
  %mul.r = load i64, ptr %right.cell
  %mul.pair = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %mul.l, i64 %mul.r)
  br label %exact
exact:
  %pair = phi { i64, i1 } [ %add.pair, %add ], [ %sub.pair, %sub ], [ %mul.pair, %mul ]
  %pair.value = extractvalue { i64, i1 } %pair, 0
  %pair.over = extractvalue { i64, i1 } %pair, 1
  br i1 %pair.over, label %no, label %set
; Division only by a positive number: anything else is rare enough for Python.
floordiv:
  %fd.l = load i64, ptr %left.cell
  %fd.r = load i64, ptr %right.cell
  %fd.ok = icmp sgt i64 %fd.r, 0
  br i1 %fd.ok, label %floordiv.go, label %no
floordiv.go:
  %fd.q = sdiv i64 %fd.l, %fd.r
  %fd.m = srem i64 %fd.l, %fd.r
  %fd.neg = icmp slt i64 %fd.m, 0
  %fd.one = sext i1 %fd.neg to i64
  %fd.value = add i64 %fd.q, %fd.one
  br label %set
mod:
  %mod.l = load i64, ptr %left.cell
  %mod.r = load i64, ptr %right.cell
  %mod.ok = icmp sgt i64 %mod.r, 0
  br i1 %mod.ok, label %mod.go, label %no
mod.go:
  %mod.m = srem i64 %mod.l, %mod.r
  %mod.neg = icmp slt i64 %mod.m, 0
  %mod.add = select i1 %mod.neg, i64 %mod.r, i64 0
  %mod.value = add i64 %mod.m, %mod.add
  br label %set
minimum:
  %min.l = load i64, ptr %left.cell
  %min.r = load i64, ptr %right.cell
  %min.value = call i64 @llvm.smin.i64(i64 %min.l, i64 %min.r)
  br label %set
maximum:
  %max.l = load i64, ptr %left.cell
  %max.r = load i64, ptr %right.cell
  %max.value = call i64 @llvm.smax.i64(i64 %max.l, i64 %max.r)
  br label %set
equal:
  %eq.l = load i64, ptr %left.cell
  %eq.r = load i64, ptr %right.cell
  %eq = icmp eq i64 %eq.l, %eq.r
  %eq.value = zext i1 %eq to i64
  br label %set
less:
  %lt.l = load i64, ptr %left.cell
  %lt.r = load i64, ptr %right.cell
  %lt = icmp slt i64 %lt.l, %lt.r
  %lt.value = zext i1 %lt to i64
  br label %set
less.equal:
  %le.l = load i64, ptr %left.cell
  %le.r = load i64, ptr %right.cell
  %le = icmp sle i64 %le.l, %le.r
  %le.value = zext i1 %le to i64
  br label %set
and:
  %and.l = load i64, ptr %left.cell
  %and.r = load i64, ptr %right.cell
  %and.value = and i64 %and.l, %and.r
  br label %set
or:
  %or.l = load i64, ptr %left.cell
  %or.r = load i64, ptr %right.cell
  %or.value = or i64 %or.l, %or.r
  br label %set
not:
  %not.l = load i64, ptr %left.cell
  %not.value = xor i64 %not.l, 1
  br label %set
demand:
  %demand.l = load i64, ptr %left.cell
  %demand.ok = icmp ne i64 %demand.l, 0
  br i1 %demand.ok, label %next, label %no
range:
  ; 0 <= left <= right, `right` a literal
  %range.l = load i64, ptr %left.cell
  %range.ok = icmp ule i64 %range.l, %right
  br i1 %range.ok, label %next, label %no
set:
  %value = phi i64 [ %left, %constant ], [ %pair.value, %exact ], [ %fd.value, %floordiv.go ],
                   [ %mod.value, %mod.go ], [ %min.value, %minimum ], [ %max.value, %maximum ],
                   [ %eq.value, %equal ], [ %lt.value, %less ], [ %le.value, %less.equal ],
                   [ %and.value, %and ], [ %or.value, %or ], [ %not.value, %not ]
  %target.cell = getelementptr i64, ptr %cells, i64 %target
  store i64 %value, ptr %target.cell
  br label %next
next:
  %k.next = add i64 %k, 1
  br label %each
}

; A launch that may trap: keep what the written arrays hold, and give every array with totals its counters. After a
; trap the arrays are put back and Python runs the launch again, to find out which trap it was. Gives -1 done, -2
; exception set, else: not done (also when it is much to keep).
define internal i64 @launch_guarded(ptr %call, ptr %block, i64 %units, ptr %arrays, i64 %count) noinline {
entry:
  %limit.place = getelementptr %Call, ptr %call, i64 0, i32 9
  %limit = load i64, ptr %limit.place
  %total = call i64 @copy_written(ptr %arrays, i64 %count, ptr null, i1 false)
  %first = call i64 @isogrid_checks_first(ptr %call, i64 %total)
  %is.first = icmp ne i64 %first, 0
  br i1 %is.first, label %halves, label %whole
halves:
  %h = call i64 @launch_halves(ptr %call, ptr %block, i64 %units)
  ret i64 %h
whole:
  %counters = call i64 @place_counters(ptr %arrays, i64 %count, ptr null, ptr null)
  %counters.bytes = shl i64 %counters, 3
  %bytes = add i64 %total, %counters.bytes
  %much = icmp ugt i64 %bytes, %limit
  br i1 %much, label %no, label %reserve
no:
  ret i64 0
reserve:
  %room = add i64 %total, 64
  %memory = call ptr @malloc(i64 %room)
  %up = getelementptr i8, ptr %memory, i64 63
  %saved = call ptr @llvm.ptrmask.p0.i64(ptr %up, i64 -64)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %no, label %reserve.counters
reserve.counters:
  %counters.some = add i64 %counters, 1
  %zeros = call ptr @calloc(i64 %counters.some, i64 8)
  %no.zeros = icmp eq ptr %zeros, null
  br i1 %no.zeros, label %no.room, label %save
no.room:
  call void @free(ptr %memory)
  ret i64 0
save:
  %s = call i64 @copy_written(ptr %arrays, i64 %count, ptr %saved, i1 false)
  %stopped = icmp slt i64 %s, 0
  br i1 %stopped, label %out, label %go
go:
  %p = call i64 @place_counters(ptr %arrays, i64 %count, ptr %block, ptr %zeros)
  %r = call i64 @isogrid_launch(ptr %call, ptr %block, i64 %units)
  %done = icmp eq i64 %r, -1
  br i1 %done, label %judge, label %perhaps
judge:
  %wrong = call i1 @any_counter(ptr %zeros, i64 %counters)
  br i1 %wrong, label %restore, label %out
perhaps:
  %trapped = icmp sge i64 %r, 0
  br i1 %trapped, label %restore, label %out
restore:
  %back = call i64 @copy_written(ptr %arrays, i64 %count, ptr %saved, i1 true)
  br label %out
out:
  %result = phi i64 [ -2, %save ], [ -1, %judge ], [ %r, %perhaps ], [ 0, %restore ]
  call void @free(ptr %zeros)
  call void @free(ptr %memory)
  ret i64 %result
}

; Check, then write: nothing is saved. Gives -1 when done, -2 with an exception set, 0 where the halves are still to be made
; or a thread trapped: nothing has happened then.
define internal i64 @launch_halves(ptr %context, ptr %block, i64 %units) {
entry:
  %halves.place = getelementptr %Context, ptr %context, i64 0, i32 7
  %halves = load ptr, ptr %halves.place
  %check = load atomic ptr, ptr %halves acquire, align 8
  %none = icmp eq ptr %check, null
  br i1 %none, label %no, label %look
look:
  %checked = call i64 @isogrid_launch(ptr %check, ptr %block, i64 %units)
  switch i64 %checked, label %no [ i64 -1, label %go
                                   i64 -2, label %stopped ]
go:
  %write.place = getelementptr %Halves, ptr %halves, i64 0, i32 1
  %write = load ptr, ptr %write.place
  %written = call i64 @isogrid_launch(ptr %write, ptr %block, i64 %units)
  ret i64 %written
stopped:
  ret i64 -2
no:
  ret i64 0
}

; Whether a launch that would save so many bytes checks first. Until the halves are made it counts them: they are due once
; making them costs no more than has been lost without them.
define i64 @isogrid_checks_first(ptr %context, i64 %bytes) {
entry:
  %halves.place = getelementptr %Context, ptr %context, i64 0, i32 7
  %halves = load ptr, ptr %halves.place
  %none = icmp eq ptr %halves, null
  br i1 %none, label %no, label %measure
measure:
  %from = load i64, ptr @stream.from
  %much = icmp sge i64 %bytes, %from
  br i1 %much, label %look, label %no
look:
  %check = load ptr, ptr %halves
  %made = icmp ne ptr %check, null
  br i1 %made, label %yes, label %sum
sum:
  %written.place = getelementptr %Halves, ptr %halves, i64 0, i32 2
  %written.old = load atomic i64, ptr %written.place monotonic, align 8
  %written = add i64 %written.old, %bytes
  %worth = load i64, ptr @stream.worth
  %due = icmp sge i64 %written, %worth
  br i1 %due, label %yes, label %count
count:
  store atomic i64 %written, ptr %written.place monotonic, align 8
  br label %no
yes:
  ret i64 1
no:
  ret i64 0
}

; Whether some total left its type.
define internal i1 @any_counter(ptr %counters, i64 %count) {
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %one ]
  %all = phi i64 [ 0, %entry ], [ %all.next, %one ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %done
one:
  %place = getelementptr i64, ptr %counters, i64 %k
  %counter = load i64, ptr %place
  %all.next = or i64 %all, %counter
  %k.next = add i64 %k, 1
  br label %each
done:
  %some = icmp ne i64 %all, 0
  ret i1 %some
}

; Put the address of each array's counters into its slot; without a block only count. Gives the number of counters.
define internal i64 @place_counters(ptr %arrays, i64 %count, ptr %block, ptr %counters) {
entry:
  %counts = icmp eq ptr %block, null
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %at = phi i64 [ 0, %entry ], [ %at.next, %next ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %done
done:
  ret i64 %at
one:
  %shadow.place = getelementptr %Array, ptr %arrays, i64 %k, i32 3
  %shadow = load i64, ptr %shadow.place
  %has = icmp ne i64 %shadow, 0
  br i1 %has, label %shadowed, label %next
shadowed:
  %elements.place = getelementptr %Array, ptr %arrays, i64 %k, i32 4
  %elements = load i64, ptr %elements.place
  %at.up = add i64 %at, %elements
  br i1 %counts, label %next, label %fill
fill:
  %mine = getelementptr i64, ptr %counters, i64 %at
  %slot = getelementptr ptr, ptr %block, i64 %shadow
  store ptr %mine, ptr %slot
  br label %next
next:
  %at.next = phi i64 [ %at, %one ], [ %at.up, %shadowed ], [ %at.up, %fill ]
  %k.next = add i64 %k, 1
  br label %each
}

; Copy the written arrays to `saved` or, with `back`, from it; null only counts. Each starts at a multiple of 64 bytes.
; Gives the bytes, or -2 with an exception set: the copying is as long as a launch and is stopped like one, but never on
; the way back.
define internal i64 @copy_written(ptr %arrays, i64 %count, ptr %saved, i1 %back) {
entry:
  %counts = icmp eq ptr %saved, null
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %at = phi i64 [ 0, %entry ], [ %at.next, %next ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %done
done:
  ret i64 %at
stopped:
  ret i64 -2
one:
  %array = getelementptr %Array, ptr %arrays, i64 %k
  %data = load ptr, ptr %array
  %bytes.place = getelementptr %Array, ptr %array, i64 0, i32 1
  %bytes = load i64, ptr %bytes.place
  %written.place = getelementptr %Array, ptr %array, i64 0, i32 2
  %written = load i64, ptr %written.place
  %is.written = icmp ne i64 %written, 0
  br i1 %is.written, label %written.one, label %next
written.one:
  %at.end = add i64 %at, %bytes
  %at.more = add i64 %at.end, 63
  %at.up = and i64 %at.more, -64
  br i1 %counts, label %next, label %copy
copy:
  %place = getelementptr i8, ptr %saved, i64 %at
  br i1 %back, label %copy.back, label %copy.out
copy.back:
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %place, i64 %bytes, i1 false)
  br label %next
copy.out:
  %r = call i64 @copy(ptr %place, ptr %data, i64 %bytes)
  %whole = icmp eq i64 %r, -1
  br i1 %whole, label %next, label %stopped
next:
  %at.next = phi i64 [ %at, %one ], [ %at.up, %written.one ], [ %at.up, %copy.back ], [ %at.up, %copy.out ]
  %k.next = add i64 %k, 1
  br label %each
}

; What a launch of the copying is: its own measured speed, pieces of 4 KiB, no traps.
@copying = internal global %Context { ptr @copy_pieces, ptr null, double 0.0, i64 1, i64 0, ptr null, ptr null, ptr null, double 0.0 }, align 64

; Copy on all processors where that pays: one of them alone copies slower than the launch computes. Each one then has a
; part of the array in its cache, mostly the part that it works on next. Gives -1, or -2 with an exception set.
define internal i64 @copy(ptr %to, ptr %from, i64 %bytes) {
entry:
  %block = alloca [5 x i64], align 16
  %long = icmp ugt i64 %bytes, 65536
  br i1 %long, label %all, label %own
own:
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret i64 -1
all:
  %to.slot = getelementptr i64, ptr %block, i64 2
  store ptr %to, ptr %to.slot
  %from.slot = getelementptr i64, ptr %block, i64 3
  store ptr %from, ptr %from.slot
  %bytes.slot = getelementptr i64, ptr %block, i64 4
  store i64 %bytes, ptr %bytes.slot
  %up = add i64 %bytes, 4095
  %pieces = lshr i64 %up, 12
  %r = call i64 @isogrid_launch(ptr @copying, ptr %block, i64 %pieces)
  ret i64 %r
}

define internal i64 @copy_pieces(ptr %block, i64 %lo, i64 %hi) {
entry:
  %to.slot = getelementptr i64, ptr %block, i64 2
  %to = load ptr, ptr %to.slot
  %from.slot = getelementptr i64, ptr %block, i64 3
  %from = load ptr, ptr %from.slot
  %bytes.slot = getelementptr i64, ptr %block, i64 4
  %bytes = load i64, ptr %bytes.slot
  %first = shl i64 %lo, 12
  %whole.end = shl i64 %hi, 12
  %end = call i64 @llvm.smin.i64(i64 %whole.end, i64 %bytes)
  ; Past the caches where they cannot hold the copy: nobody reads it unless the launch traps.
  %large = icmp uge i64 %bytes, 2097152
  %lines = and i64 %end, -64
  %lines.end = select i1 %large, i64 %lines, i64 %first
  br label %line
line:
  %at = phi i64 [ %first, %entry ], [ %at.next, %one ]
  %more = icmp slt i64 %at, %lines.end
  br i1 %more, label %one, label %rest
one:
  %source = getelementptr i8, ptr %from, i64 %at
  %target = getelementptr i8, ptr %to, i64 %at
  %value = load <8 x i64>, ptr %source, align 1
  store <8 x i64> %value, ptr %target, align 64, !nontemporal !0
  %at.next = add i64 %at, 64
  br label %line
rest:
  call void @llvm.x86.sse.sfence()
  %length = sub i64 %end, %at
  %source.rest = getelementptr i8, ptr %from, i64 %at
  %target.rest = getelementptr i8, ptr %to, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %target.rest, ptr %source.rest, i64 %length, i1 false)
  ret i64 0
}

!0 = !{ i32 1 }
