#include "host/plan/trace_order.hpp"

#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {

std::string first_bytes(std::istream& file) {
  std::string bytes(4, '\0');
  const auto start = file.tellg();
  file.read(bytes.data(), 4);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(start);
  return bytes;
}

bool is_netrace(const std::string& first_bytes) { return first_bytes == "UTJH"; }

bool has_trace_window(const Experiment& e) {
  if (!e.is({param::traffic.mode, "trace"})) return false;
  if (!e.is({param::traffic.trace_order, "auto"})) return e.is({param::traffic.trace_order, "ready"});
  try {
    return is_netrace(first_bytes(*e.text(param::traffic.trace_file).open("traffic.trace_file")));
  } catch (const ConfigError&) {
    return false;
  }
}

}  // namespace flitlab
