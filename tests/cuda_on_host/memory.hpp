#pragma once
/// Memory of the emulated device. It is accessible only while code runs on the device, so an access by the host ends
/// the process.

namespace cuda_on_host {

/// The right of a host thread to run code on the device: one thread at a time has it. Device memory is accessible
/// during this object's lifetime.
struct OnDevice {
  OnDevice();
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
};

}  // namespace cuda_on_host
