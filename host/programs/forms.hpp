#pragma once
/// Forms of the lines of a program: for each kind of line, the name of the call and its arguments.
#include <string>
#include <variant>
#include <vector>

#include "host/programs/collectives.hpp"

namespace flitlab {

enum class Argument { kPeer, kBytes, kTag, kHandle, kCycles, kRoot, kGroup };
inline constexpr const char* kArgumentNames[] = {"peer", "bytes", "tag", "handle", "cycles", "root", "group"};

struct WaitAll {};
/// Form of one kind of line.
struct Form {
  const char* name;
  std::variant<CallKind, CollectiveKind, WaitAll> what;
  u32 required;  ///< number of arguments that must be given
  std::vector<Argument> arguments;

  /// Returns the form as text, for example "rank,send,peer,bytes[,tag]".
  std::string text() const {
    std::string list = "rank," + std::string(name);
    for (u32 i = 0; i < arguments.size(); ++i)
      list += (i < required ? "," : "[,") + std::string(kArgumentNames[static_cast<u32>(arguments[i])]);
    return list + std::string(arguments.size() - required, ']');
  }
};

/// Returns the forms of all kinds of lines.
const std::vector<Form>& forms();

}  // namespace flitlab
