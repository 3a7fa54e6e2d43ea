#pragma once
/// Cooperative launches of several host threads on one device.
#include <condition_variable>
#include <mutex>

#include "kernels/common/types.hpp"

namespace flitlab {

/// Queue of the grids (cooperative launches) of this process. Grids that run at the same time have at most as many
/// blocks as the device has multiprocessors, or only one grid runs.
///
/// This excludes a deadlock, in which two grids each have some of their blocks on the device and wait at a grid barrier
/// for the others. While a block of a grid has no place, fewer blocks of grids than multiprocessors have one, so some
/// multiprocessor has none. Blocks of other kernels do not wait for other blocks. They end, and then this
/// multiprocessor has room for the block.
class GridQueue {
 public:
  /// A grid's right to run, from construction to destruction. The constructor waits; grids run in the order in which
  /// they were created. With 0 blocks it does nothing.
  class Turn {
   public:
    Turn(u32 blocks, u32 multiprocessors) : blocks_(blocks) {
      if (blocks) of_process().enter(blocks, multiprocessors);
    }
    ~Turn() {
      if (blocks_) of_process().leave(blocks_);
    }
    Turn(const Turn&) = delete;

   private:
    const u32 blocks_;
  };

 private:
  static GridQueue& of_process() {
    static GridQueue queue;
    return queue;
  }

  void enter(u32 blocks, u32 multiprocessors) {
    std::unique_lock lock(mutex_);
    const u64 number = created_++;
    changed_.wait(lock, [&] { return number == started_ && (!running_ || running_ + blocks <= multiprocessors); });
    ++started_;
    running_ += blocks;
    changed_.notify_all();
  }

  void leave(u32 blocks) {
    const std::lock_guard lock(mutex_);
    running_ -= blocks;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  u64 created_ = 0, started_ = 0;  ///< number of grids that have been created, and that have started
  u32 running_ = 0;                ///< blocks of the running grids
};

}  // namespace flitlab
