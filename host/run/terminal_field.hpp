#pragma once
/// Access to one field of all terminals of a running network.
#include <string_view>
#include <vector>

#include "kernels/engines/engine.hpp"

namespace flitlab {

/// A field of all terminals of a replica: in the engine's memory if the host may use it there, otherwise as a copy.
template <class T>
class TerminalField {
 public:
  TerminalField(Engine& engine, u32 replica, std::string_view name)
      : engine_(engine),
        replica_(replica),
        field_(engine.layout().kinds[1].field(name)),
        first_(engine.in_place(replica, 1, field_)),
        distance_(engine.layout().kinds[1].item_bytes) {
    if (first_) return;
    distance_ = field_.count * sizeof(T);
    copy_.resize(engine.layout().kinds[1].count * distance_);
    first_ = copy_.data();
    read();
  }

  /// Reads the field again if it is a copy.
  void read() {
    if (!copy_.empty()) engine_.get_field(replica_, 1, field_, copy_.data());
  }
  /// Writes the field back if it is a copy.
  void write() const {
    if (!copy_.empty()) engine_.set_field(replica_, 1, field_, first_);
  }
  T* operator[](u32 terminal) const { return reinterpret_cast<T*>(first_ + terminal * distance_); }

 private:
  Engine& engine_;
  u32 replica_;
  const FieldInfo& field_;
  std::byte* first_;
  std::size_t distance_;  ///< bytes from one terminal to the next
  std::vector<std::byte> copy_;
};

}  // namespace flitlab
