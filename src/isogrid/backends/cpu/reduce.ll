; The whole call of an offloaded function that is one reducing loop: check the arguments, launch the loop with one value
; per block of 256 iterations, fold them level by level, combine with the start values, make Python's numbers of them.
; Continues call.ll in the same module. The values of up to 256 blocks lie on this stack, those of more in memory that
; is given back when they are folded.

%Reduce = type { %Call, i64, ptr, i64, ptr, i64, i64, ptr }
; 1 parts, 2 part table, 3 cell of the number of blocks, 4 reduction table, 5 reductions, 6 what is returned (0 nothing,
; 1 one number, 2 a tuple, 3 what `finish` says), 7 for each number returned the reduction it is; their count is first
%Part = type { ptr, i64, i64, i64, i64, i64, i64, i64 }
; context of the kernel that folds, bytes of a value, slot of the values in the loop's block; in the fold's block the slots
; of the values, the next level, the two sizes and the extent
%Reduction = type { i64, i64, i64, i64, i64, i64 }
; operation (below), part, start, least and most total (most: the mask of a modular one), what Python gets (0 float,
; 1 signed, 2 unsigned, 3 bool)

declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare float @llvm.minimum.f32(float, float)
declare float @llvm.maximum.f32(float, float)

; METH_FASTCALL | METH_KEYWORDS. `self` is a tuple: the capsule, the Python callable that does everything, `finish` (or
; None) and the object by which `finish` asks for that callable.
define ptr @isogrid_reduce(ptr %self, ptr %arguments, i64 %given, ptr %names) {
entry:
  %block = alloca [192 x i64], align 16
  %cells = alloca [256 x i64], align 16
  %arrays = alloca [64 x %Array], align 16
  %partials = alloca [8 x [256 x i64]], align 64
  %folded = alloca [8 x i64], align 64
  %numbers = alloca [32 x ptr], align 16
  %memory.place = alloca ptr
  store ptr null, ptr %memory.place
  store ptr null, ptr %block
  %capsule = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %reduce = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %wanted.place = getelementptr %Call, ptr %reduce, i64 0, i32 1
  %wanted = load i64, ptr %wanted.place
  %all = icmp eq i64 %given, %wanted
  %positional = icmp eq ptr %names, null
  %usual = and i1 %all, %positional
  br i1 %usual, label %read, label %slow
read:
  %count = call i64 @read_arguments(ptr %reduce, ptr %arguments, ptr %block, ptr %cells, ptr %arrays)
  %readable = icmp sge i64 %count, 0
  br i1 %readable, label %apart, label %slow
apart:
  %separate = call i1 @all_apart(ptr %arrays, i64 %count)
  br i1 %separate, label %size, label %slow
size:
  %sound = call i1 @evaluate(ptr %reduce, ptr %block, ptr %cells)
  br i1 %sound, label %few, label %slow
few:
  %blocks.cell.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 3
  %blocks.cell = load i64, ptr %blocks.cell.place
  %blocks.place = getelementptr i64, ptr %cells, i64 %blocks.cell
  %blocks = load i64, ptr %blocks.place
  %some = icmp sgt i64 %blocks, 0
  %parts.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 1
  %parts = load i64, ptr %parts.place
  br i1 %some, label %count.blocks, label %slow
count.blocks:
  %is.few = icmp sle i64 %blocks, 256
  br i1 %is.few, label %point, label %many
; A loop of the small variant has fewer than 2^31 iterations.
many:
  %no.more = icmp sle i64 %blocks, 8388608
  br i1 %no.more, label %allocate, label %slow
; Room for the values and for every level above them, each of which begins at a multiple of 64 bytes.
allocate:
  %above = lshr i64 %blocks, 7
  %levels = add i64 %blocks, %above
  %slots = add i64 %levels, 64
  %rounded = and i64 %slots, -8
  %all.slots = mul i64 %rounded, %parts
  %room = shl i64 %all.slots, 3
  %memory = call ptr @malloc(i64 %room)
  store ptr %memory, ptr %memory.place
  %no.memory = icmp eq ptr %memory, null
  br i1 %no.memory, label %slow, label %point
point:
  %values.all = phi ptr [ %partials, %count.blocks ], [ %memory, %allocate ]
  %apart.by = phi i64 [ 256, %count.blocks ], [ %rounded, %allocate ]
  %table.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 2
  %table = load ptr, ptr %table.place
  br label %point.each
point.each:
  %k = phi i64 [ 0, %point ], [ %k.next, %point.one ]
  %point.more = icmp slt i64 %k, %parts
  br i1 %point.more, label %point.one, label %launch
point.one:
  %slot.place = getelementptr %Part, ptr %table, i64 %k, i32 2
  %slot.number = load i64, ptr %slot.place
  %slot = getelementptr i64, ptr %block, i64 %slot.number
  %own.at = mul i64 %k, %apart.by
  %own = getelementptr i64, ptr %values.all, i64 %own.at
  store ptr %own, ptr %slot
  %k.next = add i64 %k, 1
  br label %point.each
launch:
  %flags.place = getelementptr %Call, ptr %reduce, i64 0, i32 6
  %flags = load i64, ptr %flags.place
  %restores.bit = and i64 %flags, 1
  %restores = icmp ne i64 %restores.bit, 0
  br i1 %restores, label %guarded, label %bare
bare:
  %r = call i64 @isogrid_launch(ptr %reduce, ptr %block, i64 %blocks)
  %failed = icmp eq i64 %r, -2
  br i1 %failed, label %raise, label %fold
guarded:
  %g = call i64 @launch_guarded(ptr %reduce, ptr %block, i64 %blocks, ptr %arrays, i64 %count)
  switch i64 %g, label %slow [ i64 -1, label %fold
                               i64 -2, label %raise ]
fold:
  %f = phi i64 [ 0, %bare ], [ 0, %guarded ], [ %f.next, %fold.next ]
  %fold.more = icmp slt i64 %f, %parts
  br i1 %fold.more, label %fold.one, label %folded.all
fold.one:
  %part = getelementptr %Part, ptr %table, i64 %f
  %values.at = mul i64 %f, %apart.by
  %values = getelementptr i64, ptr %values.all, i64 %values.at
  %target = getelementptr i64, ptr %folded, i64 %f
  %q = call i64 @fold_part(ptr %part, ptr %values, i64 %blocks, ptr %target)
  %fold.failed = icmp eq i64 %q, -2
  br i1 %fold.failed, label %raise, label %fold.next
fold.next:
  %f.next = add i64 %f, 1
  br label %fold
raise:
  call void @give_back(ptr %memory.place)
  ret ptr null

folded.all:
  call void @give_back(ptr %memory.place)
  br label %combine
combine:
  %kind.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 6
  %kind = load i64, ptr %kind.place
  %reductions.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 5
  %reductions.all = load i64, ptr %reductions.place
  %rows.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 4
  %rows = load ptr, ptr %rows.place
  ; Totals are judged even where nobody wants them.
  br label %combine.each
combine.each:
  %n = phi i64 [ 0, %combine ], [ %n.next, %combine.next ]
  %combine.more = icmp slt i64 %n, %reductions.all
  br i1 %combine.more, label %combine.one, label %give
combine.one:
  %row = getelementptr %Reduction, ptr %rows, i64 %n
  %number = call ptr @reduction_number(ptr %row, ptr %table, ptr %folded)
  %number.place = getelementptr ptr, ptr %numbers, i64 %n
  store ptr %number, ptr %number.place
  %wrong = icmp eq ptr %number, null
  br i1 %wrong, label %drop.slow, label %combine.next
combine.next:
  %n.next = add i64 %n, 1
  br label %combine.each
; A total that leaves its type: the loop changed nothing, and Python words the error. No memory for a number: the loop
; may have changed arrays, so it does not run again.
drop.slow:
  call void @drop(ptr %numbers, i64 %n)
  %there = call ptr @PyErr_Occurred()
  %is.there = icmp ne ptr %there, null
  br i1 %is.there, label %raise, label %slow

give:
  switch i64 %kind, label %give.none [ i64 1, label %give.one
                                       i64 2, label %give.tuple
                                       i64 3, label %give.finish ]
give.none:
  call void @drop(ptr %numbers, i64 %reductions.all)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
give.one:
  %outputs.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 7
  %outputs = load ptr, ptr %outputs.place
  %only.place = getelementptr i64, ptr %outputs, i64 1
  %only = load i64, ptr %only.place
  %only.number.place = getelementptr ptr, ptr %numbers, i64 %only
  %only.number = load ptr, ptr %only.number.place
  call void @Py_IncRef(ptr %only.number)
  call void @drop(ptr %numbers, i64 %reductions.all)
  ret ptr %only.number
give.tuple:
  %t.outputs.place = getelementptr %Reduce, ptr %reduce, i64 0, i32 7
  %t.outputs = load ptr, ptr %t.outputs.place
  %size.of = load i64, ptr %t.outputs
  %tuple = call ptr @PyTuple_New(i64 %size.of)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %tuple.failed, label %tuple.each
tuple.failed:
  call void @drop(ptr %numbers, i64 %reductions.all)
  ret ptr null
tuple.each:
  %t = phi i64 [ 0, %give.tuple ], [ %t.next, %tuple.one ]
  %tuple.more = icmp slt i64 %t, %size.of
  br i1 %tuple.more, label %tuple.one, label %tuple.done
tuple.one:
  %t.next = add i64 %t, 1
  %which.place = getelementptr i64, ptr %t.outputs, i64 %t.next
  %which = load i64, ptr %which.place
  %item.place = getelementptr ptr, ptr %numbers, i64 %which
  %item = load ptr, ptr %item.place
  call void @Py_IncRef(ptr %item)
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %t, ptr %item)
  br label %tuple.each
tuple.done:
  call void @drop(ptr %numbers, i64 %reductions.all)
  ret ptr %tuple
give.finish:
  %finish = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  %again = call ptr @PyTuple_GetItem(ptr %self, i64 3)
  %given.tuple = call ptr @PyTuple_New(i64 %given)
  %no.given = icmp eq ptr %given.tuple, null
  br i1 %no.given, label %tuple.failed, label %given.each
given.each:
  %v = phi i64 [ 0, %give.finish ], [ %v.next, %given.one ]
  %given.more = icmp slt i64 %v, %given
  br i1 %given.more, label %given.one, label %given.done
given.one:
  %argument.place = getelementptr ptr, ptr %arguments, i64 %v
  %argument = load ptr, ptr %argument.place
  call void @Py_IncRef(ptr %argument)
  %set.given = call i32 @PyTuple_SetItem(ptr %given.tuple, i64 %v, ptr %argument)
  %v.next = add i64 %v, 1
  br label %given.each
given.done:
  %end.place = getelementptr ptr, ptr %numbers, i64 %reductions.all
  store ptr %given.tuple, ptr %end.place
  %with.given = add i64 %reductions.all, 1
  %said = call ptr @PyObject_Vectorcall(ptr %finish, ptr %numbers, i64 %with.given, ptr null)
  call void @drop(ptr %numbers, i64 %with.given)
  %is.again = icmp eq ptr %said, %again
  br i1 %is.again, label %drop.said, label %out
drop.said:
  call void @Py_DecRef(ptr %said)
  br label %slow
out:
  ret ptr %said
; Without this frame, which is large: what comes next may be a call like this one.
slow:
  call void @give_back(ptr %memory.place)
  %callable = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %slow.result = musttail call ptr @PyObject_Vectorcall(ptr %callable, ptr %arguments, i64 %given, ptr %names)
  ret ptr %slow.result
}

define internal void @give_back(ptr %place) {
entry:
  %memory = load ptr, ptr %place
  call void @free(ptr %memory)
  store ptr null, ptr %place
  ret void
}

define internal void @drop(ptr %numbers, i64 %count) {
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %one ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %done
one:
  %place = getelementptr ptr, ptr %numbers, i64 %k
  %object = load ptr, ptr %place
  call void @Py_DecRef(ptr %object)
  %k.next = add i64 %k, 1
  br label %each
done:
  ret void
}

; The values of all blocks as one: launches of the kernel that folds 256 of them, each level behind the one below, until
; one is left. Gives -1, or -2 with an exception set.
define internal i64 @fold_part(ptr %part, ptr %values, i64 %blocks, ptr %target) {
entry:
  %block = alloca [16 x i64], align 16
  store ptr null, ptr %block
  %context = load ptr, ptr %part
  %values.number.place = getelementptr %Part, ptr %part, i64 0, i32 3
  %values.number = load i64, ptr %values.number.place
  %values.slot = getelementptr i64, ptr %block, i64 %values.number
  %target.number.place = getelementptr %Part, ptr %part, i64 0, i32 4
  %target.number = load i64, ptr %target.number.place
  %target.slot = getelementptr i64, ptr %block, i64 %target.number
  %size.number.place = getelementptr %Part, ptr %part, i64 0, i32 5
  %size.number = load i64, ptr %size.number.place
  %size.slot = getelementptr i64, ptr %block, i64 %size.number
  %above.number.place = getelementptr %Part, ptr %part, i64 0, i32 6
  %above.number = load i64, ptr %above.number.place
  %above.slot = getelementptr i64, ptr %block, i64 %above.number
  %extent.number.place = getelementptr %Part, ptr %part, i64 0, i32 7
  %extent.number = load i64, ptr %extent.number.place
  %extent.slot = getelementptr i64, ptr %block, i64 %extent.number
  br label %level
level:
  %from = phi ptr [ %values, %entry ], [ %to, %fold ]
  %size = phi i64 [ %blocks, %entry ], [ %above, %fold ]
  %single = icmp eq i64 %size, 1
  br i1 %single, label %take, label %fold.up
take:
  %only = load i64, ptr %from
  store i64 %only, ptr %target
  ret i64 -1
fold.up:
  %size.up = add i64 %size, 255
  %above = lshr i64 %size.up, 8
  %last = icmp eq i64 %above, 1
  %behind.up = add i64 %size, 7
  %behind = and i64 %behind.up, -8
  %next = getelementptr i64, ptr %from, i64 %behind
  %to = select i1 %last, ptr %target, ptr %next
  store ptr %from, ptr %values.slot
  store ptr %to, ptr %target.slot
  store i64 %size, ptr %size.slot
  store i64 %above, ptr %above.slot
  store i64 %above, ptr %extent.slot
  %r = call i64 @isogrid_launch(ptr %context, ptr %block, i64 %above)
  %failed = icmp eq i64 %r, -2
  br i1 %failed, label %out, label %fold
fold:
  br i1 %last, label %out, label %level
out:
  ret i64 %r
}

; `start op folded` as a Python number; null, perhaps with an exception set, where there is none.
define internal ptr @reduction_number(ptr %row, ptr %table, ptr %folded) {
entry:
  %operation = load i64, ptr %row
  %part.place = getelementptr %Reduction, ptr %row, i64 0, i32 1
  %part.number = load i64, ptr %part.place
  %start.place = getelementptr %Reduction, ptr %row, i64 0, i32 2
  %start = load i64, ptr %start.place
  %least.place = getelementptr %Reduction, ptr %row, i64 0, i32 3
  %least = load i64, ptr %least.place
  %most.place = getelementptr %Reduction, ptr %row, i64 0, i32 4
  %most = load i64, ptr %most.place
  %form.place = getelementptr %Reduction, ptr %row, i64 0, i32 5
  %form = load i64, ptr %form.place
  %value.place = getelementptr i64, ptr %folded, i64 %part.number
  %bytes.place = getelementptr %Part, ptr %table, i64 %part.number, i32 1
  %bytes = load i64, ptr %bytes.place
  %start.f32 = load float, ptr %start.place
  %start.f64 = load double, ptr %start.place
  %is.float = icmp eq i64 %form, 0
  br i1 %is.float, label %floats, label %integers

floats:
  %narrow = icmp eq i64 %bytes, 4
  br i1 %narrow, label %single, label %twice
single:
  %s = load float, ptr %value.place
  switch i64 %operation, label %nothing [ i64 0, label %s.add
                                          i64 1, label %s.mul
                                          i64 2, label %s.min
                                          i64 3, label %s.max ]
s.add:
  %s.sum = fadd float %start.f32, %s
  br label %s.done
s.mul:
  %s.product = fmul float %start.f32, %s
  br label %s.done
s.min:
  %s.least = call float @llvm.minimum.f32(float %start.f32, float %s)
  br label %s.done
s.max:
  %s.most = call float @llvm.maximum.f32(float %start.f32, float %s)
  br label %s.done
s.done:
  %s.value = phi float [ %s.sum, %s.add ], [ %s.product, %s.mul ], [ %s.least, %s.min ], [ %s.most, %s.max ]
  %s.wide = fpext float %s.value to double
  %s.object = call ptr @PyFloat_FromDouble(double %s.wide)
  ret ptr %s.object
twice:
  %d = load double, ptr %value.place
  switch i64 %operation, label %nothing [ i64 0, label %d.add
                                          i64 1, label %d.mul
                                          i64 2, label %d.min
                                          i64 3, label %d.max ]
d.add:
  %d.sum = fadd double %start.f64, %d
  br label %d.done
d.mul:
  %d.product = fmul double %start.f64, %d
  br label %d.done
d.min:
  %d.least = call double @llvm.minimum.f64(double %start.f64, double %d)
  br label %d.done
d.max:
  %d.most = call double @llvm.maximum.f64(double %start.f64, double %d)
  br label %d.done
d.done:
  %d.value = phi double [ %d.sum, %d.add ], [ %d.product, %d.mul ], [ %d.least, %d.min ], [ %d.most, %d.max ]
  %d.object = call ptr @PyFloat_FromDouble(double %d.value)
  ret ptr %d.object
nothing:
  ret ptr null

integers:
  switch i64 %bytes, label %nothing [ i64 1, label %byte
                                      i64 4, label %word
                                      i64 8, label %long ]
byte:
  %b = load i8, ptr %value.place
  %b.wide = zext i8 %b to i64
  br label %loaded
word:
  %w = load i32, ptr %value.place
  %w.signed = sext i32 %w to i64
  %w.unsigned = zext i32 %w to i64
  %is.signed = icmp eq i64 %form, 1
  %w.wide = select i1 %is.signed, i64 %w.signed, i64 %w.unsigned
  br label %loaded
long:
  %l = load i64, ptr %value.place
  br label %loaded
loaded:
  %value = phi i64 [ %b.wide, %byte ], [ %w.wide, %word ], [ %l, %long ]
  switch i64 %operation, label %nothing [ i64 2, label %signed.min
                                          i64 3, label %signed.max
                                          i64 4, label %unsigned.min
                                          i64 5, label %unsigned.max
                                          i64 6, label %bits.and
                                          i64 7, label %bits.or
                                          i64 8, label %bits.xor
                                          i64 9, label %modular.add
                                          i64 10, label %modular.mul
                                          i64 11, label %total
                                         i64 12, label %halves ]
signed.min:
  %v.smin = call i64 @llvm.smin.i64(i64 %start, i64 %value)
  br label %made
signed.max:
  %v.smax = call i64 @llvm.smax.i64(i64 %start, i64 %value)
  br label %made
unsigned.min:
  %below = icmp ult i64 %start, %value
  %v.umin = select i1 %below, i64 %start, i64 %value
  br label %made
unsigned.max:
  %above = icmp ugt i64 %start, %value
  %v.umax = select i1 %above, i64 %start, i64 %value
  br label %made
bits.and:
  %v.and = and i64 %start, %value
  br label %made
bits.or:
  %v.or = or i64 %start, %value
  br label %made
bits.xor:
  %v.xor = xor i64 %start, %value
  br label %made
modular.add:
  %v.add = add i64 %start, %value
  %v.add.in = and i64 %v.add, %most
  br label %made
modular.mul:
  %v.mul = mul i64 %start, %value
  %v.mul.in = and i64 %v.mul, %most
  br label %made
total:
  %pair = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %start, i64 %value)
  %v.total = extractvalue { i64, i1 } %pair, 0
  %over = extractvalue { i64, i1 } %pair, 1
  %low = icmp slt i64 %v.total, %least
  %high = icmp sgt i64 %v.total, %most
  %outside.1 = or i1 %low, %high
  %outside = or i1 %outside.1, %over
  br i1 %outside, label %nothing, label %made
; The sum of the low words here, that of the high words in the next part.
halves:
  %next.place = getelementptr i64, ptr %value.place, i64 1
  %upper = load i64, ptr %next.place
  %value.128 = sext i64 %value to i128
  %upper.128 = sext i64 %upper to i128
  %upper.up = shl i128 %upper.128, 32
  %sum.128 = add i128 %value.128, %upper.up
  %with.sign = icmp eq i64 %form, 1
  %start.s = sext i64 %start to i128
  %start.u = zext i64 %start to i128
  %start.128 = select i1 %with.sign, i128 %start.s, i128 %start.u
  %all.128 = add i128 %sum.128, %start.128
  %least.128 = sext i64 %least to i128
  %most.s = sext i64 %most to i128
  %most.u = zext i64 %most to i128
  %most.128 = select i1 %with.sign, i128 %most.s, i128 %most.u
  %low.128 = icmp slt i128 %all.128, %least.128
  %high.128 = icmp sgt i128 %all.128, %most.128
  %outside.128 = or i1 %low.128, %high.128
  %v.halves = trunc i128 %all.128 to i64
  br i1 %outside.128, label %nothing, label %made
made:
  %v = phi i64 [ %v.smin, %signed.min ], [ %v.smax, %signed.max ], [ %v.umin, %unsigned.min ],
               [ %v.umax, %unsigned.max ], [ %v.and, %bits.and ], [ %v.or, %bits.or ], [ %v.xor, %bits.xor ],
               [ %v.add.in, %modular.add ], [ %v.mul.in, %modular.mul ], [ %v.total, %total ],
               [ %v.halves, %halves ]
  switch i64 %form, label %signed [ i64 2, label %unsigned
                                    i64 3, label %bool ]
signed:
  %i.object = call ptr @PyLong_FromLongLong(i64 %v)
  ret ptr %i.object
unsigned:
  %u.object = call ptr @PyLong_FromUnsignedLongLong(i64 %v)
  ret ptr %u.object
bool:
  %is.true = icmp ne i64 %v, 0
  %b.object = select i1 %is.true, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %b.object)
  ret ptr %b.object
}
