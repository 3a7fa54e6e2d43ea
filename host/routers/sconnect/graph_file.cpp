/// Fabrics read from topology.file.
#include <algorithm>
#include <map>
#include <set>

#include "host/config/field_file.hpp"
#include "host/config/value.hpp"
#include "host/routers/sconnect/build.hpp"
#include "kernels/routers/sconnect/params.hpp"

namespace flitlab {
namespace {

/// Reads a list of channels between numbered nodes, or a list of named nodes, switches and channels.
class Reader {
 public:
  Reader(const TextSource& text, const SconnectNodes& nodes)
      : file_(sconnect::param::topology.file.path, text), nodes_(nodes), builder_("graph", nodes) {}

  SconnectFabric read() {
    while (file_.next()) {
      const std::string_view word = file_.field(0);
      if (word == "node")
        site(true);
      else if (word == "switch")
        site(false);
      else if (word == "channel")
        channel();
      else if (file_.fields() == 2)
        pair();
      else
        file_.fail(kLines);
    }
    if (first_pair_) add_numbered();
    if (nodes_added_ < 2) file_.fail("the file has fewer than two nodes. " + std::string(kLines));
    for (const Channel& c : channels_) join(c);
    if (const u32 site = builder_.cut_off(); site != kNone)
      file_.fail(last_line_, "the graph is disconnected: no path leads from " + builder_.site_name(0) + " to " +
                                 builder_.site_name(site) + ". Join them.");
    return builder_.finish();
  }

 private:
  static constexpr const char* kLines =
      "a line is a,b (two node numbers), or node,NAME[,TICs], switch,NAME[,TICs] or channel,A,B[,clocks].";
  struct Channel {
    u32 line;
    std::string a, b;
    u32 clocks;
  };

  u32 clocks(bool given) {
    if (!given) return nodes_.delay;
    return file_.number(3, "clocks", 360, sconnect::kClocks);
  }

  /// Stores a channel until all lines are read, because a later line may define its ends.
  void add_channel(std::string a, std::string b, u32 clocks) {
    if (a == b) file_.fail(a + " is joined to itself. Remove the line.");
    channels_.push_back({file_.line(), std::move(a), std::move(b), clocks});
  }

  void channel() {
    file_.check_form("channel,A,B[,clocks]");
    if (file_.field(1).empty() || file_.field(2).empty())
      file_.fail("a channel's line is channel,A,B[,clocks]; A and B are the names of its ends.");
    add_channel(std::string(file_.field(1)), std::string(file_.field(2)), clocks(file_.fields() > 3));
  }

  void site(bool node) {
    if (first_pair_)
      file_.fail("the file has lines a,b, such as line " + file_.quote(first_pair_) +
                 "; it cannot "
                 "also have named "
                 "nodes.");
    const std::string name(file_.field(1));
    const u32 least = node ? 1 : 2, most = node ? 2 : 3;
    file_.check_form(node ? "node,NAME[,TICs]" : "switch,NAME[,TICs]");
    u32 tics = node ? nodes_.tics() : 2;
    if (file_.fields() > 2) tics = file_.number(2, "TICs", most, least);
    if (name.empty()) file_.fail("the name is missing.");
    if (sites_.contains(name)) file_.fail("the name " + shown(Value{name}) + " is used twice.");
    if (builder_.sites() == kMostSconnectNodes)
      file_.fail("at most " + std::to_string(kMostSconnectNodes) + " nodes and switches are possible.");
    for (u32 i = 0; i < tics; ++i) {
      const std::string tic = tics == 1 ? name : name + static_cast<char>('a' + i);
      if (!tic_names_.insert(tic).second) file_.fail("two TICs would have the name " + tic + ".");
    }
    sites_[name] = node ? builder_.add_node(name, tics) : builder_.add_switch(name, tics);
    nodes_added_ += node;
    last_line_ = file_.line();
  }

  void pair() {
    if (!sites_.empty()) file_.fail("a file with named nodes cannot have lines a,b. Write channel,A,B.");
    if (!first_pair_) first_pair_ = file_.line();
    const u32 a = file_.number(0, "a node", kMostSconnectNodes - 1);
    const u32 b = file_.number(1, "a node", kMostSconnectNodes - 1);
    numbered_ = std::max({numbered_, a + 1, b + 1});
    last_line_ = file_.line();
    add_channel(std::to_string(a), std::to_string(b), nodes_.delay);
  }

  void add_numbered() {
    for (u32 n = 0; n < numbered_; ++n) {
      const std::string name = std::to_string(n);
      sites_[name] = builder_.add_node(name, nodes_.tics());
    }
    nodes_added_ = numbered_;
  }

  u32 site_of(u32 line, const std::string& name) {
    const auto found = sites_.find(name);
    if (found == sites_.end()) file_.fail(line, "there is no node or switch \"" + name + "\". Add its line.");
    return found->second;
  }

  void join(const Channel& c) {
    const u32 a = site_of(c.line, c.a), b = site_of(c.line, c.b);
    const u32 full = builder_.join(a, b, c.clocks);
    if (full == kNone) return;
    const bool node = builder_.is_node(full);
    const u32 channels = builder_.channels(full);
    std::string remedy = "Remove channels";
    if (channels < (node ? 2 : 3) * sconnect::kSerial)
      remedy = (first_pair_ ? "Set topology.node = \"dual\", with which nodes have 8"
                            : "Give it another TIC (the third field of its line)") +
               std::string(", or remove channels");
    file_.fail(c.line, std::string(node ? "node " : "switch ") + builder_.site_name(full) +
                           " has more channels than the " + std::to_string(channels) + " of its TICs. " + remedy + ".");
  }

  FieldFile file_;
  SconnectNodes nodes_;
  SconnectBuilder builder_;
  std::map<std::string, u32> sites_;
  std::set<std::string> tic_names_;
  std::vector<Channel> channels_;
  u32 first_pair_ = 0, numbered_ = 0, nodes_added_ = 0, last_line_ = 0;
};

}  // namespace

SconnectFabric read_sconnect_graph(const TextSource& text, const SconnectNodes& nodes) {
  return Reader(text, nodes).read();
}

}  // namespace flitlab
