/// S-Connect's channel protocol for Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "host/config/check.hpp"
#include "host/routers/sconnect/explore.hpp"
#include "kernels/common/error.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

/// In the order of ChannelDefect.
const std::vector<std::string> kDefects{"",
                                        "ignores_sequence",
                                        "fails_unreadable",
                                        "reads_first_answer",
                                        "answers_too_early",
                                        "takes_partial_quads",
                                        "takes_void",
                                        "answers_if_asked_only",
                                        "never_asks"};

ChannelDefect defect_of(const std::string& name) {
  static_assert(kChannelDefects == 9);
  for (u32 i = 0; i < kDefects.size(); ++i)
    if (kDefects[i] == name) return static_cast<ChannelDefect>(i);
  throw ConfigError("defect = \"" + name + "\" is not known; the nearest is \"" + nearest(name, kDefects) + "\".");
}

using Two = std::array<u32, 2>;
using Both = std::array<bool, 2>;

py::tuple explore(u32 delay, const Two& singles, const Two& quads, const Both& hits, const Both& refuses,
                  const Both& voids, bool switches, bool endless, const std::string& defect, u64 most_states) {
  ChannelInstance instance;
  instance.delay = delay;
  instance.singles = singles;
  instance.quads = quads;
  instance.hits = hits;
  instance.refuses = refuses;
  instance.voids = voids;
  instance.switches = switches;
  instance.endless = endless;
  instance.defect = defect_of(defect);
  Exploration found;
  {
    py::gil_scoped_release released;
    found = explore_channel(instance, most_states);
  }
  return py::make_tuple(found.states, found.transitions, found.depth, found.complete, found.violation);
}

}  // namespace

void add_sconnect(py::module_& m) {
  m.def("sconnect_explore", &explore, py::arg("delay"), py::arg("singles"), py::arg("quads"), py::arg("hits"),
        py::arg("refuses"), py::arg("voids"), py::arg("switches"), py::arg("endless"), py::arg("defect"),
        py::arg("most_states"),
        "sconnect_explore(delay, singles, quads, hits, refuses, voids, switches, endless, defect, most_states) -> "
        "tuple: states, transitions, depth, complete, violation.");
  m.def(
      "sconnect_protocol_bits",
      [] {
        using namespace sconnect;
        return std::map<std::string, u32>{{"present", kPresent}, {"sequence", kSequence}, {"answer", kAnswer},
                                          {"abort", kAbort},     {"quad", kQuad},         {"last", kLast}};
      },
      "sconnect_protocol_bits() -> dict: what crosses a channel in a slot beside a message, by bit.");
}

}  // namespace flitlab
