#include "host/routers/sconnect/table_cache.hpp"

#include <algorithm>

namespace flitlab {

SconnectTables SconnectTableCache::get(const SconnectFabric& fabric, MakeSconnectTables make) {
  {
    const std::lock_guard<std::mutex> held(lock_);
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const CachedTables& k) { return k.make == make && k.fabric == fabric; });
    if (known != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, known);
      return known->tables;
    }
  }
  SconnectTables tables = make(fabric);  // computed without the lock, so that other threads do not wait
  const auto bytes_of = [](const SconnectTables& t) { return t.entry.size() * sizeof t.entry[0]; };
  if (bytes_of(tables) > most_bytes_) return tables;
  const std::lock_guard<std::mutex> held(lock_);
  kept_.push_front({fabric, make, tables});
  bytes_ += bytes_of(tables);
  while (bytes_ > most_bytes_) {
    bytes_ -= bytes_of(kept_.back().tables);
    kept_.pop_back();
  }
  return tables;
}

std::size_t SconnectTableCache::bytes() const {
  const std::lock_guard<std::mutex> held(lock_);
  return bytes_;
}

}  // namespace flitlab
