#pragma once
/// What refused input is told.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/common/error.hpp"

namespace flitlab::testing {

/// The message of the ConfigError that `make` ends with; empty if it ends well.
inline std::string message_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in \"" << text << "\"";
}

}  // namespace flitlab::testing
