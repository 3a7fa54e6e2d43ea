#include "kernels/engines/device_hash.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>

namespace flitlab {

u64 DeviceHash::part(const HashWord& word, u64 words) {
  if (!sum_.size()) sum_ = DeviceArray<u64>(1);
  const auto terms = thrust::make_transform_iterator(thrust::make_counting_iterator(u64{0}), word);
  std::size_t bytes = 0;
  FLITLAB_CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, terms, sum_.data(), words));
  if (bytes > scratch_.size()) scratch_ = DeviceArray<std::byte>(bytes);
  FLITLAB_CUDA_CHECK(cub::DeviceReduce::Sum(scratch_.data(), bytes, terms, sum_.data(), words));
  u64 sum = 0;
  sum_.copy_to(&sum, 1);
  return sum;
}

}  // namespace flitlab
