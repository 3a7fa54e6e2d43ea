#pragma once
/// Fields of a network's state, which a test reads and changes between cycles.
#include <vector>

#include "tests/support/build.hpp"

namespace flitlab::testing {

/// The values of one field of all items of a kind.
template <class T>
class ItemFields {
 public:
  ItemFields(const Network& net, u32 kind, const char* name)
      : net_(net), kind_(kind), info_(net.plan->layout().kinds[kind].field(name)) {
    all_.resize(std::size_t{net.plan->layout().kinds[kind].count} * info_.count);
  }
  void read() { net_.engine->get_field(0, kind_, info_, all_.data()); }
  void write() { net_.engine->set_field(0, kind_, info_, all_.data()); }
  const T& operator()(u32 item, u32 n = 0) const { return all_[std::size_t{item} * info_.count + n]; }
  T& operator()(u32 item, u32 n = 0) { return all_[std::size_t{item} * info_.count + n]; }
  std::vector<T>& all() { return all_; }
  u32 each() const { return info_.count; }  ///< number of values of an item

 private:
  const Network& net_;
  u32 kind_;
  const FieldInfo& info_;
  std::vector<T> all_;
};

/// Returns the values of one field of all items of a kind.
template <class T>
std::vector<T> field(const Network& net, u32 kind, const char* name) {
  ItemFields<T> fields(net, kind, name);
  fields.read();
  return fields.all();
}

/// Changes the values of a field: `change` gets the values of all items, and how many each item has.
template <class T, class Change>
void edit(const Network& net, u32 kind, const char* name, Change change) {
  ItemFields<T> fields(net, kind, name);
  fields.read();
  change(fields.all(), fields.each());
  fields.write();
}

}  // namespace flitlab::testing
