#pragma once
/// Runs the threads of a launch as fibers (threads in user space), one at a time, in an order drawn from a seed. A
/// thread runs until it waits at a barrier or ends. So any order of the threads can occur between two barriers, but
/// their accesses do not interleave. Between some barriers all warps advance together; between others one warp mostly
/// runs as far as it can before the next one starts. Now and then one block stands still until the others wait for it.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_on_host/calls.hpp"
#include "tests/cuda_on_host/divergence.hpp"
#include "tests/cuda_on_host/memory.hpp"
#include "tests/cuda_on_host/sanitizers.hpp"

namespace cuda_on_host {

constexpr std::size_t kStack = 128 << 10;
constexpr unsigned kConcurrentThreads = 1024;  ///< unless cooperative; further blocks run later

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "CUDA on the host: %s\n", what);
  std::abort();
}

/// Kinds of synchronisation that this launch omits, for tests (CUDA_ON_HOST_WITHOUT in README.md).
struct Omitted {
  bool block = false, grid = false, warp = false;
  unsigned named = 0;  ///< number of the named barrier to omit
};
inline Omitted omitted;

constexpr unsigned kNamedBarriers = 16;  ///< per block; barrier 0 is __syncthreads

struct Barrier {
  unsigned waiting = 0, passed = 0;
  char sync_points[2] = {};

  /// Returns the synchronisation point of this pass of the barrier, for the sanitizer. Two points alternate. So a
  /// thread that leaves one barrier is not ordered after accesses that other threads make before the next barrier.
  const void* sync_point() const { return sync_points + passed % 2; }
  void open() { waiting = 0, ++passed; }
};

struct Block {
  unsigned number, alive;
  Barrier whole = {}, named[kNamedBarriers] = {};
  std::vector<std::byte> shared = {};  ///< shared memory
};

enum class At { kRuns, kWarp, kBlockBarrier, kNamedBarrier, kGridBarrier, kEnd };
constexpr unsigned kWarp = 32;

/// An operation of several threads of a warp: vote, shuffle or __syncwarp.
struct WarpOperation {
  unsigned mask;
  const char* name;
  unsigned value;          ///< value that this thread contributes
  unsigned values[kWarp];  ///< `[thread of the warp]`
  bool in_order;           ///< the operation orders memory accesses
  unsigned number = 0;     ///< number of warp operations of this thread so far
};

struct Fiber {
  ucontext_t context;
  SanitizedFiber* sanitized;
  Block* block;
  unsigned thread;
  At at;
  unsigned barrier = 0, expected = 0;  ///< named barrier at which the thread waits, and its number of threads
  WarpOperation operation{};
  BasicBlocks blocks{};  ///< executed since the last barrier
};

/// The stack of a fiber. It is kept for later launches, because touching fresh pages is slow.
struct FiberMemory {
  std::byte* stack;
  SanitizedFiber sanitized;
};

inline FiberMemory& fiber_memory(unsigned number) {
  static std::vector<std::unique_ptr<FiberMemory>> list;
  while (list.size() <= number) {
    void* pages = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) fail("no memory for the stack of a thread.");
    if (mprotect(pages, 4096, PROT_NONE)) fail("cannot protect the end of a stack.");  // an overflow faults here
    list.push_back(std::make_unique<FiberMemory>(static_cast<std::byte*>(pages), SanitizedFiber(pages, kStack)));
  }
  return *list[number];
}

/// The blocks of a launch that run concurrently.
class Wave {
 public:
  Wave(const std::function<void()>& thread, unsigned first_block, unsigned blocks, unsigned threads,
       std::size_t shared_bytes, std::uint64_t& random)
      : work_(thread), random_(random), fibers_(blocks * threads) {
    for (unsigned b = 0; b < blocks; ++b)  // shared memory starts with values other than zero
      blocks_.push_back({first_block + b, threads}), blocks_.back().shared.assign(shared_bytes, std::byte{0xA5});
    for (unsigned i = 0; i < fibers_.size(); ++i)
      create(fibers_[i], &blocks_[i / threads], i % threads, fiber_memory(i));
    alive_ = static_cast<unsigned>(fibers_.size());
    release(&host_);
  }

  void run() {
    running = this;
    while (!ready_.empty() || held_) {
      if (ready_.empty() || sleeps_ > 4 * ready_.size()) hold(nullptr);  // the others poll
      if (ready_.empty()) break;
      // The last entries of `ready_` are the threads of the warp that was released last.
      const std::size_t among = warp_by_warp_ ? std::min<std::size_t>(kWarp, ready_.size()) : ready_.size();
      const std::size_t drawn = ready_.size() - 1 - draw() % among;
      std::swap(ready_[drawn], ready_.back());
      fiber_ = ready_.back();
      ready_.pop_back();
      enter(*fiber_);
      arrived(*fiber_);
    }
    running = nullptr;
    acquire(this);
    if (alive_) fail("threads wait at different barriers, for others of their warps, or for a thread that has ended.");
  }

  std::uint64_t draw() {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    return random_ >> 33;
  }

  /// Runs other threads until the barrier of the calling thread opens. Called in a thread.
  static void wait(At barrier) {
    Wave& wave = *running;
    Fiber& fiber = *wave.fiber_;
    fiber.at = barrier;
    wave.leave(fiber);
  }

  /// Lets other threads run now. Called in a thread.
  static void pause() {
    Wave& wave = *running;
    wave.fiber_->at = At::kRuns;
    wave.ready_.push_back(wave.fiber_);
    wave.leave(*wave.fiber_);
  }

  /// Lets other threads run, as many as a random number decides. Called in a thread that polls.
  static void sleep() {
    Wave& wave = *running;
    if (++wave.sleeps_ > 100 * wave.fibers_.size()) fail("threads poll for a value that no other thread writes.");
    wave.fiber_->at = At::kRuns;
    wave.ready_.push_back(wave.fiber_);
    std::swap(wave.ready_.back(), wave.ready_[wave.draw() % wave.ready_.size()]);
    wave.leave(*wave.fiber_);
  }

  static void wait_at(unsigned barrier, unsigned expected) {
    if (!barrier || barrier >= kNamedBarriers || !expected || expected % kWarp) fail("there is no such named barrier.");
    running->fiber_->barrier = barrier, running->fiber_->expected = expected;
    wait(At::kNamedBarrier);
  }

  static const unsigned* synchronise_warp(unsigned mask, const char* name, unsigned value, bool in_order) {
    Fiber& fiber = *running->fiber_;
    if (omitted.warp && in_order) return nullptr;  // an omitted __syncwarp returns no values
    if (!(mask >> fiber.thread % kWarp & 1)) fail("a thread is not in the mask of its warp operation.");
    WarpOperation& o = fiber.operation;
    o.mask = mask, o.name = name, o.value = value, o.in_order = in_order;
    ++o.number;
    wait(At::kWarp);
    return o.values;
  }
  static std::byte* shared_memory() { return running->fiber_->block->shared.data(); }

 private:
  void create(Fiber& fiber, Block* block, unsigned thread, FiberMemory& memory) {
    fiber.block = block;
    fiber.thread = thread;
    getcontext(&fiber.context);
    fiber.context.uc_stack = {memory.stack, 0, kStack};
    fiber.sanitized = &memory.sanitized;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, start, 0);
    ready_.push_back(&fiber);
  }

  static void start() {
    Wave& wave = *running;
    wave.host_.entered_from();
    acquire(&wave.host_);
    wave.fiber_->context.uc_stack = {};  // otherwise a sanitizer clears the fiber's stack data at each switch
    wave.work_();
    wave.fiber_->at = At::kEnd;
    wave.leave(*wave.fiber_);
  }

  void enter(Fiber& fiber) {
    fiber.at = At::kRuns;
    threadIdx = {fiber.thread, 0, 0};
    blockIdx = {fiber.block->number, 0, 0};
    host_.leave_for(*fiber.sanitized);
    count_basic_blocks_of(&fiber.blocks);
    swapcontext(&host_context_, &fiber.context);
    count_basic_blocks_of(nullptr);
    host_.entered();
  }

  void leave(Fiber& fiber) {
    // A barrier orders the accesses of its threads; the end of a thread orders its accesses before the host's accesses.
    const void* barrier = this;
    if (fiber.at == At::kGridBarrier) barrier = grid_.sync_point();
    if (fiber.at == At::kBlockBarrier) barrier = fiber.block->whole.sync_point();
    if (fiber.at == At::kNamedBarrier) barrier = fiber.block->named[fiber.barrier].sync_point();
    const bool in_order = fiber.at == At::kWarp ? fiber.operation.in_order : fiber.at != At::kRuns;
    if (fiber.at == At::kWarp)  // two points alternate, as in Barrier
      barrier = warp_of(fiber)[__builtin_ctz(fiber.operation.mask)].operation.values + fiber.operation.number % 2;
    if (in_order) release(barrier);
    fiber.sanitized->leave_for(host_, fiber.at == At::kEnd);
    swapcontext(&fiber.context, &host_context_);
    fiber.sanitized->entered();
    if (in_order) acquire(barrier);
  }

  /// Returns thread 0 of the warp that contains a thread.
  static Fiber* warp_of(Fiber& fiber) { return &fiber - fiber.thread % kWarp; }

  /// Handles a thread that has arrived at a warp operation. The last thread of the operation's mask releases all of
  /// them.
  void arrived_at_warp_operation(Fiber& fiber) {
    const WarpOperation& a = fiber.operation;
    Fiber* const warp = warp_of(fiber);
    const std::size_t threads = fibers_.size() / blocks_.size(), left = threads - warp->thread;
    if (left < kWarp && a.mask >> left) fail("a warp waits for a thread that is not there.");
    unsigned values[kWarp] = {};
    for (unsigned set = a.mask; set; set &= set - 1) {
      const unsigned thread = static_cast<unsigned>(__builtin_ctz(set));
      const WarpOperation& b = warp[thread].operation;
      if (warp[thread].at != At::kWarp || a.mask != b.mask || a.name != b.name) return;
      values[thread] = b.value;
    }
    for (unsigned set = a.mask; set; set &= set - 1) {
      Fiber& to = warp[__builtin_ctz(set)];
      std::copy_n(values, kWarp, to.operation.values);
      to.at = At::kRuns;
      make_ready(&to);
    }
  }

  /// Handles a thread that has arrived at a named barrier. Each thread states how many threads it expects there.
  void arrived_at_named(Fiber& fiber) {
    Barrier& named = fiber.block->named[fiber.barrier];
    if (++named.waiting < fiber.expected) return;
    named.open();
    const std::size_t threads = fibers_.size() / blocks_.size();
    const std::size_t first = static_cast<std::size_t>(fiber.block - blocks_.data()) * threads;
    warp_by_warp_ = draw() % 2;
    if (draw() % 64 == 0) hold(&blocks_[draw() % blocks_.size()]);
    for (std::size_t i = first; i < first + threads; ++i) {
      if (fibers_[i].at != At::kNamedBarrier || fibers_[i].barrier != fiber.barrier) continue;
      if (fibers_[i].expected != fiber.expected)
        fail("threads at a named barrier expect different numbers of threads.");
      fibers_[i].at = At::kRuns;
      make_ready(&fibers_[i]);
    }
  }

  void make_ready(Fiber* fiber) { (fiber->block == held_ ? held_ready_ : ready_).push_back(fiber); }
  /// Lets the threads of a block stand still from their next barriers on, and threads of another block, which stood
  /// still, run again.
  void hold(const Block* block) {
    ready_.insert(ready_.end(), held_ready_.begin(), held_ready_.end());
    held_ready_.clear();
    held_ = block;
  }

  /// Handles a thread that has arrived at a barrier or at its end. As on a GPU, a block's barrier does not wait for
  /// threads that have ended, but a grid barrier does.
  void arrived(Fiber& fiber) {
    Block& block = *fiber.block;
    if (fiber.at == At::kRuns) return;
    sleeps_ = 0;
    if (fiber.at == At::kWarp) return arrived_at_warp_operation(fiber);
    if (fiber.at == At::kNamedBarrier) return arrived_at_named(fiber);
    if (fiber.at == At::kEnd) --block.alive, --alive_;
    if (fiber.at == At::kBlockBarrier) ++block.whole.waiting;
    if (fiber.at == At::kGridBarrier) ++grid_.waiting;
    if (block.whole.waiting == block.alive)  // both are 0 if all threads of the block have ended
      pass(At::kBlockBarrier, block.whole, &block);
    if (grid_.waiting == fibers_.size()) pass(At::kGridBarrier, grid_, nullptr);
  }

  /// Opens the barrier of a block, or of the grid (`block` is null).
  void pass(At at, Barrier& barrier, const Block* block) {
    if (barrier.waiting && block) count_block_barrier();
    if (barrier.waiting && !block) count_grid_barrier();
    barrier.open();
    const std::size_t threads = fibers_.size() / blocks_.size();
    const std::size_t first = block ? static_cast<std::size_t>(block - blocks_.data()) * threads : 0;
    const std::size_t last = block ? first + threads : fibers_.size();
    for (std::size_t warp = first; warp < last; warp += kWarp)
      end_of_warp_phase(static_cast<unsigned>(std::min<std::size_t>(kWarp, last - warp)),
                        [&](unsigned thread) -> BasicBlocks& { return fibers_[warp + thread].blocks; });
    warp_by_warp_ = draw() % 2;
    for (std::size_t i = first; i < last; ++i)
      if (fibers_[i].at == at) make_ready(&fibers_[i]);
  }

  static inline Wave* running = nullptr;
  const std::function<void()>& work_;
  std::uint64_t& random_;
  std::vector<Fiber> fibers_;
  std::vector<Block> blocks_;
  std::vector<Fiber*> ready_;
  std::vector<Fiber*> held_ready_;  ///< threads of `held_` that could run
  const Block* held_ = nullptr;     ///< the block that stands still
  unsigned alive_ = 0;
  std::size_t sleeps_ = 0;  ///< calls of sleep() since a thread last arrived at a barrier or ended
  Barrier grid_;
  bool warp_by_warp_ = draw() % 2;
  Fiber* fiber_ = nullptr;
  ucontext_t host_context_{};  ///< starts as zero, because a sanitizer reads its stack
  SanitizedFiber host_;
};

}  // namespace cuda_on_host
