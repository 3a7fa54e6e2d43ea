#pragma once
/// Kernel launches with error checks, on a stream for each host thread.
///
/// The jobs of a sweep run in several host threads. The build option --default-stream=per-thread gives each thread a
/// stream of its own for all launches, copies and memsets, so that kernels of several jobs run on the device at the
/// same time. Two rules follow:
///
/// - An engine may be used by one thread after another. So all methods of an engine wait for the thread's stream before
///   they return, except where a kernel or copy on the same stream follows in the same method.
/// - A cooperative launch needs all of its blocks on the device at the same time, and its number of blocks is computed
///   for an empty device. GridQueue limits the cooperative launches that run at the same time, so that two of them
///   cannot each occupy a part of the device and wait for the rest.
///
/// cudaMalloc and cudaFree may wait for the kernels of all threads. So engines allocate when they are made and at their
/// first hash, and free memory at their end.
#include <cuda_runtime.h>

#include <atomic>
#include <utility>

#include "kernels/common/types.hpp"
#include "kernels/engines/cuda_check.cuh"
#include "kernels/engines/grid_queue.hpp"

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "Compile with nvcc --default-stream=per-thread (CMakeLists.txt)."
#endif

namespace flitlab {

/// Waits until the device has executed the work of the calling host thread. The first thread that waits polls, which is
/// fastest. Other threads sleep, because up to 32 polling threads would take the cores from the jobs on the CPU.
inline void wait_for_own_stream() {
  static std::atomic<u32> waiting = 0;
  struct Waits {
    const bool polls = waiting++ == 0;
    cudaEvent_t event = nullptr;
    ~Waits() {
      --waiting;
      if (event) cudaEventDestroy(event);
    }
  } waits;
  if (waits.polls) {
    FLITLAB_CUDA_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    return;
  }
  FLITLAB_CUDA_CHECK(cudaEventCreateWithFlags(&waits.event, cudaEventBlockingSync | cudaEventDisableTiming));
  FLITLAB_CUDA_CHECK(cudaEventRecord(waits.event, cudaStreamPerThread));
  FLITLAB_CUDA_CHECK(cudaEventSynchronize(waits.event));
}

/// Returns the largest block of threads that the kernel's registers allow, in whole warps.
template <class Kernel>
u32 most_threads(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  FLITLAB_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return static_cast<u32>(attributes.maxThreadsPerBlock) / 32 * 32;
}

/// Lets a kernel be launched with up to `most_bytes` of shared memory per block; CUDA allows 48 KiB by itself.
template <class Kernel>
void allow_shared_bytes(Kernel* kernel, u32 most_bytes) {
  if (most_bytes > 48u << 10)
    FLITLAB_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most_bytes)));
}

/// Returns an attribute of the device in use.
inline u32 device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  FLITLAB_CUDA_CHECK(cudaGetDevice(&device));
  FLITLAB_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return static_cast<u32>(value);
}
inline u32 multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }

/// Returns the blocks that the device runs at the same time, at least one per multiprocessor.
template <class Kernel>
u32 blocks_at_once(Kernel* kernel, u32 threads, u32 shared_bytes) {
  int each = 0;
  FLITLAB_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), shared_bytes));
  return multiprocessors() * static_cast<u32>(each < 1 ? 1 : each);
}

/// Launches a kernel. `cooperative`: all blocks run at the same time and can use grid barriers; the function then
/// returns when the kernel has ended. `shared_bytes`: shared memory per block.
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), u32 blocks, u32 threads, u32 shared_bytes, bool cooperative,
                   Arguments&&... arguments) {
  const GridQueue::Turn turn(cooperative ? blocks : 0, cooperative ? multiprocessors() : 0);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = cooperative;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  FLITLAB_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
  if (cooperative) wait_for_own_stream();
}

/// Launches one thread for each of `n` elements, without barriers.
template <class... Parameters, class... Arguments>
void launch_for_each(void (*kernel)(Parameters...), u64 n, Arguments&&... arguments) {
  const u32 threads = most_threads(kernel) < 256 ? most_threads(kernel) : 256;
  if (n)
    launch_kernel(kernel, static_cast<u32>((n + threads - 1) / threads), threads, 0, false,
                  std::forward<Arguments>(arguments)...);
}

}  // namespace flitlab
