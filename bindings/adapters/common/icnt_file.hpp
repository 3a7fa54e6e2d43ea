#pragma once
/// The keys of an .icnt file that concern the interface between a host and the network. The other keys describe the
/// network; they are in the TOML file beside it.
#include <cstdint>
#include <string>
#include <vector>

namespace flitlab_adapters {

struct IcntFile {
  uint32_t flit_size = 32;  ///< bytes
  uint32_t subnets = 1;
  uint32_t num_vcs = 16;
  uint32_t vc_buf_size = 8;            ///< flits
  uint32_t input_buffer_size = 0;      ///< flits that wait at a source; 0: 9
  uint32_t ejection_buffer_size = 0;   ///< flits for each virtual channel of a destination; 0: vc_buf_size
  uint32_t boundary_buffer_size = 16;  ///< flits for each virtual channel of a destination
  uint32_t use_map = 1;                ///< whether memories have terminals of their own choice
  std::vector<uint32_t> memory_node_map;

  /// Flits that wait at a source, at most.
  uint32_t source_room() const { return input_buffer_size ? input_buffer_size : 9; }
  /// Flits that wait at a destination, in all virtual channels, before sources hold packets to it.
  uint64_t destination_room() const {
    const uint32_t ejection = ejection_buffer_size ? ejection_buffer_size : vc_buf_size;
    return (uint64_t{ejection} + boundary_buffer_size) * num_vcs;
  }
};

/// Reads an .icnt file: statements NAME = VALUE, each ended by a semicolon or the end of its line. Throws
/// std::runtime_error with the line of a mistake.
IcntFile read_icnt(const std::string& path);

/// Returns the path of the network's configuration in TOML, which is beside the .icnt file. Throws std::runtime_error
/// with the command that writes it if it does not exist.
std::string toml_beside(const std::string& icnt);

}  // namespace flitlab_adapters
