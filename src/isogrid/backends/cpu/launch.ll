; One launch: measure, decide, run, watch for Ctrl-C. Continues pool.ll in the same module.

%Probe = type { i64, double, double, i64 }
; units done, ticks per unit of the last piece (0: none yet), ticks spent, result of the last piece

; Python's SIGINT handler in C, to which ours passes on, and what `signal.getsignal` must return for ours to be used.
@previous_handler = internal global ptr null
@getsignal = internal global ptr null
@default_handler = internal global ptr null
; Until this tick our handler is taken to be in place: asking the system takes longer than many a launch.
@caught_until = internal global i64 0

; Run `context`'s kernel over [0, n) with the argument block `args` (slot 1, the interrupt flag, is filled in here).
; The caller holds the GIL. Gives -1 when done, -2 with a Python exception set, else the start of the lowest chunk in
; which a thread trapped.
define i64 @isogrid_launch(ptr %context, ptr %args, i64 %n) {
entry:
  %csr = alloca i32
  %csr.old = alloca i32
  %flag = alloca i32
  %probe = alloca %Probe
  call void @llvm.x86.sse.stmxcsr(ptr %csr.old)
  %csr.value = load i32, ptr %csr.old
  %csr.modes = and i32 %csr.value, -64
  %usual = icmp eq i32 %csr.modes, 8064
  br i1 %usual, label %begin, label %set.csr
set.csr:
  store i32 8064, ptr %csr
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)
  br label %begin
begin:
  store i32 0, ptr %flag
  %flag.slot = getelementptr ptr, ptr %args, i64 1
  store ptr %flag, ptr %flag.slot
  %plain.place = getelementptr %Context, ptr %context, i64 0, i32 5
  %plain = load ptr, ptr %plain.place
  %updates = icmp ne ptr %plain, null
  %others = load i64, ptr @released
  %beside = icmp ne i64 %others, 0
  %announced = and i1 %updates, %beside
  br i1 %announced, label %announce, label %choose
announce:
  call void @announce_updates()
  br label %choose
choose:
  %polls.place = getelementptr %Context, ptr %context, i64 0, i32 4
  %polls = load i64, ptr %polls.place
  %polled = icmp ne i64 %polls, 0
  br i1 %polled, label %careful, label %try
careful:
  %result.polled = call i64 @launch_polled(ptr %context, ptr %args, i64 %n, ptr %flag)
  br label %restore
try:
  %done = call i64 @probe(ptr %context, ptr %args, i64 %n, ptr %probe)
  %r.place = getelementptr %Probe, ptr %probe, i64 0, i32 3
  %r = load i64, ptr %r.place
  %trapped = icmp ne i64 %r, 0
  br i1 %trapped, label %restore, label %more
more:
  %all = icmp sge i64 %done, %n
  br i1 %all, label %small, label %big
small:
  call void @learn_small(ptr %context, i64 %n, ptr %probe)
  br label %restore
big:
  %result.big = call i64 @launch_rest(ptr %context, ptr %args, i64 %done, i64 %n, ptr %probe, ptr %flag)
  br label %restore
restore:
  %result = phi i64 [ %result.polled, %careful ], [ %done, %try ], [ -1, %small ], [ %result.big, %big ]
  br i1 %announced, label %withdraw, label %withdrawn
withdraw:
  %before = atomicrmw sub ptr @updaters, i32 1 seq_cst
  br label %withdrawn
withdrawn:
  br i1 %usual, label %out, label %reset.csr
reset.csr:
  call void @llvm.x86.sse.ldmxcsr(ptr %csr.old)
  br label %out
out:
  ret i64 %result
}

; Other launches have released the GIL: let none of them update elements by plain instructions from now on, and wait for the
; chunk in which one may be doing so.
define internal void @announce_updates() noinline {
entry:
  %before = atomicrmw add ptr @updaters, i32 1 seq_cst
  br label %look
look:
  %busy = load atomic i32, ptr @updating seq_cst, align 4
  %free = icmp eq i32 %busy, 0
  br i1 %free, label %out, label %wait
wait:
  call void @llvm.x86.sse2.pause()
  br label %look
out:
  ret void
}

; Nobody knows beforehand what a unit costs. So a launch begins on its own thread with pieces of about 2.5 us by the last
; measurement (growing from one where there is none), and stops when what is left is worth the pool: 10 us of work when
; workers are awake, 40 us when they must be woken. Gives the number of units done, or the start of the piece that
; trapped or was stopped.
define internal i64 @probe(ptr %context, ptr %args, i64 %n, ptr %probe) alwaysinline {
entry:
  %function.shared = load ptr, ptr %context
  %alone.place = getelementptr %Context, ptr %context, i64 0, i32 5
  %function.alone = load ptr, ptr %alone.place
  %has.alone = icmp ne ptr %function.alone, null
  %others = load i64, ptr @released
  %no.others = icmp eq i64 %others, 0
  %is.alone = and i1 %has.alone, %no.others
  %function = select i1 %is.alone, ptr %function.alone, ptr %function.shared
  %rate.place = getelementptr %Context, ptr %context, i64 0, i32 2
  %rate.old = load atomic double, ptr %rate.place monotonic, align 8
  %align.place = getelementptr %Context, ptr %context, i64 0, i32 3
  %align = load i64, ptr %align.place
  %per.us = load double, ptr @ticks_per_us
  %fresh = fcmp oeq double %rate.old, 0.0
  %known = xor i1 %fresh, true
  %sleeping = load atomic i32, ptr @sleepers monotonic, align 4
  %started = load atomic i64, ptr @workers monotonic, align 8
  %sleeping64 = zext i32 %sleeping to i64
  %awake = icmp sgt i64 %started, %sleeping64
  %worth.us = select i1 %awake, double 10.0, double 40.0
  %worth = fmul double %worth.us, %per.us
  %piece.ticks = fmul double %per.us, 2.5
  %enough.ticks = fmul double %per.us, 5.0
  %start = call i64 @llvm.readcyclecounter()
  br label %piece
piece:
  %lo = phi i64 [ 0, %entry ], [ %hi, %next ]
  %rate = phi double [ %rate.old, %entry ], [ %rate.now, %next ]
  %spent = phi double [ 0.0, %entry ], [ %spent.now, %next ]
  %size.last = phi i64 [ 0, %entry ], [ %size, %next ]
  %before = phi i64 [ %start, %entry ], [ %after, %next ]
  %left = sub i64 %n, %lo
  %left.float = sitofp i64 %left to double
  %estimate = fmul double %left.float, %rate
  %much = fcmp ogt double %estimate, %worth
  %warm = fcmp ogt double %spent, %enough.ticks
  %trust = or i1 %warm, %known
  %hand.over = and i1 %much, %trust
  %none = icmp sle i64 %left, 0
  %finished = or i1 %hand.over, %none
  br i1 %finished, label %done, label %sized
sized:
  %by.rate = fdiv double %piece.ticks, %rate
  %capped = call double @llvm.minimum.f64(double %by.rate, double 1.0e15)
  %counted = fptosi double %capped to i64
  %growing = shl i64 %size.last, 2
  %chosen = select i1 %fresh, i64 %growing, i64 %counted
  %aligned = call i64 @round_up(i64 %chosen, i64 %align)
  %positive = call i64 @llvm.smax.i64(i64 %aligned, i64 %align)
  %size = call i64 @llvm.smin.i64(i64 %positive, i64 %left)
  %hi = add i64 %lo, %size
  %r = call i64 %function(ptr %args, i64 %lo, i64 %hi)
  %after = call i64 @llvm.readcyclecounter()
  %took = sub i64 %after, %before
  %took.float = sitofp i64 %took to double
  %took.some = call double @llvm.maximum.f64(double %took.float, double 1.0)
  %size.float = sitofp i64 %size to double
  %rate.now = fdiv double %took.some, %size.float
  %spent.now = fadd double %spent, %took.some
  %odd = icmp ne i64 %r, 0
  br i1 %odd, label %done, label %next
next:
  br label %piece
done:
  %r.done = phi i64 [ 0, %piece ], [ %r, %sized ]
  store i64 %lo, ptr %probe
  %p1 = getelementptr %Probe, ptr %probe, i64 0, i32 1
  store double %rate, ptr %p1
  %p2 = getelementptr %Probe, ptr %probe, i64 0, i32 2
  store double %spent, ptr %p2
  %p3 = getelementptr %Probe, ptr %probe, i64 0, i32 3
  store i64 %r.done, ptr %p3
  ret i64 %lo
}

; A loaded machine makes measurements longer, never shorter: believe a faster one at once, a slower one by a quarter.
define internal void @learn_small(ptr %context, i64 %n, ptr %probe) alwaysinline {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %learn, label %out
learn:
  %rate.place = getelementptr %Context, ptr %context, i64 0, i32 2
  %old = load atomic double, ptr %rate.place monotonic, align 8
  %spent.place = getelementptr %Probe, ptr %probe, i64 0, i32 2
  %spent = load double, ptr %spent.place
  %n.float = sitofp i64 %n to double
  %new = fdiv double %spent, %n.float
  %gap = fsub double %new, %old
  %slower = fcmp ogt double %gap, 0.0
  %fresh = fcmp oeq double %old, 0.0
  %quarter = fmul double %gap, 0.25
  %eased = fadd double %old, %quarter
  %smooth = select i1 %slower, double %eased, double %new
  %kept = select i1 %fresh, double %new, double %smooth
  store atomic double %kept, ptr %rate.place monotonic, align 8
  br label %out
out:
  ret void
}

; The rest of a launch that is worth chunks.
define internal i64 @launch_rest(ptr %context, ptr %args, i64 %first, i64 %end, ptr %probe, ptr %own.flag) noinline {
entry:
  %poll = alloca %Poll
  %rate.place = getelementptr %Probe, ptr %probe, i64 0, i32 1
  %rate = load double, ptr %rate.place
  %units = sub i64 %end, %first
  %units.float = sitofp i64 %units to double
  %ticks = fmul double %units.float, %rate
  %plain.place = getelementptr %Context, ptr %context, i64 0, i32 5
  %plain = load ptr, ptr %plain.place
  %updates = icmp ne ptr %plain, null
  %others = load i64, ptr @released
  %alone = icmp eq i64 %others, 0
  %chooses = and i1 %updates, %alone
  %flag = call ptr @open_launch(ptr %args, ptr %own.flag, ptr %poll, double %ticks, i64 0)
  br i1 %chooses, label %either, label %usual
either:
  %low.either = call i64 @run_updates(ptr %context, ptr %args, i64 %first, i64 %end, double %rate, ptr %flag, ptr %poll)
  br label %close
usual:
  %low.usual = call i64 @run_rest(ptr %context, ptr %args, i64 %first, i64 %end, double %rate, ptr %flag, ptr %poll)
  br label %close
close:
  %low = phi i64 [ %low.either, %either ], [ %low.usual, %usual ]
  %result = call i64 @close_launch(ptr %flag, ptr %poll, i64 %low)
  ret i64 %result
}

; The rest of a launch that updates elements: on all processors by locked instructions, or here by plain ones, whatever
; took less time. What it takes all of them is measured on some 0.4 ms of the first launch, and forgotten slowly, so that
; it is measured again.
define internal i64 @run_updates(ptr %context, ptr %args, i64 %first, i64 %end, double %rate, ptr %flag, ptr %poll) noinline {
entry:
  %sizes = alloca %Sizes
  %function = load ptr, ptr %context
  %plain.place = getelementptr %Context, ptr %context, i64 0, i32 5
  %plain = load ptr, ptr %plain.place
  %align.place = getelementptr %Context, ptr %context, i64 0, i32 3
  %align = load i64, ptr %align.place
  %rate.place = getelementptr %Context, ptr %context, i64 0, i32 2
  store atomic double %rate, ptr %rate.place monotonic, align 8
  %shared.place = getelementptr %Context, ptr %context, i64 0, i32 8
  %shared.old = load atomic double, ptr %shared.place monotonic, align 8
  %unknown = fcmp oeq double %shared.old, 0.0
  %quick = fcmp olt double %shared.old, %rate
  %together.too = or i1 %unknown, %quick
  br i1 %together.too, label %ask, label %here
ask:
  %owner = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %owner, 1
  br i1 %free, label %together, label %here
together:
  %per.us = load double, ptr @ticks_per_us
  %some.ticks = fmul double %per.us, 400.0
  %some.rate = call double @llvm.maximum.f64(double %rate, double 1.0e-6)
  %some.float = fdiv double %some.ticks, %some.rate
  %some.capped = call double @llvm.minimum.f64(double %some.float, double 1.0e15)
  %some.units = fptosi double %some.capped to i64
  %some.up = call i64 @round_up(i64 %some.units, i64 %align)
  %all = sub i64 %end, %first
  %part = call i64 @llvm.smin.i64(i64 %some.up, i64 %all)
  %units = select i1 %unknown, i64 %part, i64 %all
  %middle = add i64 %first, %units
  call void @chunk_sizes(ptr %sizes, i64 %units, double %rate, i64 %align)
  %start = call i64 @llvm.readcyclecounter()
  %low.all = call i64 @parallel(ptr %function, ptr %args, i64 %first, i64 %middle, ptr %sizes, ptr %flag, ptr %poll)
  %stop = call i64 @llvm.readcyclecounter()
  store atomic i32 0, ptr @busy release, align 4
  %took = sub i64 %stop, %start
  %took.float = sitofp i64 %took to double
  %units.float = sitofp i64 %units to double
  %shared.new = fdiv double %took.float, %units.float
  store atomic double %shared.new, ptr %shared.place monotonic, align 8
  %fine = icmp eq i64 %low.all, -1
  %more = icmp slt i64 %middle, %end
  %again = and i1 %fine, %more
  br i1 %again, label %rest, label %out
rest:
  %low.rest = call i64 @run_updates(ptr %context, ptr %args, i64 %middle, i64 %end, double %rate, ptr %flag, ptr %poll)
  br label %out
here:
  %left = sub i64 %end, %first
  call void @chunk_sizes(ptr %sizes, i64 %left, double %rate, i64 %align)
  %fading = fmul double %shared.old, 0.99
  store atomic double %fading, ptr %shared.place monotonic, align 8
  %low.here = call i64 @serial(ptr %function, ptr %plain, ptr %args, i64 %first, i64 %end, ptr %sizes, ptr %flag, ptr %poll)
  br label %out
out:
  %low = phi i64 [ %low.all, %together ], [ %low.rest, %rest ], [ %low.here, %here ]
  ret i64 %low
}

; A kernel that looks at the interrupt flag itself may run for ever in its first unit: be ready for Ctrl-C before it.
define internal i64 @launch_polled(ptr %context, ptr %args, i64 %n, ptr %own.flag) noinline {
entry:
  %poll = alloca %Poll
  %probe = alloca %Probe
  %rate.place = getelementptr %Context, ptr %context, i64 0, i32 2
  %rate.old = load atomic double, ptr %rate.place monotonic, align 8
  %fresh = fcmp oeq double %rate.old, 0.0
  %n.float = sitofp i64 %n to double
  %ticks = fmul double %n.float, %rate.old
  %guess = select i1 %fresh, double 1.0e18, double %ticks
  %flag = call ptr @open_launch(ptr %args, ptr %own.flag, ptr %poll, double %guess, i64 1)
  %done = call i64 @probe(ptr %context, ptr %args, i64 %n, ptr %probe)
  %r.place = getelementptr %Probe, ptr %probe, i64 0, i32 3
  %r = load i64, ptr %r.place
  %fine = icmp eq i64 %r, 0
  br i1 %fine, label %more, label %close
more:
  %all = icmp sge i64 %done, %n
  br i1 %all, label %small, label %big
small:
  call void @learn_small(ptr %context, i64 %n, ptr %probe)
  br label %close
big:
  %rate.new.place = getelementptr %Probe, ptr %probe, i64 0, i32 1
  %rate = load double, ptr %rate.new.place
  %low.big = call i64 @run_rest(ptr %context, ptr %args, i64 %done, i64 %n, double %rate, ptr %flag, ptr %poll)
  br label %close
close:
  %low = phi i64 [ %done, %entry ], [ -1, %small ], [ %low.big, %big ]
  %result = call i64 @close_launch(ptr %flag, ptr %poll, i64 %low)
  ret i64 %result
}

; Chunks on all processors, or in order on this one where another thread's launch has the workers.
define internal i64 @run_rest(ptr %context, ptr %args, i64 %first, i64 %end, double %rate, ptr %flag, ptr %poll) {
entry:
  %sizes = alloca %Sizes
  %function = call ptr @form_for(ptr %context, ptr %args, i64 %end)
  %align.place = getelementptr %Context, ptr %context, i64 0, i32 3
  %align = load i64, ptr %align.place
  %units = sub i64 %end, %first
  call void @chunk_sizes(ptr %sizes, i64 %units, double %rate, i64 %align)
  %owner = cmpxchg ptr @busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue { i32, i1 } %owner, 1
  br i1 %free, label %together, label %alone
together:
  %low.all = call i64 @parallel(ptr %function, ptr %args, i64 %first, i64 %end, ptr %sizes, ptr %flag, ptr %poll)
  store atomic i32 0, ptr @busy release, align 4
  br label %done
alone:
  %low.own = call i64 @serial(ptr %function, ptr null, ptr %args, i64 %first, i64 %end, ptr %sizes, ptr %flag, ptr %poll)
  br label %done
done:
  %low = phi i64 [ %low.all, %together ], [ %low.own, %alone ]
  %units.place = getelementptr %Poll, ptr %poll, i64 0, i32 3
  %measured.units = load i64, ptr %units.place
  %measured = icmp sgt i64 %measured.units, 0
  br i1 %measured, label %learn, label %out
learn:
  %ticks.place = getelementptr %Poll, ptr %poll, i64 0, i32 2
  %measured.ticks = load i64, ptr %ticks.place
  %t = sitofp i64 %measured.ticks to double
  %u = sitofp i64 %measured.units to double
  %rate.new = fdiv double %t, %u
  %rate.some = call double @llvm.maximum.f64(double %rate.new, double 1.0e-6)
  %rate.place = getelementptr %Context, ptr %context, i64 0, i32 2
  store atomic double %rate.some, ptr %rate.place monotonic, align 8
  br label %out
out:
  ret i64 %low
}

; What runs the rest of a launch of `units`: the form that writes past the cache, where there is one and that pays.
define internal ptr @form_for(ptr %context, ptr %args, i64 %units) {
entry:
  %usual = load ptr, ptr %context
  %stream.place = getelementptr %Context, ptr %context, i64 0, i32 6
  %stream = load ptr, ptr %stream.place
  %none = icmp eq ptr %stream, null
  br i1 %none, label %out, label %measure
measure:
  %bytes = call i64 @bytes_past_cache(ptr %stream, ptr %args, i64 %units)
  %pays = icmp sgt i64 %bytes, 0
  br i1 %pays, label %look, label %out
look:
  %streamed = load ptr, ptr %stream
  %made = icmp ne ptr %streamed, null
  br i1 %made, label %past, label %count
past:
  ret ptr %streamed
count:
  %written.place = getelementptr %Stream, ptr %stream, i64 0, i32 3
  %written.old = load atomic i64, ptr %written.place monotonic, align 8
  %written = add i64 %written.old, %bytes
  store atomic i64 %written, ptr %written.place monotonic, align 8
  br label %out
out:
  ret ptr %usual
}

; Whether it is time to make the form that writes past the cache, before a launch of `units`.
define i64 @isogrid_stream_due(ptr %context, ptr %args, i64 %units) {
entry:
  %stream.place = getelementptr %Context, ptr %context, i64 0, i32 6
  %stream = load ptr, ptr %stream.place
  %none = icmp eq ptr %stream, null
  br i1 %none, label %no, label %look
look:
  %streamed = load ptr, ptr %stream
  %made = icmp ne ptr %streamed, null
  br i1 %made, label %no, label %measure
measure:
  %bytes = call i64 @bytes_past_cache(ptr %stream, ptr %args, i64 %units)
  %written.place = getelementptr %Stream, ptr %stream, i64 0, i32 3
  %written = load atomic i64, ptr %written.place monotonic, align 8
  %all = add i64 %written, %bytes
  %pays = icmp sgt i64 %bytes, 0
  %worth = load i64, ptr @stream.worth
  %enough = icmp sge i64 %all, %worth
  %both = and i1 %pays, %enough
  %due = zext i1 %both to i64
  ret i64 %due
no:
  ret i64 0
}

; What a launch of `units` writes past the cache, 0 where that does not pay: where it writes little, where rows are short,
; since lines that two rows share are written through the cache, and where its arrays have no memory yet, since the system
; clears new memory in the cache.
define internal i64 @bytes_past_cache(ptr %stream, ptr %args, i64 %units) {
entry:
  %each.place = getelementptr %Stream, ptr %stream, i64 0, i32 1
  %each = load i64, ptr %each.place
  %slot.place = getelementptr %Stream, ptr %stream, i64 0, i32 2
  %slot = load i64, ptr %slot.place
  %linear = icmp slt i64 %slot, 0
  br i1 %linear, label %much, label %rows
rows:
  %extent.place = getelementptr i64, ptr %args, i64 %slot
  %extent = load i64, ptr %extent.place
  %row = mul i64 %each, %extent
  %long = icmp sge i64 %row, 4096
  br i1 %long, label %much, label %no
much:
  %unit = phi i64 [ %each, %entry ], [ %row, %rows ]
  %bytes = mul i64 %unit, %units
  %from = load i64, ptr @stream.from
  %enough = icmp sge i64 %bytes, %from
  br i1 %enough, label %memory, label %no
memory:
  %count.place = getelementptr %Stream, ptr %stream, i64 0, i32 4
  %count = load i64, ptr %count.place
  %slots.place = getelementptr %Stream, ptr %stream, i64 0, i32 5
  %slots = load ptr, ptr %slots.place
  %span = sdiv i64 %bytes, %count
  br label %array
array:
  %k = phi i64 [ 0, %memory ], [ %k.next, %array.next ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %yes
look:
  %which.place = getelementptr i64, ptr %slots, i64 %k
  %which = load i64, ptr %which.place
  %address.place = getelementptr i64, ptr %args, i64 %which
  %address = load i64, ptr %address.place
  %there = call i1 @has_memory(i64 %address, i64 %span)
  br i1 %there, label %array.next, label %no
array.next:
  %k.next = add i64 %k, 1
  br label %array
yes:
  ret i64 %bytes
no:
  ret i64 0
}

; Whether three pages of so many bytes are in memory, which stand for all. Asking touches none of them.
define internal i1 @has_memory(i64 %address, i64 %bytes) {
entry:
  %answer = alloca i8
  %quarter = ashr i64 %bytes, 2
  br label %sample
sample:
  %k = phi i64 [ 1, %entry ], [ %k.next, %next ]
  %offset = mul i64 %quarter, %k
  %place = add i64 %address, %offset
  %page = and i64 %place, -4096
  store i8 0, ptr %answer
  %rc = call i64 (i64, ...) @syscall(i64 27, i64 %page, i64 1, ptr %answer)
  %bits = load i8, ptr %answer
  %bit = and i8 %bits, 1
  %there = icmp ne i8 %bit, 0
  br i1 %there, label %next, label %out
next:
  %k.next = add i64 %k, 1
  %more = icmp sle i64 %k.next, 3
  br i1 %more, label %sample, label %out
out:
  %result = phi i1 [ false, %sample ], [ true, %next ]
  ret i1 %result
}

; First chunks of about 10 us by the last measurement; at the most, about eight for each participant.
define internal void @chunk_sizes(ptr %sizes, i64 %units, double %rate, i64 %align) {
  %per.us = load double, ptr @ticks_per_us
  %wanted = load i64, ptr @wanted
  %participants = add i64 %wanted, 1
  %pieces = shl i64 %participants, 3
  %even = sdiv i64 %units, %pieces
  %some.rate = call double @llvm.maximum.f64(double %rate, double 1.0e-6)
  %ticks = fmul double %per.us, 10.0
  %by.rate = fdiv double %ticks, %some.rate
  %capped = call double @llvm.minimum.f64(double %by.rate, double 1.0e15)
  %counted = fptosi double %capped to i64
  %first.some = call i64 @llvm.smax.i64(i64 %counted, i64 1)
  %first = call i64 @round_up(i64 %first.some, i64 %align)
  %even.some = call i64 @llvm.smax.i64(i64 %even, i64 1)
  %even.up = call i64 @round_up(i64 %even.some, i64 %align)
  %most = call i64 @llvm.smax.i64(i64 %even.up, i64 %first)
  store i64 %first, ptr %sizes
  %most.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 1
  store i64 %most, ptr %most.place
  %align.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 2
  store i64 %align, ptr %align.place
  ret void
}

; Choose the interrupt flag, start the clock of polls, arm Ctrl-C, release the GIL.
define internal ptr @open_launch(ptr %args, ptr %own.flag, ptr %poll, double %ticks, i64 %polls) {
entry:
  %per.us = load double, ptr @ticks_per_us
  %now = call i64 @llvm.readcyclecounter()
  %step = call i64 @ticks_of(double 20000.0)
  %then = add i64 %now, %step
  %self = call i64 @pthread_self()
  %main = load i64, ptr @main_thread
  %is.main = icmp eq i64 %self, %main
  ; Only the main thread runs Python's signal handlers; the others never have to ask.
  %due = select i1 %is.main, i64 %then, i64 9223372036854775807
  store i64 %due, ptr %poll
  %state.place = getelementptr %Poll, ptr %poll, i64 0, i32 1
  store ptr null, ptr %state.place
  %ticks.place = getelementptr %Poll, ptr %poll, i64 0, i32 2
  store i64 0, ptr %ticks.place
  %units.place = getelementptr %Poll, ptr %poll, i64 0, i32 3
  store i64 0, ptr %units.place
  %flag.slot = getelementptr ptr, ptr %args, i64 1
  br i1 %is.main, label %arm, label %keep.flag
arm:
  store atomic i32 0, ptr @main_flag monotonic, align 4
  store ptr @main_flag, ptr %flag.slot
  %wants = icmp ne i64 %polls, 0
  br i1 %wants, label %install, label %keep.flag
install:
  call void @catch_interrupt(i64 %now)
  br label %keep.flag
keep.flag:
  %flag = phi ptr [ %own.flag, %entry ], [ @main_flag, %arm ], [ @main_flag, %install ]
  %long = fmul double %per.us, 20.0
  %is.long = fcmp ogt double %ticks, %long
  br i1 %is.long, label %release, label %ready
release:
  %released.old = load i64, ptr @released
  %released.new = add i64 %released.old, 1
  store i64 %released.new, ptr @released
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %state.place
  br label %ready
ready:
  ret ptr %flag
}

; Undo `open_launch`; turn a stopped launch into a Python exception.
define internal i64 @close_launch(ptr %flag, ptr %poll, i64 %low) {
entry:
  %state.place = getelementptr %Poll, ptr %poll, i64 0, i32 1
  %state = load ptr, ptr %state.place
  %held = icmp eq ptr %state, null
  br i1 %held, label %look, label %retake
retake:
  call void @PyEval_RestoreThread(ptr %state)
  %released.old = load i64, ptr @released
  %released.new = sub i64 %released.old, 1
  store i64 %released.new, ptr @released
  br label %look
look:
  %stop = load atomic i32, ptr %flag monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %raise, label %out
raise:
  %there = call ptr @PyErr_Occurred()
  %is.there = icmp ne ptr %there, null
  br i1 %is.there, label %failed, label %ask
ask:
  %rc = call i32 @PyErr_CheckSignals()
  %raised = icmp ne i32 %rc, 0
  br i1 %raised, label %failed, label %set
set:
  %kind = load ptr, ptr @PyExc_KeyboardInterrupt
  call void @PyErr_SetNone(ptr %kind)
  br label %failed
failed:
  ret i64 -2
out:
  ret i64 %low
}

; --- Ctrl-C inside one long range ------------------------------------------------------------------------------------
; A loop with no proved bound never gets back to `poll`, so it looks at the interrupt flag itself, and SIGINT sets that
; flag before it goes to Python. Only where Python's own handler would raise KeyboardInterrupt: a program with another
; handler has not asked for the launch to be given up.
;
; The handler stays when a launch ends, since taking it away and putting it back costs microseconds. Whoever sets
; another one, through Python's `signal` or in C, overwrites it; so while it is there, Python's handler is still the one
; that was compared when it was put in, and one look at the system's table tells. One look serves for a millisecond.

define internal void @on_interrupt(i32 %signal) {
  store atomic i32 1, ptr @main_flag monotonic, align 4
  %previous = load ptr, ptr @previous_handler
  call void %previous(i32 %signal)
  ret void
}

define internal void @catch_interrupt(i64 %now) {
entry:
  %action = alloca [256 x i8], align 16
  %until = load i64, ptr @caught_until
  %still = icmp slt i64 %now, %until
  br i1 %still, label %out, label %ask
ask:
  %g = call i32 @sigaction(i32 2, ptr null, ptr %action)
  %handler = load ptr, ptr %action
  %ours = icmp eq ptr %handler, @on_interrupt
  br i1 %ours, label %sure, label %look
look:
  %address = ptrtoint ptr %handler to i64
  %real = icmp ugt i64 %address, 1
  br i1 %real, label %python, label %out
python:
  %number = call ptr @PyLong_FromLong(i64 2)
  %getter = load ptr, ptr @getsignal
  %present = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %getter, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  %failed = icmp eq ptr %present, null
  br i1 %failed, label %clear, label %compare
clear:
  call void @PyErr_Clear()
  ret void
compare:
  call void @Py_DecRef(ptr %present)
  %usual = load ptr, ptr @default_handler
  %same = icmp eq ptr %present, %usual
  br i1 %same, label %install, label %out
install:
  store ptr %handler, ptr @previous_handler
  store ptr @on_interrupt, ptr %action
  %s = call i32 @sigaction(i32 2, ptr %action, ptr null)
  br label %sure
sure:
  %step = call i64 @ticks_of(double 1000.0)
  %then = add i64 %now, %step
  store i64 %then, ptr @caught_until
  br label %out
out:
  ret void
}

; --- the precise rerun -----------------------------------------------------------------------------------------------

; Run `context`'s precise twin over [lo, hi) in reference order; the argument block holds the trap record. Gives -1
; when no thread trapped, -2 with a Python exception set, else the start of the chunk with the first trap.
define i64 @isogrid_precise(ptr %context, ptr %args, i64 %lo, i64 %hi) {
entry:
  %csr = alloca i32
  %csr.old = alloca i32
  %own.flag = alloca i32
  %poll = alloca %Poll
  call void @llvm.x86.sse.stmxcsr(ptr %csr.old)
  store i32 8064, ptr %csr
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)
  %function.place = getelementptr %Context, ptr %context, i64 0, i32 1
  %function = load ptr, ptr %function.place
  %align.place = getelementptr %Context, ptr %context, i64 0, i32 3
  %align = load i64, ptr %align.place
  %polls.place = getelementptr %Context, ptr %context, i64 0, i32 4
  %polls = load i64, ptr %polls.place
  store i32 0, ptr %own.flag
  %flag.slot = getelementptr ptr, ptr %args, i64 1
  store ptr %own.flag, ptr %flag.slot
  %flag = call ptr @open_launch(ptr %args, ptr %own.flag, ptr %poll, double 1.0e18, i64 %polls)
  %sizes = alloca %Sizes
  store i64 %align, ptr %sizes
  %most.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 1
  store i64 1073741824, ptr %most.place
  %multiple.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 2
  store i64 %align, ptr %multiple.place
  %low = call i64 @serial(ptr %function, ptr null, ptr %args, i64 %lo, i64 %hi, ptr %sizes, ptr %flag, ptr %poll)
  %result = call i64 @close_launch(ptr %flag, ptr %poll, i64 %low)
  call void @llvm.x86.sse.ldmxcsr(ptr %csr.old)
  ret i64 %result
}
