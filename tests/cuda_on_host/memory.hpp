#pragma once
/// Memory of the emulated device. It is accessible only while code runs on the device, so an access by the host ends
/// the process.

namespace cuda_on_host {

/// Makes device memory accessible to all threads during this object's lifetime.
struct OnDevice {
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
};

}  // namespace cuda_on_host
