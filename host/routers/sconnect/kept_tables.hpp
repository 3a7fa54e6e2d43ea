#pragma once
/// Tables of the fabrics that were planned last. The runs of a sweep, or of a published experiment, are of one fabric,
/// each with a plan of its own; a search for tables takes seconds, longer than many a run.
#include <cstddef>
#include <list>
#include <mutex>

#include "host/routers/sconnect/tables.hpp"

namespace flitlab {

/// Tables are a function of the fabric and of the way they are made.
using MakeSconnectTables = SconnectTables (*)(const SconnectFabric& fabric);

class KeptSconnectTables {
 public:
  /// `most_bytes`: of the entries of all tables that are kept.
  explicit KeptSconnectTables(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// What `make` makes, or made of an equal fabric a while ago. Any thread may ask.
  SconnectTables get(const SconnectFabric& fabric, MakeSconnectTables make);
  /// Bytes of the entries that are kept.
  std::size_t bytes() const;

 private:
  struct Kept {
    SconnectFabric fabric;
    MakeSconnectTables make;
    SconnectTables tables;
  };

  std::size_t most_bytes_, bytes_ = 0;
  std::list<Kept> kept_;  ///< the one that was asked for last comes first
  mutable std::mutex lock_;
};

}  // namespace flitlab
