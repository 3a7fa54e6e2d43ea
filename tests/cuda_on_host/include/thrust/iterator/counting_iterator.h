#pragma once

namespace thrust {

template <class T>
struct counting_iterator {
  T first;
  T operator[](T i) const { return first + i; }
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) {
  return {first};
}

}  // namespace thrust
