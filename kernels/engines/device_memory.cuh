#pragma once
/// Owning array in device memory.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engines/cuda_launch.cuh"

namespace flitlab {

/// Copies end before the functions return, so that the next call may come from another host thread (cuda_launch.cuh).
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t n) : size_(n) {
    if (n) allocate(n * sizeof(T));
  }
  DeviceArray(const T* host, std::size_t n) : DeviceArray(n) { copy_from(host, n); }
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void copy_from(const T* host, std::size_t n, std::size_t at = 0) {
    if (!n) return;
    FLITLAB_CUDA_CHECK(cudaMemcpy(data_ + at, host, n * sizeof(T), cudaMemcpyHostToDevice));
    wait_for_own_stream();
  }
  void copy_to(T* host, std::size_t n, std::size_t at = 0) const {
    if (!n) return;
    wait_for_own_stream();  // for the kernels that write the array; the copy itself would poll
    FLITLAB_CUDA_CHECK(cudaMemcpy(host, data_ + at, n * sizeof(T), cudaMemcpyDeviceToHost));
  }
  void zero() {
    if (!size_) return;
    FLITLAB_CUDA_CHECK(cudaMemset(data_, 0, size_ * sizeof(T)));
    wait_for_own_stream();
  }

 private:
  void allocate(std::size_t bytes) {
    const cudaError_t status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation)
      throw DeviceFull("the device has no room for " + std::to_string((bytes + 999999) / 1000000) +
                       " MB more of this job. Run fewer replicas at a time, or use backend cpu.");
    FLITLAB_CUDA_CHECK(status);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flitlab
