#pragma once
/// Networks that are built from a few numbers. Each function returns the links of a network, with the ranks of its
/// channels: a shortest route changes to the next class of virtual channels only where the rank does not rise
/// (host/routing/ranks.hpp).
#include <string>
#include <vector>

#include "host/topology/links.hpp"
#include "kernels/common/choices.hpp"

namespace flitlab {

/// Every router has a link to every other router.
Links full_mesh(u32 routers);

/// HyperX: routers with coordinates; in each dimension all routers that differ only in that coordinate are joined by
/// `copies` links (Ahn et al., SC 2009). A flattened butterfly, k-ary n-flat, is a HyperX of n - 1 dimensions with k
/// routers each (Kim, Dally and Abts, ISCA 2007). Router numbers increase first along dimension 0.
Links hyperx(const std::vector<u32>& shape, u32 copies);

/// Which router of which group the global channels of a dragonfly lead to. The global channels of a group are numbered:
/// channel k belongs to router k / h of the group. With g groups, copy c of the offset o (k = c (g - 1) + o) leads from
/// group i to:
/// absolute: group o, or o + 1 if o >= i; relative: group i + o + 1; palm_tree: group i - o - 1 (both modulo g);
/// circulant: group i + o / 2 + 1 if o is even, else i - o / 2 - 1, so that a channel joins routers of the same number.
/// Hastings et al., "Comparing global link arrangements for Dragonfly networks", 2015; Camarero et al., TACO 2014.
FLITLAB_CHOICES(Arrangement, (kAbsolute, "absolute"), (kRelative, "relative"), (kPalmTree, "palm_tree"),
                (kCirculant, "circulant"))

/// Sizes of the groups of a dragonfly or a Megafly.
struct GroupSizes {
  u32 groups;   ///< g
  u32 routers;  ///< per group that have global channels: a
  u32 global;   ///< global channels of each of these routers: h
  Arrangement arrangement;
};

/// Returns "" if the a h global channels of a group can lead to the g - 1 other groups, equally many to each; otherwise
/// the reason, with numbers that fit.
std::string misfit(const GroupSizes& sizes);

/// Dragonfly: the routers of a group are joined to one another, and groups by global channels (Kim et al., ISCA 2008).
/// Router r belongs to group r / a.
Links dragonfly(const GroupSizes& sizes);

/// Megafly, or Dragonfly+: in a group each of `a` leaf routers is joined to each of `a` spine routers; leaf routers
/// have the terminals, spine routers the global channels (Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018).
/// Leaf routers are numbered first.
Links megafly(const GroupSizes& sizes);

/// Slim Fly: McKay-Miller-Siran graph of 2 q^2 routers and diameter 2 (Besta & Hoefler, SC 2014). `q`: a prime power 4w
/// + d with d = -1, 0 or 1.
Links slim_fly(u32 q);

/// PolarFly: Erdos-Renyi polarity graph of q^2 + q + 1 routers and diameter 2 (Lakhotia et al., SC 2022). `q`: a prime
/// power. Routers are the points of the projective plane over the field of q elements; orthogonal points are joined.
Links polarfly(u32 q);

/// PolarStar: star product of PolarFly's graph and Paley graphs, of diameter 3 (Lakhotia et al., SPAA 2024). Each
/// router of PolarFly(`q`) becomes a supernode of `supernode` routers, a prime power 4w + 1: its routers are joined if
/// their numbers differ by a square of the field. Router x of a supernode is joined to router g x of each following
/// supernode that PolarFly joins, where g is not a square. PolarFly's loops are left out.
Links polarstar(u32 q, u32 supernode);

/// Concentrated mesh with express channels: a mesh in which routers whose coordinate is a multiple of `express` are
/// also joined to the next such router of their row (Dally, IEEE TC 1991; Balfour & Dally, ICS 2006).
Links cmesh(const std::vector<u32>& shape, u32 express);

/// Jellyfish: a random graph in which every router has `degree` links to different routers (Singla et al., NSDI 2012),
/// drawn again until it is connected.
Links jellyfish(u32 routers, u32 degree, u64 seed);

/// Fat tree of routers in levels, an extended generalized fat tree (Ohring et al., IPPS 1995). A router of level i has
/// `children[i]` links down (i from 0, at the second level) and a router of the level below has `parents[i]` links up.
/// A k-ary n-tree has k children and k parents everywhere; fewer parents than children taper the tree. Level 0 has the
/// terminals; its routers are numbered first, then the routers of level 1, and so on.
Links fat_tree(const std::vector<u32>& children, const std::vector<u32>& parents);

}  // namespace flitlab
