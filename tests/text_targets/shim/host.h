// Threads of a group as fibers of one thread of the host: they meet at barriers of the group and of warps.
// A meeting that not all threads reach, or reach in different kinds of barrier, ends the launch with an error.
#pragma once
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <ucontext.h>

namespace host {

enum Kind { RUNNING, ENDED, GROUP, GROUP_OR, WARP };

struct Fiber {
    ucontext_t start;
    jmp_buf here;
    bool begun;
    Kind kind;
    int operation;       // of a warp meeting
    unsigned mask;       // its lanes
    uint64_t value;      // what the thread brings
    int source;          // the lane that it wants to hear
    uint64_t result;
};

inline std::vector<Fiber> fibers;
inline std::vector<char> stacks;
inline jmp_buf scheduler;
inline ucontext_t scheduler_context;
inline unsigned thread, group, threads, groups;
inline const char* error;
inline void (*body)(void*);
inline void* argument;

constexpr size_t STACK = 128 * 1024;

inline void wait(Kind kind) {
    Fiber& me = fibers[thread];
    me.kind = kind;
    if (!_setjmp(me.here)) _longjmp(scheduler, 1);
}

inline void entry() {
    body(argument);
    fibers[thread].kind = ENDED;
    _longjmp(scheduler, 1);
}

inline void resume(unsigned number) {
    thread = number;
    Fiber& fiber = fibers[number];
    if (_setjmp(scheduler)) return;
    if (fiber.begun) _longjmp(fiber.here, 1);
    fiber.begun = true;
    setcontext(&fiber.start);
}

inline void fail(const char* text) { if (!error) error = text; }

// Lets a whole group go on where all of it waits.
inline bool meet_group() {
    unsigned waiting = 0, plain = 0;
    bool any = false;
    for (Fiber& f : fibers) {
        if (f.kind == GROUP || f.kind == GROUP_OR) ++waiting;
        if (f.kind == GROUP) ++plain;
        if (f.kind == GROUP_OR) any |= f.value != 0;
    }
    if (waiting < threads) return false;
    if (plain != 0 && plain != threads) fail("threads of a group wait at different kinds of barrier");
    for (Fiber& f : fibers) { f.kind = RUNNING; f.result = any; }
    return true;
}

// Lets warps go on all of whose lanes wait for the same.
inline bool meet_warps() {
    bool met = false;
    for (unsigned first = 0; first < threads; ++first) {
        if (fibers[first].kind != WARP) continue;
        const unsigned base = first & ~31u, mask = fibers[first].mask;
        const int operation = fibers[first].operation;
        if (!(mask >> (first - base) & 1)) { fail("a lane is not in its own mask"); return false; }
        bool all = true, any = false;
        uint64_t bits = 0;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            if (base + lane >= threads) { fail("a mask names lanes that do not exist"); return false; }
            Fiber& f = fibers[base + lane];
            if (f.kind == ENDED) { fail("a mask names a lane that has ended"); return false; }
            if (f.kind == WARP && (f.operation != operation || f.mask != mask)) {
                fail("lanes of a warp wait for different operations");
                return false;
            }
            all &= f.kind == WARP;
            any |= f.value != 0;
            if (f.value) bits |= 1ull << lane;
        }
        if (!all) continue;
        std::vector<uint64_t> values(32, 0);
        for (unsigned lane = 0; lane < 32; ++lane) if (mask >> lane & 1) values[lane] = fibers[base + lane].value;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1)) continue;
            Fiber& f = fibers[base + lane];
            if (operation == 0) f.result = any;
            else if (operation == 1) f.result = bits;
            else if (operation == 2) {
                if (!(mask >> f.source & 1)) fail("a shuffle asks a lane outside its mask");
                f.result = values[f.source & 31];
            }
            f.kind = RUNNING;
        }
        met = true;
    }
    return met;
}

inline void run_group() {
    if (stacks.size() < STACK * threads) stacks.resize(STACK * threads);
    fibers.resize(threads);
    for (unsigned t = 0; t < threads; ++t) {
        Fiber& f = fibers[t];
        getcontext(&f.start);
        f.start.uc_stack.ss_sp = stacks.data() + STACK * t;
        f.start.uc_stack.ss_size = STACK;
        f.start.uc_link = nullptr;
        makecontext(&f.start, entry, 0);
        f.begun = false;
        f.kind = RUNNING;
    }
    while (!error) {
        bool moved = false;
        unsigned ended = 0;
        for (unsigned t = 0; t < threads; ++t) {
            // Odd groups run their last thread first.
            const unsigned number = group % 2 ? threads - 1 - t : t;
            if (fibers[number].kind == RUNNING) { resume(number); moved = true; }
        }
        for (Fiber& f : fibers) ended += f.kind == ENDED;
        if (ended == threads) return;
        moved |= meet_warps();
        moved |= meet_group();
        if (!moved) fail("threads of a group wait for threads that do not come");
    }
}

template <class F> struct Unpack;
template <class... A> struct Unpack<void (*)(A...)> {
    void (*function)(A...);
    void** slots;
    template <size_t... I> void call(std::index_sequence<I...>) {
        function((*reinterpret_cast<std::remove_reference_t<A>*>(slots[I]))...);
    }
    static void run(void* self) { static_cast<Unpack*>(self)->call(std::index_sequence_for<A...>{}); }
};

// Runs a kernel; gives an error text or null. Threads that never meet are called one after another.
template <class F> const char* launch(F function, void** slots, unsigned groups_, unsigned threads_, bool meets) {
    Unpack<F> call{function, slots};
    body = &Unpack<F>::run;
    argument = &call;
    error = nullptr;
    groups = groups_;
    threads = threads_;
    for (group = 0; group < groups && !error; ++group) {
        if (meets) run_group();
        else for (thread = 0; thread < threads; ++thread) body(argument);
    }
    return error;
}

template <class To, class From> To bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}

inline void barrier() { wait(GROUP); }
inline bool barrier_or(bool value) { fibers[thread].value = value; wait(GROUP_OR); return fibers[thread].result != 0; }

inline uint64_t warp(int operation, unsigned mask, uint64_t value, int source) {
    Fiber& me = fibers[thread];
    me.operation = operation;
    me.mask = mask;
    me.value = value;
    me.source = source;
    wait(WARP);
    return fibers[thread].result;
}

}  // namespace host
