#pragma once
/// Runs the threads of a launch as fibers, one at a time, in an order drawn from a seed. A thread runs until it waits
/// at a barrier or ends, so between two barriers any order of the threads may come, and each comes as a whole. Between
/// some barriers all warps keep about the same pace; between others one mostly runs as far as it can before the next
/// begins.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "tests/cuda_on_host/calls.hpp"
#include "tests/cuda_on_host/memory.hpp"
#include "tests/cuda_on_host/sanitizers.hpp"

namespace cuda_on_host {

constexpr std::size_t kStack = 128 << 10;
constexpr unsigned kAtOnce = 1024;  ///< threads of blocks that do not wait for one another

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "CUDA on the host: %s\n", what);
  std::abort();
}

/// What this launch leaves out, so that a test can see what it is for (README.md, "Left out").
struct LeftOut {
  bool block = false, grid = false, warp = false;
  unsigned named = 0;
};
inline LeftOut left_out;

constexpr unsigned kNamedBarriers = 16;  ///< of a block; 0 is that of all its threads

struct Barrier {
  unsigned waiting = 0, passed = 0;
  char places[2] = {};

  /// Where threads show what they did. Two in turns: a thread that comes from one barrier does not see what others have
  /// done since, up to the next.
  const void* place() const { return places + passed % 2; }
  void open() { waiting = 0, ++passed; }
};

struct Block {
  unsigned number, alive;
  Barrier whole = {}, named[kNamedBarriers] = {};
  std::vector<std::byte> shared = {};  ///< memory
};

enum class At { kRuns, kWarp, kBlockBarrier, kNamedBarrier, kGridBarrier, kEnd };
constexpr unsigned kWarp = 32;

/// What a thread does together with others of its warp.
struct Meeting {
  unsigned mask;
  const char* operation;
  unsigned brought;
  unsigned all[kWarp];  ///< what they brought, by lane
  bool in_order;
  unsigned number = 0;
};

struct Fiber {
  ucontext_t context;
  SanitizedFiber* sanitized;
  Block* block;
  unsigned thread;
  At at;
  unsigned barrier = 0, expected = 0;  ///< a named one, and how many threads meet there
  Meeting meeting{};
};

/// What a thread needs of memory; kept, because the pages that threads have touched serve the next.
struct Place {
  std::byte* stack;
  SanitizedFiber sanitized;
};

inline Place& place(unsigned number) {
  static std::vector<std::unique_ptr<Place>> places;
  while (places.size() <= number) {
    void* pages = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) fail("no memory for the stack of a thread.");
    if (mprotect(pages, 4096, PROT_NONE)) fail("no page before the stack of a thread.");  // who needs more ends here
    places.push_back(std::make_unique<Place>(static_cast<std::byte*>(pages), SanitizedFiber(pages, kStack)));
  }
  return *places[number];
}

/// Blocks that run at the same time.
class Wave {
 public:
  Wave(const std::function<void()>& thread, unsigned first_block, unsigned blocks, unsigned threads,
       std::size_t shared_bytes, std::uint64_t& random)
      : work_(thread), random_(random), fibers_(blocks * threads) {
    for (unsigned b = 0; b < blocks; ++b)  // what is there at first is not zero
      blocks_.push_back({first_block + b, threads}), blocks_.back().shared.assign(shared_bytes, std::byte{0xA5});
    for (unsigned i = 0; i < fibers_.size(); ++i) create(fibers_[i], &blocks_[i / threads], i % threads, place(i));
    alive_ = static_cast<unsigned>(fibers_.size());
    shows(&host_);
  }

  void run() {
    running = this;
    while (!ready_.empty()) {
      // Those of the warp that has just met are the last.
      const std::size_t among = warp_by_warp_ ? std::min<std::size_t>(kWarp, ready_.size()) : ready_.size();
      const std::size_t drawn = ready_.size() - 1 - draw() % among;
      std::swap(ready_[drawn], ready_.back());
      fiber_ = ready_.back();
      ready_.pop_back();
      enter(*fiber_);
      arrived(*fiber_);
    }
    running = nullptr;
    sees(this);
    if (alive_) fail("threads wait at different barriers, for others of their warps, or for a thread that has ended.");
  }

  std::uint64_t draw() {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    return random_ >> 33;
  }

  /// In a thread: waits. The others run until it may go on.
  static void wait(At barrier) {
    Wave& wave = *running;
    Fiber& fiber = *wave.fiber_;
    fiber.at = barrier;
    wave.leave(fiber);
  }

  /// In a thread: others may run now.
  static void pause() {
    Wave& wave = *running;
    wave.fiber_->at = At::kRuns;
    wave.ready_.push_back(wave.fiber_);
    wave.leave(*wave.fiber_);
  }

  static void wait_at(unsigned barrier, unsigned expected) {
    if (!barrier || barrier >= kNamedBarriers || !expected || expected % kWarp) fail("there is no such named barrier.");
    running->fiber_->barrier = barrier, running->fiber_->expected = expected;
    wait(At::kNamedBarrier);
  }

  static const unsigned* meet(unsigned mask, const char* operation, unsigned brought, bool in_order) {
    Fiber& fiber = *running->fiber_;
    if (left_out.warp && in_order) return nullptr;  // __syncwarp, which brings nothing
    if (!(mask >> fiber.thread % kWarp & 1)) fail("a thread is not in the mask of what it does with its warp.");
    Meeting& m = fiber.meeting;
    m.mask = mask, m.operation = operation, m.brought = brought, m.in_order = in_order;
    ++m.number;
    wait(At::kWarp);
    return m.all;
  }
  static std::byte* shared_memory() { return running->fiber_->block->shared.data(); }

 private:
  void create(Fiber& fiber, Block* block, unsigned thread, Place& place) {
    fiber.block = block;
    fiber.thread = thread;
    getcontext(&fiber.context);
    fiber.context.uc_stack = {place.stack, 0, kStack};
    fiber.sanitized = &place.sanitized;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, start, 0);
    ready_.push_back(&fiber);
  }

  static void start() {
    Wave& wave = *running;
    wave.host_.entered_from();
    sees(&wave.host_);
    wave.fiber_->context.uc_stack = {};  // else a sanitizer cleans what it knows of the stack at every switch
    wave.work_();
    wave.fiber_->at = At::kEnd;
    wave.leave(*wave.fiber_);
  }

  void enter(Fiber& fiber) {
    fiber.at = At::kRuns;
    threadIdx = {fiber.thread, 0, 0};
    blockIdx = {fiber.block->number, 0, 0};
    host_.leave_for(*fiber.sanitized);
    swapcontext(&host_context_, &fiber.context);
    host_.entered();
  }

  void leave(Fiber& fiber) {
    // A barrier shows to all what was done before it; the end, to the host.
    const void* barrier = this;
    if (fiber.at == At::kGridBarrier) barrier = grid_.place();
    if (fiber.at == At::kBlockBarrier) barrier = fiber.block->whole.place();
    if (fiber.at == At::kNamedBarrier) barrier = fiber.block->named[fiber.barrier].place();
    const bool in_order = fiber.at == At::kWarp ? fiber.meeting.in_order : fiber.at != At::kRuns;
    if (fiber.at == At::kWarp)  // as in Barrier
      barrier = warp_of(fiber)[__builtin_ctz(fiber.meeting.mask)].meeting.all + fiber.meeting.number % 2;
    if (in_order) shows(barrier);
    fiber.sanitized->leave_for(host_, fiber.at == At::kEnd);
    swapcontext(&fiber.context, &host_context_);
    fiber.sanitized->entered();
    if (in_order) sees(barrier);
  }

  /// Lane 0 of a thread's warp, whoever meets.
  static Fiber* warp_of(Fiber& fiber) { return &fiber - fiber.thread % kWarp; }

  /// A thread has come to a meeting. If it was the last, all go on.
  void came(Fiber& fiber) {
    const Meeting& a = fiber.meeting;
    Fiber* const warp = warp_of(fiber);
    const std::size_t threads = fibers_.size() / blocks_.size(), lanes = threads - warp->thread;
    if (lanes < kWarp && a.mask >> lanes) fail("a warp waits for a thread that is not there.");
    unsigned all[kWarp] = {};
    for (unsigned set = a.mask; set; set &= set - 1) {
      const unsigned lane = static_cast<unsigned>(__builtin_ctz(set));
      const Meeting& b = warp[lane].meeting;
      if (warp[lane].at != At::kWarp || a.mask != b.mask || a.operation != b.operation) return;
      all[lane] = b.brought;
    }
    for (unsigned set = a.mask; set; set &= set - 1) {
      Fiber& to = warp[__builtin_ctz(set)];
      std::copy_n(all, kWarp, to.meeting.all);
      to.at = At::kRuns;
      ready_.push_back(&to);
    }
  }

  /// A thread has come to a named barrier. All who meet there say how many they are.
  void came_to_named(Fiber& fiber) {
    Barrier& named = fiber.block->named[fiber.barrier];
    if (++named.waiting < fiber.expected) return;
    named.open();
    const std::size_t threads = fibers_.size() / blocks_.size();
    const std::size_t first = static_cast<std::size_t>(fiber.block - blocks_.data()) * threads;
    warp_by_warp_ = draw() % 2;
    for (std::size_t i = first; i < first + threads; ++i) {
      if (fibers_[i].at != At::kNamedBarrier || fibers_[i].barrier != fiber.barrier) continue;
      if (fibers_[i].expected != fiber.expected)
        fail("threads at a named barrier expect different numbers of threads.");
      fibers_[i].at = At::kRuns;
      ready_.push_back(&fibers_[i]);
    }
  }

  /// A thread has come to a barrier or its end. As on a device, threads that have ended are not waited for by those of
  /// their block; a barrier of the grid is for all.
  void arrived(Fiber& fiber) {
    Block& block = *fiber.block;
    if (fiber.at == At::kRuns) return;
    if (fiber.at == At::kWarp) return came(fiber);
    if (fiber.at == At::kNamedBarrier) return came_to_named(fiber);
    if (fiber.at == At::kEnd) --block.alive, --alive_;
    if (fiber.at == At::kBlockBarrier) ++block.whole.waiting;
    if (fiber.at == At::kGridBarrier) ++grid_.waiting;
    if (block.whole.waiting == block.alive)  // both 0: all of the block have ended
      go_on(At::kBlockBarrier, block.whole, &block);
    if (grid_.waiting == fibers_.size()) go_on(At::kGridBarrier, grid_, nullptr);
  }

  void go_on(At at, Barrier& barrier, const Block* block) {
    if (barrier.waiting && block) count_block_barrier();
    if (barrier.waiting && !block) count_grid_barrier();
    barrier.open();
    const std::size_t threads = fibers_.size() / blocks_.size();
    const std::size_t first = block ? static_cast<std::size_t>(block - blocks_.data()) * threads : 0;
    const std::size_t last = block ? first + threads : fibers_.size();
    warp_by_warp_ = draw() % 2;
    for (std::size_t i = first; i < last; ++i)
      if (fibers_[i].at == at) ready_.push_back(&fibers_[i]);
  }

  static inline Wave* running = nullptr;
  const std::function<void()>& work_;
  std::uint64_t& random_;
  std::vector<Fiber> fibers_;
  std::vector<Block> blocks_;
  std::vector<Fiber*> ready_;
  unsigned alive_ = 0;
  Barrier grid_;
  bool warp_by_warp_ = draw() % 2;
  Fiber* fiber_ = nullptr;
  ucontext_t host_context_{};  ///< all of it: a sanitizer reads where its stack is
  SanitizedFiber host_;
};

}  // namespace cuda_on_host
