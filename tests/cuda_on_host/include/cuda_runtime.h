#pragma once
/// The part of CUDA's language and runtime that flitlab's engine uses, for an emulated device. Names, arguments and
/// rules are CUDA's (CUDA C++ Programming Guide; CUDA Runtime API). Like nvcc, the build includes it before all other
/// headers.
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#define CUDA_ON_HOST 1
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1  // streams are not emulated: all calls end before they return

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned to_x = 1, unsigned to_y = 1, unsigned to_z = 1) : x(to_x), y(to_y), z(to_z) {}
};

// Indices of the running thread; the scheduler sets them.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

enum cudaError_t {
  cudaSuccess,
  cudaErrorInvalidValue,
  cudaErrorMemoryAllocation,
  cudaErrorInvalidConfiguration,
  cudaErrorIllegalAddress,
  cudaErrorCooperativeLaunchTooLarge,
};
const char* cudaGetErrorString(cudaError_t);

enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost };
cudaError_t cudaMalloc(void** data, std::size_t bytes);
template <class T>
cudaError_t cudaMalloc(T** data, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(data), bytes);
}
cudaError_t cudaFree(void* data);
cudaError_t cudaMemset(void* data, int byte, std::size_t bytes);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind);

struct cudaDeviceProp {
  char name[64];
  int multiProcessorCount;
  std::size_t totalGlobalMem;
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all);

using cudaStream_t = const void*;
using cudaEvent_t = void*;
inline constexpr cudaStream_t cudaStreamPerThread = nullptr;
enum { cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);

struct cudaFuncAttributes {
  int maxThreadsPerBlock;
};
namespace cuda_on_host {
inline constexpr int kSharedBytes = 227 << 10;  ///< limit per block
int max_threads_per_block();
void barrier_of_block();
/// Waits until `threads` threads of the block have arrived at its barrier with this number.
void named_barrier(unsigned barrier, unsigned threads);
void barrier_of_grid();
/// Lets other threads run. Ends the process if all threads that can run only sleep.
void sleep();
/// Returns the shared memory of the running thread's block.
std::byte* shared_memory();
/// Waits for the threads of the warp in `mask`, each of which must execute the same operation with the same mask.
/// Returns the values of these threads, `[thread of the warp]`. `in_order`: orders their memory accesses.
const unsigned* synchronise_warp(unsigned mask, const char* operation, unsigned value, bool in_order);
/// Returns the threads whose predicate is not 0, as bits.
unsigned vote(unsigned mask, const char* operation, int predicate);
cudaError_t launch(dim3 grid, dim3 block, std::size_t shared_bytes, bool cooperative,
                   const std::function<void()>& thread);
/// Runs the work of a library on the device, outside of flitlab's kernels. Device memory is accessible meanwhile.
void on_device(const std::function<void()>& work);
}  // namespace cuda_on_host

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  attributes->maxThreadsPerBlock = cuda_on_host::max_threads_per_block();
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads, std::size_t) {
  *blocks = threads <= cuda_on_host::max_threads_per_block() ? 1 : 0;
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int bytes) {
  return bytes <= cuda_on_host::kSharedBytes ? cudaSuccess : cudaErrorInvalidValue;
}

enum cudaLaunchAttributeID { cudaLaunchAttributeCooperative };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int cooperative;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  void* stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
/// Copies the arguments at the launch and again for each thread, so that no thread can change the arguments of another
/// one.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
  const bool cooperative = config->numAttrs && config->attrs->val.cooperative;
  return cuda_on_host::launch(config->gridDim, config->blockDim, config->dynamicSmemBytes, cooperative,
                              [&] { std::apply(kernel, copies); });
}

inline void __syncthreads() { cuda_on_host::barrier_of_block(); }
inline void __barrier_sync_count(unsigned barrier, unsigned threads) { cuda_on_host::named_barrier(barrier, threads); }
/// Does nothing: threads switch only at barriers, so memory accesses are always in order.
inline void __threadfence() {}
/// Called by a thread that polls: lets other threads run.
inline void __nanosleep(unsigned) { cuda_on_host::sleep(); }

// Operations of a warp. Only __syncwarp orders memory.
inline void __syncwarp(unsigned mask = ~0u) { cuda_on_host::synchronise_warp(mask, "__syncwarp", 0, true); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return cuda_on_host::vote(mask, "__ballot_sync", predicate);
}
inline int __any_sync(unsigned mask, int predicate) { return cuda_on_host::vote(mask, "__any_sync", predicate) != 0; }
inline unsigned __shfl_sync(unsigned mask, unsigned value, unsigned lane, unsigned width = 32) {
  const unsigned from = threadIdx.x % 32 / width * width + lane % width;
  return cuda_on_host::synchronise_warp(mask, "__shfl_sync", value, false)[from];
}
inline unsigned __shfl_up_sync(unsigned mask, unsigned value, unsigned distance, unsigned width = 32) {
  const unsigned lane = threadIdx.x % 32, from = lane % width < distance ? lane : lane - distance;
  return cuda_on_host::synchronise_warp(mask, "__shfl_up_sync", value, false)[from];
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  const unsigned* values = cuda_on_host::synchronise_warp(mask, "__reduce_add_sync", value, false);
  unsigned sum = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) sum += values[lane];
  return sum;
}

namespace cuda_on_host {
/// If true (CUDA_ON_HOST_WITHOUT=atomics), other threads run between the load and the store of an atomic.
extern bool atomics_are_torn;
void pause();

/// Applies an atomic operation to a cell. No other thread runs in between; the accesses are atomic so that the thread
/// sanitizer reports no race.
template <class T, class F>
T update(T* cell, F f) {
  const T old = __atomic_load_n(cell, __ATOMIC_RELAXED);
  if (atomics_are_torn) pause();
  __atomic_store_n(cell, f(old), __ATOMIC_RELAXED);
  return old;
}
}  // namespace cuda_on_host

template <class T>
T atomicAdd(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMin(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T old) { return value < old ? value : old; });
}
template <class T>
T atomicMax(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T old) { return old < value ? value : old; });
}
template <class T>
T atomicOr(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T old) { return old | value; });
}
template <class T>
T atomicAnd(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T old) { return old & value; });
}

template <class T>
T atomicExch(T* cell, T value) {
  return cuda_on_host::update(cell, [&](T) { return value; });
}
template <class T>
T atomicCAS(T* cell, T expected, T value) {
  return cuda_on_host::update(cell, [&](T old) { return old == expected ? value : old; });
}

constexpr int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
