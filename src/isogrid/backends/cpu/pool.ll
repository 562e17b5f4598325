; The worker pool: runs a range function `i64 fn(ptr args, i64 lo, i64 hi)` over [0, n) on all processors.
;
; Linux on x86-64 only. Nothing here knows about Python except `poll`, which the calling thread alone executes.
; Protocol. A launch that owns `busy` writes `job`, opens `state`, bumps `seq` (what idle workers watch and sleep on),
; works itself, closes `state` and waits for the workers that joined; it never waits for one that has not. `state` is
; OPEN (bit 31) plus the number of joined workers; a worker joins by compare-and-swap, so only while OPEN is set, and
; reads `job` afterwards. `job` is not rewritten before the count is back at 0.
; Results of a range: 0 done, positive: some thread trapped, negative: stopped by the interrupt flag.

%Job = type { ptr, ptr, i64, i64, %Sizes, i64, i64, ptr, i64 }
; function, arguments, first unit, end, sizes of chunks, parts, units per part, interrupt flag, 1: parts from their ends
%Sizes = type { i64, i64, i64 }
; units of a participant's first chunk, most units of any, a multiple of
%Poll = type { i64, ptr, i64, i64 }
; tick of the next poll, saved Python thread state or null while the GIL is held, ticks measured, units measured
%Context = type { ptr, ptr, double, i64, i64, ptr, ptr, ptr, double }
; run, precise, measured ticks per unit (0: unknown), units per chunk are a multiple of this, whether `run` polls the flag,
; `run` for when no other thread of this process runs a launch (null: none), the kernel's %Stream and %Halves (null: none),
; measured ticks of a launch per unit where all processors run `run` rather than one the form above (0: unknown)
%Stream = type { ptr, i64, i64, i64, i64, ptr }
; `run` past the cache (null: not made yet), bytes that it writes there in a unit, times the number in this slot of the
; arguments (-1: once), bytes written through the cache since this form was not made yet, number of its arrays, their slots
%Halves = type { ptr, ptr, i64 }
; %Context of the kernel that only checks (null: not made yet), of the one that only writes, bytes that large launches have
; saved since these were not made yet

@seq = internal global i32 0, align 64
@state = internal global i32 0, align 64
@busy = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64
@trapped = internal global i64 -1, align 64
@backward = internal global i64 0
@job = internal global %Job zeroinitializer, align 64
@next = internal global [256 x [8 x i64]] zeroinitializer, align 64
; per worker: kernel thread id, processor on which it was last idle (-1: unknown)
@slots = internal global [256 x [16 x i32]] zeroinitializer, align 64

@workers = internal global i64 0, align 64
@wanted = internal global i64 0
@ticks_per_us = internal global double 2000.0
@placement = internal global i32 1
; Bytes from which on a launch writes past the cache, and bytes that a kernel's large launches write before that form is
; made, so that making it costs no more than has been lost without it.
@stream.from = internal global i64 9223372036854775807
@stream.worth = internal global i64 9223372036854775807
@allowed = internal global [128 x i8] zeroinitializer, align 8
@main_thread = internal global i64 0
@main_flag = internal global i32 0
; Launches that have released the GIL. While it is 0, a thread that holds the GIL runs the only launch.
@released = internal global i64 0
; Launches that update elements by locked instructions, and whether one launch does so by plain ones just now. Either looks
; at the other's word after it has written its own.
@updaters = internal global i32 0, align 64
@updating = internal global i32 0, align 64
@joined = internal global i64 0, align 64
@moved = internal global i64 0
@thread_name = internal constant [8 x i8] c"isogrid\00"

declare i64 @syscall(i64, ...)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i64 @pthread_self()
declare i32 @sigfillset(ptr)
declare i32 @sigaction(i32, ptr, ptr)
declare i32 @sched_getcpu()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()
declare void @PyErr_SetNone(ptr)
declare void @PyErr_Clear()
declare ptr @PyLong_FromLong(i64)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @Py_DecRef(ptr)
@PyExc_KeyboardInterrupt = external global ptr
declare i64 @llvm.readcyclecounter()
declare void @llvm.x86.sse2.pause()
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @llvm.maximum.f64(double, double)
declare double @llvm.minimum.f64(double, double)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

; --- set-up ----------------------------------------------------------------------------------------------------------

define void @isogrid_setup(i64 %wanted, double %ticks, i32 %placement, ptr %getsignal, ptr %default) {
  store i64 %wanted, ptr @wanted
  store double %ticks, ptr @ticks_per_us
  store i32 %placement, ptr @placement
  store ptr %getsignal, ptr @getsignal
  store ptr %default, ptr @default_handler
  ret void
}

define void @isogrid_set_streams(i64 %from, i64 %worth) {
  store i64 %from, ptr @stream.from
  store i64 %worth, ptr @stream.worth
  ret void
}

define i64 @isogrid_ticks() {
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}

; In the main thread, at start and in the child of a fork, which has none of its parent's workers.
define void @isogrid_reset() {
  store i64 0, ptr @released
  store atomic i32 0, ptr @updaters seq_cst, align 4
  store atomic i32 0, ptr @updating seq_cst, align 4
  %self = call i64 @pthread_self()
  store i64 %self, ptr @main_thread
  store i64 0, ptr @workers
  store i32 0, ptr @sleepers
  store i32 0, ptr @state
  store atomic i32 0, ptr @busy release, align 4
  %rc = call i64 (i64, ...) @syscall(i64 204, i32 0, i64 128, ptr @allowed)
  ret void
}

; For tests: 0 workers started, 1 joins so far, 2 workers moved to another processor, 3 sleeping workers.
define i64 @isogrid_statistic(i64 %which) {
entry:
  switch i64 %which, label %none [ i64 0, label %workers
                                   i64 1, label %joined
                                   i64 2, label %moved
                                   i64 3, label %sleepers ]
workers:
  %w = load atomic i64, ptr @workers monotonic, align 8
  ret i64 %w
joined:
  %j = load atomic i64, ptr @joined monotonic, align 8
  ret i64 %j
moved:
  %m = load atomic i64, ptr @moved monotonic, align 8
  ret i64 %m
sleepers:
  %s = load atomic i32, ptr @sleepers monotonic, align 4
  %s64 = zext i32 %s to i64
  ret i64 %s64
none:
  ret i64 -1
}

define internal i64 @ticks_of(double %us) {
  %rate = load double, ptr @ticks_per_us
  %ticks = fmul double %us, %rate
  %result = fptosi double %ticks to i64
  ret i64 %result
}

; --- workers ---------------------------------------------------------------------------------------------------------

define internal ptr @worker(ptr %number) {
entry:
  %csr = alloca i32
  store i32 8064, ptr %csr
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)
  %id = ptrtoint ptr %number to i64
  %slot = getelementptr [256 x [16 x i32]], ptr @slots, i64 0, i64 %id
  %slot.cpu = getelementptr i32, ptr %slot, i64 1
  %tid = call i64 (i64, ...) @syscall(i64 186)
  %tid32 = trunc i64 %tid to i32
  store atomic i32 %tid32, ptr %slot monotonic, align 4
  %named = call i64 (i64, ...) @syscall(i64 157, i64 15, ptr @thread_name, i64 0, i64 0, i64 0)
  %spin = call i64 @ticks_of(double 60.0)
  %first = load atomic i32, ptr @seq seq_cst, align 4
  br label %join

idle:
  %cpu = call i32 @sched_getcpu()
  store atomic i32 %cpu, ptr %slot.cpu monotonic, align 4
  %since = call i64 @llvm.readcyclecounter()
  br label %watch
watch:
  %now.seq = load atomic i32, ptr @seq acquire, align 4
  %is.new = icmp ne i32 %now.seq, %seen
  br i1 %is.new, label %join, label %linger
linger:
  call void @llvm.x86.sse2.pause()
  %now = call i64 @llvm.readcyclecounter()
  %waited = sub i64 %now, %since
  %patient = icmp ult i64 %waited, %spin
  br i1 %patient, label %watch, label %sleep
sleep:
  %up = atomicrmw add ptr @sleepers, i32 1 seq_cst
  %woken = call i64 (i64, ...) @syscall(i64 202, ptr @seq, i64 128, i32 %seen, ptr null, ptr null, i64 0)
  %down = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  %woken.seq = load atomic i32, ptr @seq acquire, align 4
  %woken.new = icmp ne i32 %woken.seq, %seen
  br i1 %woken.new, label %join, label %sleep

join:
  %seen = phi i32 [ %first, %entry ], [ %now.seq, %watch ], [ %woken.seq, %sleep ], [ %seen, %try ]
  %status = load atomic i32, ptr @state monotonic, align 4
  %open = icmp slt i32 %status, 0
  br i1 %open, label %try, label %idle
try:
  %more = add i32 %status, 1
  %swap = cmpxchg ptr @state, i32 %status, i32 %more acquire monotonic
  %in = extractvalue { i32, i1 } %swap, 1
  br i1 %in, label %work, label %join
work:
  %count = atomicrmw add ptr @joined, i64 1 monotonic
  call void @chunks(i64 %id, ptr null)
  %before = atomicrmw sub ptr @state, i32 1 release
  %last = icmp eq i32 %before, 1
  br i1 %last, label %tell, label %idle
tell:
  %told = call i64 (i64, ...) @syscall(i64 202, ptr @state, i64 129, i32 1, ptr null, ptr null, i64 0)
  br label %idle
}

; Start workers until there are `count`. They block every signal: Python's handlers belong to its own threads.
define internal void @start_workers(i64 %count) {
entry:
  %all = alloca [128 x i8], align 8
  %old = alloca [128 x i8], align 8
  %thread = alloca i64
  %have = load i64, ptr @workers
  %enough = icmp sge i64 %have, %count
  br i1 %enough, label %done, label %block
block:
  %f = call i32 @sigfillset(ptr %all)
  %b = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %old)
  br label %create
create:
  %n = phi i64 [ %have, %block ], [ %id, %created ]
  %id = add i64 %n, 1
  %cpu = getelementptr [256 x [16 x i32]], ptr @slots, i64 0, i64 %id, i64 1
  store i32 -1, ptr %cpu
  %number = inttoptr i64 %id to ptr
  %rc = call i32 @pthread_create(ptr %thread, ptr null, ptr @worker, ptr %number)
  %ok = icmp eq i32 %rc, 0
  br i1 %ok, label %created, label %refused
created:
  %t = load i64, ptr %thread
  %d = call i32 @pthread_detach(i64 %t)
  store atomic i64 %id, ptr @workers monotonic, align 8
  %again = icmp slt i64 %id, %count
  br i1 %again, label %create, label %unblock
refused:
  ; The system gives no more threads: go on with those there are, and do not ask again.
  store i64 %n, ptr @wanted
  br label %unblock
unblock:
  %u = call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  br label %done
done:
  ret void
}

; A worker last seen on the caller's own processor would run after the caller instead of beside it, and Linux may leave
; it there for seconds. Send it elsewhere. The caller's own thread is never pinned.
define internal void @separate(i64 %count) {
entry:
  %mask = alloca [128 x i8], align 8
  %on = load i32, ptr @placement
  %is.on = icmp ne i32 %on, 0
  br i1 %is.on, label %look, label %done
look:
  %mine = call i32 @sched_getcpu()
  %known = icmp ult i32 %mine, 1024
  br i1 %known, label %each, label %done
each:
  %w = phi i64 [ 1, %look ], [ %w.next, %next ]
  %slot = getelementptr [256 x [16 x i32]], ptr @slots, i64 0, i64 %w
  %slot.cpu = getelementptr i32, ptr %slot, i64 1
  %cpu = load atomic i32, ptr %slot.cpu monotonic, align 4
  %same = icmp eq i32 %cpu, %mine
  br i1 %same, label %move, label %next
move:
  call void @llvm.memcpy.p0.p0.i64(ptr %mask, ptr @allowed, i64 128, i1 false)
  %mine64 = zext i32 %mine to i64
  %byte = lshr i64 %mine64, 3
  %place = getelementptr i8, ptr %mask, i64 %byte
  %bit = and i64 %mine64, 7
  %bit8 = trunc i64 %bit to i8
  %one = shl i8 1, %bit8
  %hole = xor i8 %one, -1
  %bits = load i8, ptr %place
  %rest = and i8 %bits, %hole
  store i8 %rest, ptr %place
  %tid = load atomic i32, ptr %slot monotonic, align 4
  %rc = call i64 (i64, ...) @syscall(i64 203, i32 %tid, i64 128, ptr %mask)
  store atomic i32 -1, ptr %slot.cpu monotonic, align 4
  %m = atomicrmw add ptr @moved, i64 1 monotonic
  br label %next
next:
  %w.next = add i64 %w, 1
  %again = icmp sle i64 %w.next, %count
  br i1 %again, label %each, label %done
done:
  ret void
}

; --- running a range -------------------------------------------------------------------------------------------------

; Python's signal handlers, at most every 20 ms, main thread only (`poll` is null elsewhere). True: one raised.
define internal i1 @poll(ptr %poll) {
entry:
  %now = call i64 @llvm.readcyclecounter()
  %due = load i64, ptr %poll
  %early = icmp slt i64 %now, %due
  br i1 %early, label %quiet, label %check
check:
  %step = call i64 @ticks_of(double 20000.0)
  %then = add i64 %now, %step
  store i64 %then, ptr %poll
  %state.place = getelementptr %Poll, ptr %poll, i64 0, i32 1
  %state = load ptr, ptr %state.place
  %held = icmp eq ptr %state, null
  br i1 %held, label %ask.held, label %ask
ask.held:
  %rc.held = call i32 @PyErr_CheckSignals()
  %raised.held = icmp ne i32 %rc.held, 0
  ret i1 %raised.held
ask:
  call void @PyEval_RestoreThread(ptr %state)
  %rc = call i32 @PyErr_CheckSignals()
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %state.place
  %raised = icmp ne i32 %rc, 0
  ret i1 %raised
quiet:
  ret i1 false
}

; One chunk of a participant. `size` becomes the size of its next one: twice as much up to the most, and less after a
; chunk of over 5 ms. So a launch whose units cost more than the last one's is soon cut finely enough for Ctrl-C and for
; the other participants. Times go to `poll`, where it is given.
define internal i64 @chunk(ptr %function, ptr %args, i64 %lo, i64 %hi, ptr %size, ptr %sizes, ptr %poll) {
entry:
  %start = call i64 @llvm.readcyclecounter()
  %r = call i64 %function(ptr %args, i64 %lo, i64 %hi)
  %end = call i64 @llvm.readcyclecounter()
  %took = sub i64 %end, %start
  %count = sub i64 %hi, %lo
  %most.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 1
  %most = load i64, ptr %most.place
  %long = call i64 @ticks_of(double 5000.0)
  %is.long = icmp sgt i64 %took, %long
  br i1 %is.long, label %shrink, label %grow
shrink:
  %long.float = sitofp i64 %long to double
  %took.float = sitofp i64 %took to double
  %count.float = sitofp i64 %count to double
  %share = fdiv double %long.float, %took.float
  %less.float = fmul double %count.float, %share
  %less = fptosi double %less.float to i64
  %multiple.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 2
  %multiple = load i64, ptr %multiple.place
  %some = call i64 @llvm.smax.i64(i64 %less, i64 1)
  ; Such dear units need no whole cache lines, only whole vectors.
  %vector = call i64 @llvm.smin.i64(i64 %multiple, i64 16)
  %less.up = call i64 @round_up(i64 %some, i64 %vector)
  store i64 %less.up, ptr %size
  br label %note
grow:
  %now = load i64, ptr %size
  %twice = shl i64 %now, 1
  %more = call i64 @llvm.smin.i64(i64 %twice, i64 %most)
  store i64 %more, ptr %size
  br label %note
note:
  %noted = icmp ne ptr %poll, null
  br i1 %noted, label %add, label %out
add:
  %ticks.place = getelementptr %Poll, ptr %poll, i64 0, i32 2
  %units.place = getelementptr %Poll, ptr %poll, i64 0, i32 3
  %ticks = load i64, ptr %ticks.place
  %units = load i64, ptr %units.place
  %ticks.new = add i64 %ticks, %took
  %units.new = add i64 %units, %count
  store i64 %ticks.new, ptr %ticks.place
  store i64 %units.new, ptr %units.place
  br label %out
out:
  ret i64 %r
}

; Take chunks of the present job: this participant's own part first, so that its data stay in its cache, then the others'.
; Every other launch takes each part from its end: what a launch touched last is what the next one touches first, while
; it still is in the cache. Arrays a little larger than the cache would else never be found there.
define internal void @chunks(i64 %me, ptr %poll) {
entry:
  %function = load ptr, ptr @job
  %args = load ptr, ptr getelementptr (%Job, ptr @job, i64 0, i32 1)
  %first = load i64, ptr getelementptr (%Job, ptr @job, i64 0, i32 2)
  %end = load i64, ptr getelementptr (%Job, ptr @job, i64 0, i32 3)
  %sizes = getelementptr %Job, ptr @job, i64 0, i32 4
  %size = alloca i64
  %size.first = load i64, ptr %sizes
  store i64 %size.first, ptr %size
  %multiple.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 2
  %multiple = load i64, ptr %multiple.place
  %parts = load i64, ptr getelementptr (%Job, ptr @job, i64 0, i32 5)
  %per.part = load i64, ptr getelementptr (%Job, ptr @job, i64 0, i32 6)
  %flag = load ptr, ptr getelementptr (%Job, ptr @job, i64 0, i32 7)
  %backward = load i64, ptr getelementptr (%Job, ptr @job, i64 0, i32 8)
  %is.backward = icmp ne i64 %backward, 0
  %home = urem i64 %me, %parts
  br label %part
part:
  %tried = phi i64 [ 0, %entry ], [ %tried.next, %part.next ]
  %p = phi i64 [ %home, %entry ], [ %p.next, %part.next ]
  %offset = mul i64 %p, %per.part
  %part.lo = add i64 %first, %offset
  %part.full = add i64 %part.lo, %per.part
  %part.hi = call i64 @llvm.smin.i64(i64 %part.full, i64 %end)
  %counter = getelementptr [256 x [8 x i64]], ptr @next, i64 0, i64 %p
  br label %take
take:
  %stop = load atomic i32, ptr %flag monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %leave, label %claim
claim:
  ; At most half of what is left of the part, down to a first chunk: the participants end at nearly the same time.
  %seen = load atomic i64, ptr %counter monotonic, align 8
  %left = sub i64 %per.part, %seen
  %half = ashr i64 %left, 1
  %half.up = call i64 @round_up(i64 %half, i64 %multiple)
  %least = call i64 @llvm.smax.i64(i64 %half.up, i64 %size.first)
  %usual = load i64, ptr %size
  %step = call i64 @llvm.smin.i64(i64 %usual, i64 %least)
  %taken = atomicrmw add ptr %counter, i64 %step monotonic
  %part.left = icmp slt i64 %taken, %per.part
  br i1 %part.left, label %place, label %part.next
place:
  %up = add i64 %part.lo, %taken
  %top = sub i64 %part.full, %taken
  %bottom = sub i64 %top, %step
  %bottom.in = call i64 @llvm.smax.i64(i64 %bottom, i64 %part.lo)
  %lo = select i1 %is.backward, i64 %bottom.in, i64 %up
  %up.end = add i64 %up, %step
  %full = select i1 %is.backward, i64 %top, i64 %up.end
  %hi = call i64 @llvm.smin.i64(i64 %full, i64 %part.hi)
  %some = icmp slt i64 %lo, %hi
  br i1 %some, label %go, label %take
go:
  ; Above a trapped chunk nothing can matter any more; below it an earlier trap may still be found.
  %worst = load atomic i64, ptr @trapped monotonic, align 8
  %moot = icmp ugt i64 %lo, %worst
  br i1 %moot, label %take, label %run
run:
  %r = call i64 @chunk(ptr %function, ptr %args, i64 %lo, i64 %hi, ptr %size, ptr %sizes, ptr %poll)
  %fine = icmp eq i64 %r, 0
  br i1 %fine, label %after, label %odd
odd:
  %halted = icmp slt i64 %r, 0
  br i1 %halted, label %leave, label %note
note:
  %low = atomicrmw umin ptr @trapped, i64 %lo monotonic
  br label %after
after:
  %polls = icmp ne ptr %poll, null
  br i1 %polls, label %ask, label %take
ask:
  %raised = call i1 @poll(ptr %poll)
  br i1 %raised, label %interrupt, label %take
interrupt:
  store atomic i32 1, ptr %flag monotonic, align 4
  br label %leave
part.next:
  %tried.next = add i64 %tried, 1
  %p.up = add i64 %p, 1
  %wrap = icmp eq i64 %p.up, %parts
  %p.next = select i1 %wrap, i64 0, i64 %p.up
  %again = icmp slt i64 %tried.next, %parts
  br i1 %again, label %part, label %leave
leave:
  ret void
}

; All of [lo, hi) on this thread, in order: by `plain`, where there is one, in chunks beside which no other launch updates
; elements. Gives the start of the first trapped chunk, else -1 (also when stopped: the caller looks at the flag).
define internal i64 @serial(ptr %function, ptr %plain, ptr %args, i64 %first, i64 %end, ptr %sizes, ptr %flag, ptr %poll) {
entry:
  %size = alloca i64
  %size.first = load i64, ptr %sizes
  store i64 %size.first, ptr %size
  br label %take
take:
  %lo = phi i64 [ %first, %entry ], [ %hi, %ask ]
  %some = icmp slt i64 %lo, %end
  br i1 %some, label %look, label %clean
look:
  %stop = load atomic i32, ptr %flag monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %clean, label %run
run:
  %left = sub i64 %end, %lo
  %step = load i64, ptr %size
  %count = call i64 @llvm.smin.i64(i64 %left, i64 %step)
  %hi = add i64 %lo, %count
  %may = icmp ne ptr %plain, null
  br i1 %may, label %claim, label %go
claim:
  store atomic i32 1, ptr @updating seq_cst, align 4
  %others = load atomic i32, ptr @updaters seq_cst, align 4
  %free = icmp eq i32 %others, 0
  br i1 %free, label %go, label %give.way
give.way:
  store atomic i32 0, ptr @updating seq_cst, align 4
  br label %go
go:
  %form = phi ptr [ %function, %run ], [ %plain, %claim ], [ %function, %give.way ]
  %claimed = phi i1 [ false, %run ], [ true, %claim ], [ false, %give.way ]
  %r = call i64 @chunk(ptr %form, ptr %args, i64 %lo, i64 %hi, ptr %size, ptr %sizes, ptr %poll)
  br i1 %claimed, label %disclaim, label %ran
disclaim:
  store atomic i32 0, ptr @updating seq_cst, align 4
  br label %ran
ran:
  %fine = icmp eq i64 %r, 0
  br i1 %fine, label %ask, label %odd
ask:
  %raised = call i1 @poll(ptr %poll)
  br i1 %raised, label %interrupt, label %take
interrupt:
  store atomic i32 1, ptr %flag monotonic, align 4
  br label %clean
odd:
  %halted = icmp slt i64 %r, 0
  br i1 %halted, label %clean, label %trap
trap:
  ret i64 %lo
clean:
  ret i64 -1
}

; [first, end) on all processors; the caller owns `busy`. Gives the start of the lowest trapped chunk, else -1.
define internal i64 @parallel(ptr %function, ptr %args, i64 %first, i64 %end, ptr %sizes, ptr %flag, ptr %poll) {
entry:
  %timeout = alloca { i64, i64 }
  %step = load i64, ptr %sizes
  %align.place = getelementptr %Sizes, ptr %sizes, i64 0, i32 2
  %align = load i64, ptr %align.place
  %units = sub i64 %end, %first
  %units.up = add i64 %units, %step
  %units.less = sub i64 %units.up, 1
  %chunks = sdiv i64 %units.less, %step
  %wanted = load i64, ptr @wanted
  %others = sub i64 %chunks, 1
  %use = call i64 @llvm.smin.i64(i64 %wanted, i64 %others)
  call void @start_workers(i64 %use)
  %have = load i64, ptr @workers
  %helpers = call i64 @llvm.smin.i64(i64 %have, i64 %use)
  %parts = add i64 %helpers, 1
  %share.up = add i64 %units, %helpers
  %share = sdiv i64 %share.up, %parts
  %per.part = call i64 @round_up(i64 %share, i64 %align)
  store ptr %function, ptr @job
  store ptr %args, ptr getelementptr (%Job, ptr @job, i64 0, i32 1)
  store i64 %first, ptr getelementptr (%Job, ptr @job, i64 0, i32 2)
  store i64 %end, ptr getelementptr (%Job, ptr @job, i64 0, i32 3)
  call void @llvm.memcpy.p0.p0.i64(ptr getelementptr (%Job, ptr @job, i64 0, i32 4), ptr %sizes, i64 24, i1 false)
  store i64 %parts, ptr getelementptr (%Job, ptr @job, i64 0, i32 5)
  store i64 %per.part, ptr getelementptr (%Job, ptr @job, i64 0, i32 6)
  store ptr %flag, ptr getelementptr (%Job, ptr @job, i64 0, i32 7)
  %way.last = load i64, ptr @backward
  %way = xor i64 %way.last, 1
  store i64 %way, ptr @backward
  store i64 %way, ptr getelementptr (%Job, ptr @job, i64 0, i32 8)
  %bytes = shl i64 %parts, 6
  call void @llvm.memset.p0.i64(ptr @next, i8 0, i64 %bytes, i1 false)
  store atomic i64 -1, ptr @trapped monotonic, align 8
  %alone = icmp eq i64 %helpers, 0
  br i1 %alone, label %own, label %publish
publish:
  %near = call i64 @llvm.smin.i64(i64 %helpers, i64 8)
  call void @separate(i64 %near)
  store atomic i32 -2147483648, ptr @state release, align 4
  %s = atomicrmw add ptr @seq, i32 1 seq_cst
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %some = icmp ne i32 %asleep, 0
  br i1 %some, label %wake, label %own
wake:
  %helpers32 = trunc i64 %helpers to i32
  %w = call i64 (i64, ...) @syscall(i64 202, ptr @seq, i64 129, i32 %helpers32, ptr null, ptr null, i64 0)
  br label %own
own:
  call void @chunks(i64 0, ptr %poll)
  %closed = atomicrmw and ptr @state, i32 2147483647 acq_rel
  %since = call i64 @llvm.readcyclecounter()
  %spin = call i64 @ticks_of(double 60.0)
  br label %wait
wait:
  %left = load atomic i32, ptr @state acquire, align 4
  %none = icmp eq i32 %left, 0
  br i1 %none, label %done, label %linger
linger:
  call void @llvm.x86.sse2.pause()
  %now = call i64 @llvm.readcyclecounter()
  %waited = sub i64 %now, %since
  %patient = icmp ult i64 %waited, %spin
  br i1 %patient, label %wait, label %sleep
sleep:
  ; Wake at least every 20 ms to look for signals.
  store i64 0, ptr %timeout
  %nanoseconds = getelementptr { i64, i64 }, ptr %timeout, i64 0, i32 1
  store i64 20000000, ptr %nanoseconds
  %f = call i64 (i64, ...) @syscall(i64 202, ptr @state, i64 128, i32 %left, ptr %timeout, ptr null, i64 0)
  %stop = load atomic i32, ptr %flag monotonic, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %wait, label %ask
ask:
  %raised = call i1 @poll(ptr %poll)
  br i1 %raised, label %interrupt, label %wait
interrupt:
  store atomic i32 1, ptr %flag monotonic, align 4
  br label %wait
done:
  %low = load atomic i64, ptr @trapped monotonic, align 8
  ret i64 %low
}

define internal i64 @round_up(i64 %value, i64 %align) {
  %up = add i64 %value, %align
  %less = sub i64 %up, 1
  %q = sdiv i64 %less, %align
  %result = mul i64 %q, %align
  ret i64 %result
}
