#pragma once
/// Contents of messages in the second implementation of METRO (naive.hpp), in channel words: numbers, data and a check
/// (checksum).
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "host/routers/metro/plan.hpp"
#include "kernels/routers/metro/message.hpp"
#include "kernels/routers/metro/params.hpp"
#include "tests/support/metro/naive_wires.hpp"

namespace flitlab::testing {

class NaiveMessages {
 public:
  NaiveMessages(const Experiment& e, const MetroPlan& plan, const NaiveCommon& common)
      : c_(common), t_(plan.table()), terminals_(plan.network().terminals) {
    const std::string& check = e.str(metro::param::endpoint.checksum);
    check_bits_ = check == "crc8" ? 8 : check == "crc16" ? 16 : check == "crc32" ? 32 : 0;
    polynomial_ = check == "crc8" ? 0x07u : check == "crc16" ? 0x1021u : check == "crc32" ? 0x04C11DB7u : 0;
  }

  u32 word_bits() const { return c_.width * c_.slices; }
  u64 channel(u64 content) const { return word_bits() == 64 ? content : content % (u64{1} << word_bits()); }
  u32 check_words() const { return words_for(check_bits_); }
  u32 serial_words() const { return words_for(8); }
  u32 source_words() const { return words_for(static_cast<u32>(std::bit_width(terminals_ - 1))); }

  /// Returns the remainder of the words' bits, preceded by the check `before`, divided by the check's polynomial.
  u32 remainder(u32 before, const std::vector<u64>& words, u32 zeros) const {
    if (!check_bits_) return 0;
    std::vector<u8> bits;
    for (u64 w : words)
      for (u32 b = word_bits(); b-- > 0;) bits.push_back(w >> b & 1);
    bits.insert(bits.end(), zeros + check_bits_, 0);
    const std::size_t n = bits.size() - check_bits_;
    for (u32 b = 0; b < check_bits_; ++b) bits[b] ^= before >> (check_bits_ - 1 - b) & 1;
    for (std::size_t i = 0; i < n; ++i)
      if (bits[i])
        for (u32 b = 0; b < check_bits_; ++b) bits[i + 1 + b] ^= polynomial_ >> (check_bits_ - 1 - b) & 1;
    u32 left = 0;
    for (u32 b = 0; b < check_bits_; ++b) left = left << 1 | bits[n + b];
    return left;
  }

  /// Returns the words for an endpoint, followed by their check.
  std::vector<u64> checked(std::vector<u64> words, u32 destination) const {
    return checked_from(metro::first_crc(t_, destination), std::move(words));
  }
  std::vector<u64> checked_from(u32 first, std::vector<u64> words) const {
    const u32 n = check_words();
    const u32 check = remainder(first, words, n * word_bits() - check_bits_);
    for (u32 k = n; k-- > 0;) words.push_back(k * word_bits() >= 32 ? 0 : channel(u64{check} >> k * word_bits()));
    return words;
  }

  /// Returns the words of a message body without its check.
  std::vector<u64> body(u32 from, u32 to, u32 serial, u32 words) const {
    std::vector<u64> all;
    push_number(all, from, source_words());
    push_number(all, serial, serial_words());
    while (all.size() < words)
      all.push_back(metro::data_word(t_, c_.row.seed, from, to, serial, static_cast<u32>(all.size())));
    return all;
  }

 private:
  u32 words_for(u32 bits) const { return (bits + word_bits() - 1) / word_bits(); }
  void push_number(std::vector<u64>& words, u32 value, u32 n) const {
    for (u32 k = n; k-- > 0;) words.push_back(k * word_bits() >= 32 ? 0 : channel(u64{value} >> k * word_bits()));
  }

  const NaiveCommon& c_;
  const metro::Table& t_;
  u32 terminals_, check_bits_, polynomial_;
};

}  // namespace flitlab::testing
