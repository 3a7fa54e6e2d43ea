#pragma once
/// Readers of files of packets. Each reads one format, from the first packet to the last.
#include <memory>
#include <string>
#include <vector>

#include "host/config/experiment.hpp"
#include "host/plan/archive.hpp"

namespace flitlab {

/// A packet of a trace.
struct TracePacket {
  u64 cycle;                ///< earliest creation
  u64 source, destination;  ///< terminals
  u64 flits;
  std::vector<u64>
      needs;  ///< numbers of packets that must have arrived first; packets of the trace are numbered from 0
  u64 of_class = 0;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;

  /// Reads the next packet into `packet`. Returns false at the end of the trace. ConfigError if the file is wrong.
  virtual bool read(TracePacket& packet) = 0;
  /// Throws ConfigError about the packet that read() has returned last; the message names its place in the file.
  [[noreturn]] virtual void fail(const std::string& what) const = 0;
  /// Returns the remedy for a packet that the network cannot carry.
  virtual std::string leave_out() const = 0;

  /// Save and load the place in the file. `again`: read() will return the packet that it has returned last once more.
  /// load() throws ConfigError if the size of the file has changed.
  virtual void save(Saver& saver, bool again) const = 0;
  virtual void load(Loader& loader) = 0;

 protected:
  /// ConfigError if the size of a file differs from the size that has been saved.
  static void require_same_size(const std::string& path, u64 saved, u64 size);
};

/// Opens the trace of an experiment and recognises its format. ConfigError if the file cannot be read.
std::unique_ptr<TraceReader> open_trace(const Experiment& experiment);

namespace detail {
/// `several_needs`: whether a packet may need several packets.
std::unique_ptr<TraceReader> open_csv(std::unique_ptr<std::istream> file, std::string path, bool several_needs);
/// `regions`: numbers of the regions to read; empty: all. `classes`: into how many classes packets are divided.
std::unique_ptr<TraceReader> open_netrace(std::unique_ptr<std::istream> file, std::string path, u32 flit_bytes,
                                          std::vector<u32> regions, u32 classes);
}  // namespace detail

}  // namespace flitlab
