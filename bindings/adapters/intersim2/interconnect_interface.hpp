#pragma once
/// `InterconnectInterface` on top of flitlab: the class through which GPGPU-Sim uses intersim2. The functions
/// icnt_create, icnt_push and so on in GPGPU-Sim's icnt_wrapper.cc call its methods.
#include <cstdio>
#include <memory>

/// Devices are numbered: first the shaders, then the memories. With two sub-networks, packets of shaders are in the
/// first one and packets of memories in the second one. Wrong arguments, a wrong configuration and a deadlock throw
/// std::runtime_error.
class InterconnectInterface {
 public:
  /// `config_file`: an .icnt file. The network is in the TOML file of the same name beside it.
  static InterconnectInterface* New(const char* config_file);
  virtual ~InterconnectInterface();

  virtual void CreateInterconnect(unsigned n_shader, unsigned n_mem);
  /// Sets time and statistics to 0. Packets stay on their way.
  virtual void Init();

  /// Returns whether the input buffer of a device has room for a packet.
  virtual bool HasBuffer(unsigned device, unsigned bytes) const;
  virtual void Push(unsigned source, unsigned destination, void* data, unsigned bytes);
  /// Removes the packet that arrived first at a device and returns it; a null pointer if there is none.
  virtual void* Pop(unsigned device);
  /// Emulates a cycle.
  virtual void Advance();
  /// Returns whether packets are on their way or wait to be popped.
  virtual bool Busy() const;

  /// Print a line for each sub-network: since Init(), and since the beginning.
  virtual void DisplayStats() const;
  virtual void DisplayOverallStats() const;
  virtual void DisplayState(FILE* file) const;

  unsigned GetFlitSize() const;  ///< bytes
  int GetIcntTime() const;       ///< cycles since Init()
  /// Returns the terminal of a device.
  unsigned Terminal(unsigned device) const;

 private:
  struct Parts;
  explicit InterconnectInterface(const char* config_file);
  std::unique_ptr<Parts> parts_;
};

extern InterconnectInterface* g_icnt_interface;
