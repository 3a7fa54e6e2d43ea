#pragma once
/// Report of a call that may be wrong.
#include <cstdio>
#include <exception>

/// Makes a call and prints the message of its exception, or "fine".
template <class Call>
void say(const char* name, Call&& call) {
  try {
    call();
    std::printf("%s: fine\n", name);
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", name, error.what());
  }
}
