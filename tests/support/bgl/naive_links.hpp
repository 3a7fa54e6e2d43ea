#pragma once
/// Links of the second implementation of Blue Gene/L's torus (naive.hpp): what each end sends to the other, and when.
/// The links have the retransmission protocol but no errors. So senders keep copies, and acknowledgments, with tokens
/// or without, wait for the reverse link.
#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/bgl/naive_nodes.hpp"

namespace flitlab::testing::bgl_naive {

class NaiveLinks : public NaiveNodes {
 public:
  NaiveLinks(const Experiment& e, std::vector<std::vector<Creation>> creations)
      : NaiveNodes(e, std::move(creations)), ends_(nodes_.size()) {
    protocol_ = e.flag(bgl::param::router.link_protocol);
    if (!protocol_) return;
    most_kept_ = e.u32_of(bgl::param::router.retransmission_flits);
    idle_ = e.u32_of(bgl::param::router.idle_acks);
  }

 protected:
  /// Returns whether a link can take a packet: it is free and has space for a copy of full size.
  bool takes(u32 n, u32 d) const {
    const std::deque<u32>& kept = ends_[n][d].kept;
    return nodes_[n].link_free[d] <= now_ &&
           (!protocol_ || std::accumulate(kept.begin(), kept.end(), 0u) + 8 <= most_kept_);
  }

  /// Keeps a copy of a packet until the other end acknowledges it. The other end has the whole packet in cycle `whole`.
  void keep_copy(u32 n, u32 d, u32 chunks, Cycle whole) {
    if (!protocol_) return;
    ends_[n][d].kept.push_back(chunks);
    const u32 to = neighbour(n, d);
    at(whole, [=, this] {
      End& end = ends_[to][d ^ 1];
      ++end.taken;
      if (ack_packets_)
        end.ack_due = true;
      else
        send_taken(to, d ^ 1);
    });
  }

  /// Sends an acknowledgment, which goes before all packets. It carries tokens of the lowest VC that has some for the
  /// other end. If no VC has tokens, it repeats the token count of a VC that has sent none for a whole idle period.
  /// Otherwise it is sent only if a packet has arrived.
  void acknowledge(u32 n, u32 d) {
    Node& node = nodes_[n];
    End& end = ends_[n][d];
    if (protocol_ && now_ && now_ % idle_ == 0)
      for (auto& [ever, lately, overdue] : end.reported) {
        overdue |= ever && !lately;
        lately = false;
      }
    if (node.link_free[d] > now_) return;
    const auto vc = static_cast<u32>(
        std::find_if(node.unreturned[d].begin(), node.unreturned[d].end(), [](u32 unreturned) { return unreturned; }) -
        node.unreturned[d].begin());
    const auto silent = std::find_if(end.reported.begin(), end.reported.end(), [](Report& r) { return r.overdue; });
    if (vc < 8) {
      const u32 tokens = std::min(node.unreturned[d][vc], 8u), to = neighbour(n, d);
      node.unreturned[d][vc] -= tokens;
      at(now_ + token_, [=, this] { nodes_[to].tokens[d ^ 1][vc] += tokens; });
      end.reported[vc] = {true, true, false};
    } else if (silent != end.reported.end()) {
      *silent = {true, true, false};
    } else if (!end.ack_due) {
      return;
    }
    end.ack_due = false;
    node.link_free[d] = now_ + ack_;
    send_taken(n, d);
  }

 private:
  struct Report {
    bool ever = false, lately = false, overdue = false;
  };
  /// A node's end of its link in one direction: it sends to a neighbour and receives from the same neighbour.
  struct End {
    std::deque<u32> kept;  // chunks of each packet that has not been acknowledged
    u32 acknowledged = 0;  // number of packets that have been acknowledged
    u32 taken = 0;         // number of packets taken from the other end
    bool ack_due = false;  // an acknowledgment is due
    std::array<Report, 8> reported{};
  };

  /// Sends the number of packets taken so far to the other end.
  void send_taken(u32 n, u32 d) {
    if (!protocol_) return;
    const u32 to = neighbour(n, d), taken = ends_[n][d].taken;
    at(now_ + token_, [=, this] {
      End& end = ends_[to][d ^ 1];
      for (; end.acknowledged < taken; ++end.acknowledged) end.kept.pop_front();
    });
  }

  bool protocol_ = false;
  u32 most_kept_ = 0, idle_ = 0;
  std::vector<std::array<End, 6>> ends_;
};

}  // namespace flitlab::testing::bgl_naive
