#include "host/run/vc_rows.hpp"

#include <algorithm>
#include <variant>

namespace flitlab {
namespace {

struct AsNumber {
  std::vector<std::string>& names;

  std::int64_t operator()(const std::string& name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return names.push_back(name), static_cast<std::int64_t>(names.size()) - 1;
    return found - names.begin();
  }
  std::int64_t operator()(bool x) const { return x; }
  std::int64_t operator()(std::int64_t x) const { return x; }
  std::int64_t operator()(u64 x) const { return static_cast<std::int64_t>(x); }
  template <class Other>
  std::int64_t operator()(const Other&) const {
    return -1;
  }
};

}  // namespace

std::vector<std::int64_t> vc_rows(const SteppedNetwork& network, const std::vector<u32>& routers,
                                  std::vector<std::string>& stages) {
  std::vector<std::int64_t> rows;
  for (const u32 router : routers) {
    const InspectNode node = network.router(router, false);
    for (std::size_t p = 0; p < node.parts.size(); ++p)
      for (std::size_t v = 0; v < node.parts[p].parts.size(); ++v) {
        rows.insert(rows.end(), {std::int64_t{router}, static_cast<std::int64_t>(p), static_cast<std::int64_t>(v)});
        for (const InspectValue& value : node.parts[p].parts[v].values)
          rows.push_back(std::visit(AsNumber{stages}, value.value.value));
      }
  }
  return rows;
}

}  // namespace flitlab
