#include "host/routers/t3e/numbers.hpp"

#include <algorithm>
#include <map>

#include "host/config/check.hpp"
#include "host/config/csv.hpp"
#include "host/routers/t3e/tables.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/t3e/params.hpp"

namespace flitlab::t3e {
namespace {

std::string shown_address(u32 address) {
  return "(" + std::to_string(ordinate(address, 0)) + "," + std::to_string(ordinate(address, 1)) + "," +
         std::to_string(ordinate(address, 2)) + ")";
}

std::vector<u32> from_file(const Shape& shape, const std::string& file) {
  std::vector<u32> logical(shape.nodes(), kNone);
  read_csv(flitlab::t3e::param::topology.logical_file.path, TextSource(file),
           [&](const std::vector<double>& f, std::size_t line) {
             const std::string where = "topology.logical_file: " + file + ":" + std::to_string(line) + ": ";
             bool whole = f.size() == 4;
             for (double x : f) whole = whole && x >= 0 && x < 4096 && x == static_cast<u32>(x);
             if (!whole) throw ConfigError(where + "a line must be x,y,z,number with a number from 0 to 4095.");
             const u32 address = pack_address(static_cast<u32>(f[0]), static_cast<u32>(f[1]), static_cast<u32>(f[2]));
             const u32 node = f[0] < 8 && f[1] < 32 && f[2] < 16 ? shape.node_at(address) : kNone;
             if (node == kNone) throw ConfigError(where + "this node does not exist.");
             logical[node] = static_cast<u32>(f[3]);
           });
  for (u32 n = 0; n < shape.nodes(); ++n)
    if (logical[n] == kNone)
      throw ConfigError("topology.logical_file: " + file + ": node " + shown_address(shape.address(n)) +
                        " has no line. Add one.");
  return logical;
}

/// Throws ConfigError if two logical numbers are equal, or if the numbers do not fit the mode of R_NET_LUT. `source`:
/// the parameter that defines the numbers, for the message.
void check_numbers(const std::string& source, const Shape& shape, u32 lut_mode, const std::vector<u32>& logical) {
  const u32 most = lut_mode == 0 ? kLutRegisters : kMostPes;
  std::map<u32, u32> owner;
  for (u32 n = 0; n < shape.nodes(); ++n) {
    const std::string name =
        "logical PE number " + std::to_string(logical[n]) + " of node " + shown_address(shape.address(n));
    const auto [other, is_new] = owner.emplace(logical[n], n);
    if (!is_new)
      throw ConfigError(source + ": " + name + " is that of node " + shown_address(shape.address(other->second)) +
                        " as well. Use distinct numbers.");
    if (logical[n] >= most)
      throw ConfigError(source + ": " + name + " does not fit mode " + std::to_string(lut_mode) +
                        " of the routing tables, which end at " + std::to_string(most - 1) + ".");
  }
  if (lut_mode == 0) return;
  std::map<u32, u32> group;  // number of the group of 2 x 2 nodes at an address
  for (u32 n = 0; n < shape.nodes(); ++n) {
    const u32 address = shape.address(n), x = address & 1, y = address >> 8 & 1;
    const u32 low = lut_mode == 1 ? y << 1 | x : x << 1 | y;
    const u32 base = group.emplace(logical[n] >> 2, address & ~pack_address(1, 1, 0)).first->second;
    if ((logical[n] & 3) != low || base != (address & ~pack_address(1, 1, 0)))
      throw ConfigError(source + ": in mode " + std::to_string(lut_mode) + " logical PE number " +
                        std::to_string(logical[n]) + " cannot be that of node " + shown_address(address) +
                        ": the two low bits are bit 0 of " + (lut_mode == 1 ? "Y and X" : "X and Y") +
                        ", and the other bits are the same for the four nodes of a board. Use mode 0 or other "
                        "numbers.");
  }
}

}  // namespace

std::vector<u32> number_pes(const Shape& shape, u32 lut_mode, const std::vector<u32>& format, const std::string& file) {
  std::vector<u32> logical(shape.nodes());
  if (!file.empty()) {
    logical = from_file(shape, file);
  } else if (!format.empty()) {
    for (u32 bit : format)
      if (!(0xF1F07u >> bit & 1))
        throw ConfigError("topology.logical_format contains " + std::to_string(bit) +
                          ": R_PWHO has bits 0 to 2 (X), 8 to 12 (Y) and 16 to 19 (Z).");
    for (u32 n = 0; n < shape.nodes(); ++n)
      for (u32 bit : format) logical[n] = logical[n] << 1 | (shape.address(n) >> bit & 1);
  } else if (lut_mode == 0) {
    for (u32 n = 0; n < shape.nodes(); ++n) logical[n] = n;
  } else {
    std::map<u32, u32> group;
    for (u32 n = 0; n < shape.nodes(); ++n) {
      const u32 address = shape.address(n), x = address & 1, y = address >> 8 & 1;
      const u32 number = group.emplace(address & ~pack_address(1, 1, 0), static_cast<u32>(group.size())).first->second;
      logical[n] = number << 2 | (lut_mode == 1 ? y << 1 | x : x << 1 | y);
    }
  }
  const std::string_view source = !file.empty()     ? flitlab::t3e::param::topology.logical_file.path
                                  : !format.empty() ? flitlab::t3e::param::topology.logical_format.path
                                                    : flitlab::t3e::param::topology.shape.path;
  check_numbers(std::string(source), shape, lut_mode, logical);
  return logical;
}

Assignment assign_pes(const Shape& shape, u32 lut_mode, std::vector<u32>& logical, const std::vector<u32>& broken_nodes,
                      const std::vector<u32>& spares, const std::vector<u32>& partitions) {
  const u32 nodes = shape.nodes();
  Assignment assignment;
  assignment.in_service.assign(nodes, true);
  for (u32 node : broken_nodes) assignment.in_service[node] = false;
  std::vector<u32> position(nodes);  // each node's position in the application if there are no partitions
  for (u32 n = 0; n < nodes; ++n) position[n] = n;
  std::vector<u32> free;
  for (u32 node : spares) {
    if (node >= nodes)
      throw ConfigError("topology.spares contains " + std::to_string(node) + ": nodes are numbered 0 to " +
                        std::to_string(nodes - 1) + ".");
    if (std::count(spares.begin(), spares.end(), node) > 1)
      throw ConfigError("topology.spares contains " + std::to_string(node) + " twice.");
    if (assignment.in_service[node]) free.push_back(node);
  }
  if (!spares.empty() && lut_mode != 0)
    throw ConfigError("topology.spares: in mode " + std::to_string(lut_mode) +
                      " the low bits of a logical number are fixed by the node's coordinates, so PEs cannot take "
                      "over numbers. Use routing.lut_mode = \"0\".");
  std::vector<bool> idle(nodes, false);
  for (u32 node : free) idle[node] = true;
  auto next = free.begin();
  for (u32 n = 0; n < nodes; ++n) {
    const bool is_spare = std::find(spares.begin(), spares.end(), n) != spares.end();
    if (assignment.in_service[n] || is_spare || next == free.end()) continue;
    std::swap(logical[n], logical[*next]);
    std::swap(position[n], position[*next]);
    idle[*next++] = false;
  }

  if (partitions.empty()) {
    Application all;
    for (u32 n = 0; n < nodes; ++n)
      if (assignment.in_service[n] && !idle[n]) all.push_back(n);
    if (all.empty()) throw ConfigError("faults.nodes and topology.spares leave no PE to work.");
    assignment.all_nodes = all.size() == nodes;
    std::sort(all.begin(), all.end(), [&](u32 a, u32 b) { return position[a] < position[b]; });
    assignment.applications.push_back(all);
    return assignment;
  }
  const std::string shown_partitions =
      "topology.partitions = " + shown(Value{IntList(partitions.begin(), partitions.end())}) + ": ";
  if (partitions.size() % 2)
    throw ConfigError(shown_partitions +
                      "give two numbers for each partition, its base logical PE number and its virtual limit.");
  std::map<u32, u32> node_of;
  for (u32 n = 0; n < nodes; ++n) node_of[logical[n]] = n;
  std::vector<bool> taken(nodes, false);
  for (std::size_t i = 0; i < partitions.size(); i += 2) {
    Application members;
    for (u32 number = partitions[i]; number <= partitions[i] + partitions[i + 1]; ++number) {
      const std::string pe = "logical PE " + std::to_string(number) + " of partition " + std::to_string(i / 2 + 1);
      const auto node = node_of.find(number);
      if (node == node_of.end()) throw ConfigError(shown_partitions + pe + " is outside the machine.");
      if (!assignment.in_service[node->second]) throw ConfigError(shown_partitions + pe + " is broken. Add a spare.");
      if (taken[node->second]) throw ConfigError(shown_partitions + pe + " is in another one as well.");
      taken[node->second] = true;
      members.push_back(node->second);
    }
    assignment.applications.push_back(members);
  }
  return assignment;
}

}  // namespace flitlab::t3e
