#pragma once

namespace thrust {

template <class Iterator, class F>
struct transform_iterator {
  Iterator of;
  F f;
  template <class I>
  auto operator[](I i) const {
    return f(of[i]);
  }
};
template <class Iterator, class F>
transform_iterator<Iterator, F> make_transform_iterator(Iterator of, F f) {
  return {of, f};
}

}  // namespace thrust
