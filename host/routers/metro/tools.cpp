#include "host/routers/metro/tools.hpp"

#include "host/config/check.hpp"
#include "kernels/routers/metro/state.hpp"

namespace flitlab {
namespace {

Datum metro_encoding(const Experiment*, const Arguments&) {
  return Datum::Map{{"kinds", Datum::list_of(split_words(words_of(metro::Kind{})))},
                    {"kind_shift", metro::kKindShift},
                    {"word_bits", metro::kWordBits},
                    {"states", Datum::list_of(split_words(words_of(metro::PortState{})))}};
}

}  // namespace

std::vector<Tool> metro_tools() {
  return {{{.name = "encoding",
            .help = "The encoding of registers that hold words or states of forward ports.",
            .returns = "names of the kinds of words by number, the number of payload bits below a word's kind, the "
                       "number of bits of a word, and names of the states by number",
            .cite = "METRO, 4 and 5.1"},
           metro_encoding}};
}

}  // namespace flitlab
