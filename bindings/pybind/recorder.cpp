#include "bindings/pybind/recorder.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "bindings/frames/recorder.hpp"
#include "bindings/pybind/gil.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

template <class Put>
std::string json(Put&& put) {
  Json text;
  put(text);
  return std::move(text.text);
}

}  // namespace

void bind_recorder(py::module_& m) {
  py::class_<Recorder> recorder(m, "Recorder");
  recorder.attr("MOST_DRAWN") = Recorder::kMostDrawn;
  recorder.attr("WINDOW") = Recorder::kWindow;
  recorder
      .def(py::init<SteppedNetwork&, std::vector<u32>, u32>(), py::arg("network"), py::arg("routers"),
           py::arg("window"), py::keep_alive<1, 2>())
      .def("restart", &Recorder::restart)
      .def("in_step", &Recorder::in_step)
      .def(
          "steps", [](Recorder& r, u32 cycles) { return json([&](Json& json) { r.put_steps(json, cycles); }); },
          py::arg("cycles"), py::call_guard<WithoutGil>())
      .def(
          "frames", [](const Recorder& r, u32 most) { return json([&](Json& json) { r.put_frames(json, most); }); },
          py::arg("most") = kNone)
      .def(
          "packed",
          [](const Recorder& r, u32 most) {
            std::string bytes;
            std::string text = json([&](Json& json) { r.put_packed(json, bytes, most); });
            return std::pair(std::move(text), py::bytes(bytes));
          },
          py::arg("most") = kNone)
      .def("network", [](const Recorder& r) { return json([&](Json& json) { r.put_network(json); }); })
      .def(
          "inspection",
          [](const Recorder& r, u32 router) {
            return json([&](Json& json) {
              json.open('{');
              r.put_inspection(json, router);
              json.close('}');
            });
          },
          py::arg("router"))
      .def_readwrite("inspected", &Recorder::inspected)
      .def_property_readonly("stages", &Recorder::stages)
      .def_property_readonly("deadlock", &Recorder::deadlock)
      .def_property_readonly("deadlocked", &Recorder::deadlocked)
      .def_property_readonly("kept", &Recorder::kept)
      .def_property_readonly("last", &Recorder::last)
      .def("look_for_deadlock", &Recorder::look_for_deadlock);
}

}  // namespace flitlab
