#pragma once
/// The error messages of input that flitlab rejects.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/common/error.hpp"
#include "tests/support/build.hpp"

namespace flitlab::testing {

/// Returns the message of the ConfigError or RunError that `make` throws, "" if it throws none.
inline std::string message_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

inline void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in \"" << text << "\"";
}

/// Expects that flitlab rejects a configuration with a message that contains `part`.
inline void expect_rejected(const RawConfig& config, const std::string& part) {
  expect_in(part, message_of([&] { make_plan(experiment(config)); }));
}

}  // namespace flitlab::testing
