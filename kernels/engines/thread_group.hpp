#pragma once
/// Threads that share a replica: their barrier, and the division of a phase's items among them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/common/portable.hpp"
#include "kernels/common/types.hpp"

namespace flitlab {

/// Spinning barrier for short steps. If a thread is late, the others sleep instead of yielding: on a shared core, a
/// thread that yields (as std::atomic's wait() does at first) gets the core back only after all other runnable threads.
class SpinBarrier {
 public:
  explicit SpinBarrier(u32 parties) : parties_(parties) {}

  void wait() {
    const u32 generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(1);
      if (!sleepers_) return;  // a thread that sleeps later first sees the new generation
      const std::lock_guard lock(mutex_);
      all_here_.notify_all();
      return;
    }
    for (u32 spins = 0; spins < 4096; ++spins)
      if (generation_.load(std::memory_order_acquire) != generation) return;
    std::unique_lock lock(mutex_);
    ++sleepers_;
    all_here_.wait(lock, [&] { return generation_ != generation; });
    --sleepers_;
  }

 private:
  const u32 parties_;
  alignas(64) std::atomic<u32> arrived_{0};
  alignas(64) std::atomic<u32> generation_{0};
  std::atomic<u32> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable all_here_;
};

/// Runs work(thread) on `threads` threads; the caller is thread 0. Either all of them run or none: if one cannot be
/// started (no memory, a system limit), those already started end, and run_on_threads throws the error.
template <class F>
void run_on_threads(u32 threads, F&& work) {
  enum : u32 { kWait, kGo, kCancel };
  std::atomic<u32> signal{kWait};
  const auto send_signal = [&](u32 what) {
    signal = what;
    signal.notify_all();
  };
  std::vector<portable::Thread> pool;
  try {
    pool.reserve(threads - 1);
    for (u32 thread = 1; thread < threads; ++thread)
      pool.emplace_back([&work, &signal, thread] {
        signal.wait(kWait);
        if (signal == kGo) work(thread);
      });
  } catch (const std::system_error& error) {
    send_signal(kCancel);
    throw RunError(std::to_string(threads) + " threads cannot be started: " + error.code().message() +
                   ". Set a smaller number of threads.");
  } catch (...) {
    send_signal(kCancel);
    throw;
  }
  send_signal(kGo);
  work(0u);
}

/// The threads that share a replica. Each thread has a part of a phase's items, which it visits in shares (short ranges
/// of items). A thread that has finished its part takes shares from the parts of other threads. So a core that is
/// slowed down by other work does not delay the rest.
class ThreadGroup {
 public:
  static constexpr u32 kMaxPhases = 16, kShare = 512;

  explicit ThreadGroup(u32 parts) : parts_(parts), barrier_(parts), next_(2 * kMaxPhases * parts) {}

  u32 parts() const { return parts_; }
  void wait() { barrier_.wait(); }

  /// Clears this thread's share counts for the next cycle; no thread reads them before the barrier that ends this
  /// cycle. Every thread calls it at the start of a cycle.
  void start_cycle(u32 part, Cycle cycle) {
    for (u32 phase = 0; phase < kMaxPhases; ++phase) next(cycle + 1, phase, part).store(0, std::memory_order_relaxed);
  }

  /// The shares of `n` items that a thread takes in a phase, one after another. Each share begins at a multiple of
  /// `group`.
  class Shares {
   public:
    /// `thread_group`: null for a thread that processes a replica alone; its only share is all items.
    FLITLAB_INLINE Shares(ThreadGroup* thread_group, u32 part, Cycle cycle, u32 phase, u32 n, u32 group)
        : team_(thread_group), part_(part), phase_(phase), n_(n), group_(group), cycle_(cycle) {}

    /// Writes the next share to `begin` and `end`. Returns false after the last one.
    FLITLAB_INLINE bool next(u32& begin, u32& end) {
      if (team_) return team_->take_share(*this, begin, end);
      if (tried_++) return false;
      begin = 0;
      end = n_;
      return true;
    }

   private:
    friend class ThreadGroup;
    ThreadGroup* team_;
    u32 part_, phase_, n_, group_;
    u32 tried_ = 0;  ///< number of parts whose shares are all taken
    Cycle cycle_;
  };

 private:
  struct alignas(64) Count {
    std::atomic<u32> taken{0};
  };

  bool take_share(Shares& s, u32& begin, u32& end) {
    const auto bound = [&](u64 k) {
      return static_cast<u32>(std::min<u64>((s.n_ * k / parts_ + s.group_ - 1) / s.group_ * s.group_, s.n_));
    };
    for (; s.tried_ < parts_; ++s.tried_) {
      const u32 owner = (s.part_ + s.tried_) % parts_;
      const u32 last = bound(owner + 1);
      begin = bound(owner) + next(s.cycle_, s.phase_, owner).fetch_add(kShare, std::memory_order_relaxed);
      end = std::min(begin + kShare, last);
      if (begin < last) return true;
    }
    return false;
  }

  std::atomic<u32>& next(Cycle cycle, u32 phase, u32 part) {
    return next_[((cycle & 1) * kMaxPhases + phase) * parts_ + part].taken;
  }

  const u32 parts_;
  SpinBarrier barrier_;
  std::vector<Count> next_;  ///< [cycle & 1][phase][part] items of the part that have been taken
};

}  // namespace flitlab
