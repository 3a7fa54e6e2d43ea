#pragma once
/// Cache of the routing tables of recent fabrics. The runs of a sweep use the same fabric, and computing its tables
/// takes seconds, often longer than a run.
#include <cstddef>
#include <list>
#include <mutex>

#include "host/routers/sconnect/tables.hpp"

namespace flitlab {

/// A method that makes tables. The tables depend only on the fabric and the method.
using MakeSconnectTables = SconnectTables (*)(const SconnectFabric& fabric);

class SconnectTableCache {
 public:
  /// `most_bytes`: limit for the entries of all tables in the cache.
  explicit SconnectTableCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Returns make(fabric), or the cached result for an equal fabric. Thread-safe.
  SconnectTables get(const SconnectFabric& fabric, MakeSconnectTables make);
  /// Returns the bytes of the entries in the cache.
  std::size_t bytes() const;

 private:
  struct CachedTables {
    SconnectFabric fabric;
    MakeSconnectTables make;
    SconnectTables tables;
  };

  std::size_t most_bytes_, bytes_ = 0;
  std::list<CachedTables> kept_;  ///< most recently used first
  mutable std::mutex lock_;
};

}  // namespace flitlab
