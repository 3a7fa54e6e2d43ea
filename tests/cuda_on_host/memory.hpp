#pragma once
/// Device memory. It is accessible only while code runs on the device, so that accesses of the host end the process.

namespace cuda_on_host {

/// Makes device memory accessible, to all threads, during this object's lifetime.
struct OnDevice {
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
};

}  // namespace cuda_on_host
