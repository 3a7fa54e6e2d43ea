#pragma once
/// Memory of the device. The host cannot touch it: it can be reached while something runs on the device, and no longer.

namespace cuda_on_host {

/// Lets this thread, and all others, reach the device's memory while it lives.
struct OnDevice {
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
};

}  // namespace cuda_on_host
