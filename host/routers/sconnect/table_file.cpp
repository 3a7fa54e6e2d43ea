/// Routing tables read from routing.file.
#include <charconv>
#include <map>

#include "host/config/field_file.hpp"
#include "host/routers/sconnect/make_tables.hpp"
#include "host/routers/sconnect/order.hpp"
#include "kernels/common/error.hpp"
#include "kernels/routers/sconnect/params.hpp"
#include "kernels/routers/sconnect/route.hpp"

namespace flitlab {

namespace {

bool has_host(const SconnectFabric& f, u32 tic) {
  for (u32 port = sconnect::kSerial; port < sconnect::kPorts; ++port)
    if (f.link(tic, port).kind == sconnect::LinkKind::kHost) return true;
  return false;
}

}  // namespace

SconnectTables read_sconnect_tables(const SconnectFabric& f, const TextSource& text) {
  FieldFile file(sconnect::param::routing.file.path, text);
  std::map<std::string, u32, std::less<>> tics;
  for (u32 tic = 0; tic < f.tics; ++tic) tics[f.names[tic]] = tic;
  const auto tic_of = [&](std::string_view name) {
    if (const auto found = tics.find(name); found != tics.end()) return found->second;
    u32 number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size() || number >= f.tics)
      file.fail("there is no TIC \"" + std::string(name) + "\". TICs are " + f.names.front() + " to " + f.names.back() +
                ", or numbers from 0 to " + std::to_string(f.tics - 1) + ".");
    return number;
  };
  std::vector<u16> entry = sconnect_host_entries(f);
  while (file.next()) {
    if (file.fields() != 4) file.fail("a line is TIC,destination node,port,virtual channel.");
    const u32 tic = tic_of(file.field(0)), node = file.number(1, "destination node", f.nodes - 1);
    const u32 port = file.number(2, "port", sconnect::kPorts - 1);
    const u32 vc = file.number(3, "virtual channel", sconnect::kVcs - 1);
    if (f.node_of[tic] == node && has_host(f, tic))
      file.fail("TIC " + f.names[tic] + " has a port to the destination's host and always uses it. Remove the line.");
    if (!leads_to_tic(f.link(tic, port)))
      file.fail("port " + std::to_string(port) + " of TIC " + f.names[tic] + " leads to no other TIC.");
    if (vc >= f.vcs(tic, port))
      file.fail("port " + std::to_string(port) + " of TIC " + f.names[tic] +
                " is a parallel port without virtual channels. Write 0, or set topology.parallel_vcs = 2.");
    u16& options = entry[std::size_t{tic} * f.nodes + node];
    options |= static_cast<u16>(sconnect::option(port, vc));
    if (!f.mixed_entries && sconnect::is_mixed(options))
      file.fail("TIC " + f.names[tic] + " would have serial and parallel ports in its entry for node " +
                std::to_string(node) + ". Remove lines, or set routing.entries = \"mixed\".");
  }
  for (u32 tic = 0; tic < f.tics; ++tic)
    for (u32 port = sconnect::kSerial; port < sconnect::kPorts; ++port) {
      if (f.node_of[tic] == kNone || f.link(tic, port).kind != sconnect::LinkKind::kParallel) continue;
      u16& own = entry[std::size_t{tic} * f.nodes + f.node_of[tic]];
      if (!own) own = static_cast<u16>(sconnect::option(port, f.vcs(tic, port) - 1));
    }
  if (const std::string fault = sconnect_table_fault(f, entry); !fault.empty())
    throw ConfigError("routing.file: " + text.path() + ": " + fault + " Correct the lines of these TICs.");
  return given_sconnect_tables(f, std::move(entry));
}

}  // namespace flitlab
