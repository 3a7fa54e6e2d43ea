/// Fat trees of METRO routers. A node consists of up routers, with direction 0 (across) and direction 1 (up), and down
/// routers, with one direction for each child. The root has down routers only. Level 1 is next to the endpoints.
#include <utility>

#include "host/routers/metro/network.hpp"
#include "kernels/common/bits.hpp"
#include "kernels/routers/metro/params.hpp"

namespace flitlab {
namespace {

using metro::RouterSetup;

class FatTree {
 public:
  explicit FatTree(const Experiment& e)
      : arity_(e.u32_of(metro::param::topology.arity)),
        levels_(e.u32_of(metro::param::topology.levels)),
        ports_(e.u32_of(metro::param::topology.ports)),
        delay_(e.u32_of(metro::param::topology.wire_delay)),
        entry_delay_(e.u32_of(metro::param::topology.entry_delay)),
        random_(e.is({metro::param::topology.wiring, "random"})),
        seed_(random_ ? e.u32_of(metro::param::topology.wiring_seed) : 0) {
    n_.terminals = metro_endpoints(e);
    n_.links = e.u32_of(metro::param::topology.links);
    n_.stages = 2 * levels_ - 1;
    n_.inputs = n_.outputs = ports_;
    n_.endpoint_wires.resize(std::size_t{n_.terminals} * 2 * n_.links);
    width_ = n_.links;
    up_.resize(n_.terminals);
    down_to_.resize(n_.terminals);
  }

  MetroNetwork make() {
    u32 nodes = n_.terminals;
    for (u32 level = 1; level <= levels_; ++level) {
      nodes /= arity_;
      std::vector<std::vector<End>> up(nodes), down_to(nodes);
      for (u32 node = 0; node < nodes; ++node) add_node(level, node, up[node], down_to[node]);
      up_ = std::move(up);
      down_to_ = std::move(down_to);
      width_ = arity_ * width_ / 2;
    }
    return std::move(n_);
  }

 private:
  using End = std::pair<u32, u32>;  ///< number of a router, and number of one of its ports

  /// Adds a node. Returns in `up` the backward ports that lead up from the node, and in `down_to` the forward ports at
  /// which wires from above enter it.
  void add_node(u32 level, u32 node, std::vector<End>& up, std::vector<End>& down_to) {
    const bool root = level == levels_;
    const u32 routers = arity_ * width_ / ports_;
    const std::string name = std::to_string(level) + "." + std::to_string(node);
    std::vector<u32> ups, downs;
    for (u32 r = 0; r < routers && !root; ++r)
      ups.push_back(n_.add_router(setup(2, level - 1), name + ".up" + std::to_string(r)));
    for (u32 r = 0; r < routers; ++r)
      downs.push_back(n_.add_router(setup(arity_, 2 * levels_ - 1 - level), name + ".down" + std::to_string(r)));
    const u32 item = level << 20 | node;
    join_children_up(level, node, root ? downs : ups, item);
    if (!root) join_ways_down(ups, downs, item, up, down_to);
    join_children_down(level, node, downs);
  }

  RouterSetup setup(u32 directions, u32 stage) const {
    return {static_cast<u8>(ports_),
            static_cast<u8>(ports_),
            static_cast<u8>(log2_floor(directions)),
            static_cast<u8>(log2_floor(ports_ / directions)),
            static_cast<u8>(stage),
            0,
            {},
            0,
            0};
  }

  void join_children_up(u32 level, u32 node, const std::vector<u32>& routers, u32 item) {
    const std::vector<u32> to = assign_wires(arity_, width_, ports_, random_, seed_, item);
    for (u32 w = 0; w < arity_ * width_; ++w) {
      const u32 child = node * arity_ + w / width_, router = routers[to[w] / ports_], port = to[w] % ports_;
      if (level == 1)
        n_.join_entry(child, w % width_, router, port, entry_delay_);
      else
        n_.join(up_[child][w % width_].first, up_[child][w % width_].second, router, port, delay_);
    }
  }

  /// Wires the forward ports of the down routers: one half to the node's up routers (direction across), the other half
  /// to the node above.
  void join_ways_down(const std::vector<u32>& ups, const std::vector<u32>& downs, u32 item, std::vector<End>& up,
                      std::vector<End>& down_to) {
    std::vector<End> across;
    for (u32 r : ups)
      for (u32 k = 0; k < ports_ / 2; ++k) {
        across.emplace_back(r, k);
        up.emplace_back(r, ports_ / 2 + k);
      }
    const u32 all = arity_ * width_;
    const std::vector<u32> wire_end =
        assign_wires(all / (ports_ / 2), ports_ / 2, ports_, random_, seed_, item | 1u << 30);
    for (u32 w = 0; w < all; ++w) {
      const u32 router = downs[wire_end[w] / ports_], port = wire_end[w] % ports_;
      if (w < all / 2)
        n_.join(across[w].first, across[w].second, router, port, delay_);
      else
        down_to.emplace_back(router, port);
    }
  }

  void join_children_down(u32 level, u32 node, const std::vector<u32>& downs) {
    const u32 dilation = ports_ / arity_;
    for (u32 c = 0; c < arity_; ++c) {
      const u32 child = node * arity_ + c;
      for (u32 w = 0; w < width_; ++w) {
        const u32 router = downs[w / dilation], port = c * dilation + w % dilation;
        if (level == 1)
          n_.join_exit(router, port, child, w, delay_);
        else
          n_.join(router, port, down_to_[child][w].first, down_to_[child][w].second, delay_);
      }
    }
  }

  u32 arity_, levels_, ports_, delay_, entry_delay_;
  bool random_;
  u64 seed_;
  u32 width_;                         ///< number of wires between a child and its parent, in each direction
  std::vector<std::vector<End>> up_;  ///< [node of the level below] backward ports that lead up from the node
  /// [node of the level below] forward ports at which wires from above enter the node.
  std::vector<std::vector<End>> down_to_;
  MetroNetwork n_;
};

}  // namespace

MetroNetwork make_fat_tree(const Experiment& e) { return FatTree(e).make(); }

}  // namespace flitlab
