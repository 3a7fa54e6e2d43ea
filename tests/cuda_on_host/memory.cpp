#include "tests/cuda_on_host/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda_runtime.h"
#include "tests/cuda_on_host/calls.hpp"
#include "tests/cuda_on_host/device.hpp"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAlignment = 64;  ///< largest alignment of flitlab's types; CUDA aligns to 256

/// An array in device memory. It ends at the end of a page, and the next page is protected, so an access beyond the
/// array's end faults.
struct Allocation {
  std::byte* pages;
  std::size_t page_bytes;
  std::size_t bytes;  ///< size that was requested
};

std::map<const std::byte*, Allocation> allocations;  ///< by the first byte of the array
std::mutex changes;                                  ///< guards these variables
std::size_t in_use = 0;                              ///< bytes allocated
bool accessible = false;                             ///< an OnDevice object exists
std::mutex device;                                   ///< held by the OnDevice object

void protect(const Allocation& a, int how) {
  if (!mprotect(a.pages, a.page_bytes, how)) return;
  std::perror("CUDA on the host: cannot protect pages of the device");  // the system limits the number of mappings
  std::abort();
}

/// Returns the array that contains these bytes, null if no array contains them.
const Allocation* allocation_of(const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  auto after = allocations.upper_bound(first);
  if (after == allocations.begin()) return nullptr;
  --after;
  const auto offset = static_cast<std::size_t>(first - after->first);
  return offset <= after->second.bytes && bytes <= after->second.bytes - offset ? &after->second : nullptr;
}

/// Calls `work` if `on_device` is in device memory and `on_host` is not; otherwise returns an error.
template <class Work>
cudaError_t copy(const void* on_device, std::size_t device_bytes, const void* on_host, Work work) {
  const std::lock_guard lock(changes);
  on_host ? cuda_on_host::count_copy_call(device_bytes) : cuda_on_host::count_launch_call();
  const Allocation* a = allocation_of(on_device, device_bytes);
  if (!a || allocation_of(on_host, 0)) return cudaErrorInvalidValue;
  if (!accessible) protect(*a, PROT_READ | PROT_WRITE);
  work();
  if (!accessible) protect(*a, PROT_NONE);
  return cudaSuccess;
}

}  // namespace

namespace cuda_on_host {

OnDevice::OnDevice() {
  device.lock();
  const std::lock_guard lock(changes);
  accessible = true;
  for (const auto& [first, a] : allocations) protect(a, PROT_READ | PROT_WRITE);
}

OnDevice::~OnDevice() {
  {
    const std::lock_guard lock(changes);
    accessible = false;
    for (const auto& [first, a] : allocations) protect(a, PROT_NONE);
  }
  device.unlock();
}

void on_device(const std::function<void()>& work) {
  const OnDevice here;
  work();
}

}  // namespace cuda_on_host

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const std::size_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t page_bytes = (aligned + kPage - 1) / kPage * kPage;
  const std::lock_guard lock(changes);
  if (bytes > cuda_on_host::device_bytes() - std::min(in_use, cuda_on_host::device_bytes()))
    return cudaErrorMemoryAllocation;
  void* pages = mmap(nullptr, page_bytes + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
  const Allocation array{static_cast<std::byte*>(pages), page_bytes, bytes};
  protect(array, PROT_READ | PROT_WRITE);
  std::memset(pages, 0xA5, page_bytes);  // fresh memory of a GPU is not zero either
  if (!accessible) protect(array, PROT_NONE);
  in_use += bytes;
  *data = array.pages + (page_bytes - aligned);
  allocations[static_cast<std::byte*>(*data)] = array;
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  if (!data) return cudaSuccess;
  const std::lock_guard lock(changes);
  const auto found = allocations.find(static_cast<std::byte*>(data));
  if (found == allocations.end()) return cudaErrorInvalidValue;
  munmap(found->second.pages, found->second.page_bytes + kPage);
  in_use -= found->second.bytes;
  allocations.erase(found);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  const std::lock_guard lock(changes);
  *all = cuda_on_host::device_bytes();
  *free = *all - std::min(in_use, *all);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* data, int byte, std::size_t bytes) {
  return copy(data, bytes, nullptr, [&] { std::memset(data, byte, bytes); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool down = kind == cudaMemcpyHostToDevice;
  return copy(down ? to : from, bytes, down ? from : to, [&] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  if (!height) return cudaSuccess;
  const bool down = kind == cudaMemcpyHostToDevice;
  const std::size_t device_bytes = (down ? to_pitch : from_pitch) * (height - 1) + width;
  return copy(down ? to : from, device_bytes, down ? from : to, [&] {
    for (std::size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch, static_cast<const std::byte*>(from) + row * from_pitch,
                  width);
  });
}
