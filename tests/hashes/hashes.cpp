/// State hashes of configurations, without Python, to compare other compilers and machines with the recorded hashes
/// (tests/tools/compilers.py, which writes this program's input).
///
/// Standard input has a line for each value of a configuration: a letter for its type, its path, and the value. Lines
/// of type f contain the files that a configuration needs. `@ NAME CYCLE...` ends it: the program steps the network to
/// these cycles and prints each hash as `NAME CYCLE HASH`.
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"

namespace {

using namespace flitlab;

struct Configuration {
  RawConfig values;
  SharedTexts texts;
};

IntList ints_of(std::istream& line) {
  IntList list;
  for (std::int64_t x; line >> x;) list.push_back(x);
  return list;
}

Lengths lengths_of(std::istream& line) {
  Lengths lengths;
  std::int64_t flits;
  for (std::string weight; line >> flits >> weight;) lengths.emplace_back(flits, std::stod(weight));
  return lengths;
}

/// Reads the text of a file: the given number of bytes after the line that names it.
SharedText file_of(std::istream& line, std::istream& in) {
  std::size_t bytes = 0;
  line >> bytes;
  const auto owner = std::make_shared<std::string>(bytes, '\0');
  in.read(owner->data(), static_cast<std::streamsize>(bytes));
  return {owner, *owner};
}

void take(Configuration& configuration, const std::string& text, std::istream& in) {
  std::istringstream line(text);
  std::string type, path, word;
  line >> type >> path >> std::ws;
  Value& value = configuration.values[path];
  switch (type.at(0)) {
    case 'b': line >> word, value = word == "true"; break;
    case 'i': line >> word, value = static_cast<std::int64_t>(std::stoll(word)); break;
    case 'd': line >> word, value = std::stod(word); break;
    case 's': std::getline(line, word), value = word; break;
    case 'l': value = ints_of(line); break;
    case 'w': value = lengths_of(line); break;
    case 'f': configuration.texts[path] = file_of(line, in), value = path; break;
    default: throw ConfigError("a line of no known type: " + text);
  }
}

void print_hashes(const Configuration& configuration, std::istream& line) {
  std::string name;
  line >> name;
  SteppedNetwork network(Experiment::resolve(configuration.values, ".", configuration.texts), "cpu", 1, false);
  for (u64 cycle; line >> cycle;) {
    network.step(cycle - network.cycle());
    std::printf("%s %llu %s\n", name.c_str(), static_cast<unsigned long long>(cycle), network.state_hash().c_str());
    std::fflush(stdout);
  }
}

}  // namespace

int main() try {
  Configuration configuration;
  for (std::string text; std::getline(std::cin, text);) {
    if (text[0] != '@') {
      take(configuration, text, std::cin);
      continue;
    }
    std::istringstream line(text.substr(1));
    print_hashes(std::exchange(configuration, {}), line);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "flitlab_hashes: %s\n", error.what());
  return 1;
}
