/// The extension module flitlab._core: configuration, runs and the stepped network. It only converts types; the public
/// interface is the Python code in bindings/flitlab.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "bindings/pybind/convert.hpp"
#include "bindings/pybind/datum.hpp"
#include "bindings/pybind/gil.hpp"
#include "bindings/pybind/recorder.hpp"
#include "host/config/check.hpp"
#include "host/config/cross_checks.hpp"
#include "host/config/registry.hpp"
#include "host/plan/console.hpp"
#include "host/plan/interrupt.hpp"
#include "host/programs/program.hpp"
#include "host/run/event_row.hpp"
#include "host/run/run.hpp"
#include "host/run/stepped.hpp"
#include "kernels/common/error.hpp"
#include "kernels/engines/device.hpp"
#include "kernels/engines/make_engine.hpp"
#include "kernels/engines/processor.hpp"

namespace py = pybind11;
using namespace flitlab;

namespace {

py::dict to_dict(const ParamRecord& r) {
  py::dict d;
  d["path"] = std::string(r.path);
  d["type"] = std::string(name_of(r.type));
  d["default"] = to_python(default_value(r));
  d["min"] = r.min == r.max ? py::object(py::none()) : py::object(py::float_(r.min));
  d["max"] = r.min == r.max ? py::object(py::none()) : py::object(py::float_(r.max));
  d["choices"] = split_words(r.choices);
  d["unit"] = std::string(r.unit);
  d["help"] = std::string(r.help);
  d["cite"] = std::string(r.cite);
  d["only_if"] = std::string(r.only_if);
  d["per_replica"] = r.per_replica;
  return d;
}

py::list parameters() {
  py::list list;
  for (const ParamRecord* r : all_parameters()) list.append(to_dict(*r));
  return list;
}

/// Returns the parameters that only this model has, topology parameters first.
py::list parameters_of_model(const ModelRecord& model) {
  py::list list;
  for (const ParamTable table : model.topology)
    for (const ParamRecord& r : table) list.append(to_dict(r));
  for (ParamTable section : model.sections)
    for (const ParamRecord& r : section) list.append(to_dict(r));
  return list;
}

py::list totals_to_list(TotalTable table) {
  py::list list;
  for (const TotalRecord& r : table) {
    py::dict d;
    d["name"] = std::string(r.name);
    d["count"] = r.count;
    d["unit"] = std::string(r.unit);
    d["help"] = std::string(r.help);
    d["cite"] = std::string(r.cite);
    d["figure"] = std::string(r.figure);
    d["maximum"] = r.maximum;
    list.append(d);
  }
  return list;
}

/// Returns the descriptions of all router kinds.
py::list models_to_list() {
  py::list list;
  for (const ModelRecord& model : models()) {
    py::dict d;
    d["kind"] = std::string(model.kind);
    d["help"] = std::string(model.help);
    d["modes"] = std::vector<std::string>(model.modes.begin(), model.modes.end());
    d["parameters"] = parameters_of_model(model);
    d["totals"] = totals_to_list(model.totals);
    py::dict everything;
    for (const auto& [record, value] : model.everything)
      everything[py::str(std::string(record->path))] = std::string(value);
    d["everything"] = everything;
    list.append(d);
  }
  return list;
}

py::dict backends() {
  py::dict cpu, cuda, all;
  cpu["available"] = true;
  cpu["threads"] = std::max(1u, std::thread::hardware_concurrency());
  cpu["lanes"] = lane_width();
#ifdef FLITLAB_CUDA
  cuda["built"] = true;
#else
  cuda["built"] = false;
#endif
  const std::string reason = cuda_unavailable();
  cuda["available"] = reason.empty();
  cuda["reason"] = reason;
  py::list devices;
  for (const CudaDevice& d : cuda_devices()) {
    py::dict device;
    device["name"] = d.name;
    device["multiprocessors"] = d.multiprocessors;
    device["bytes"] = d.bytes;
    devices.append(device);
  }
  cuda["devices"] = devices;
  all["cpu"] = cpu;
  all["cuda"] = cuda;
  return all;
}

/// Returns texts (objects with a buffer, such as bytes or a mapped file) without copying them. They stay in Python's
/// memory as long as an experiment refers to them. Any thread may release the last reference, so the deleter takes the
/// GIL.
SharedTexts shared_texts(const py::dict& texts) {
  SharedTexts shared;
  for (const auto& [path, value] : texts) {
    const auto release = [](py::buffer_info* view) {
      const WithGil held;
      delete view;
    };
    const std::shared_ptr<py::buffer_info> owner(new py::buffer_info(value.cast<py::buffer>().request()), release);
    shared[path.cast<std::string>()] = {
        owner, {static_cast<const char*>(owner->ptr), static_cast<std::size_t>(owner->size * owner->itemsize)}};
  }
  return shared;
}

void warn(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const int failed = unless_python_exits([&] { return PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1); });
    if (failed != 0) throw py::error_already_set();
  }
}

/// Calls a Python function for its effects.
void call(const py::object& function, const py::object& argument) {
  PyObject* const result = unless_python_exits([&] { return PyObject_CallOneArg(function.ptr(), argument.ptr()); });
  if (result == nullptr) throw py::error_already_set();
  Py_DECREF(result);
}

py::dict derived(const Experiment& e) {
  py::dict d;
  const auto plan = make_plan(e);
  warn(plan->facts().warnings);
  for (const auto& [name, value] : plan->derived()) d[name.c_str()] = number(value);
  return d;
}

py::dict forms(const Experiment& e) {
  const StateForms all = make_plan(e)->facts().forms;
  py::dict d;
  d["cpu"] = all.cpu;
  d["gpu"] = all.gpu;
  return d;
}

py::list program_calls(const py::bytes& text, const std::string& name, u32 ranks, u32 terminals) {
  static constexpr const char* kNames[] = {"compute", "send",   "isend", "recv",  "irecv",
                                           "wait",    "notify", "after", "irecv", "recv"};
  const auto owner = std::make_shared<const std::string>(text);
  const Program program = read_calls(TextSource(name, {owner, *owner}), terminals ? terminals : ranks, {});
  py::list all;
  for (std::size_t rank = 0; rank + 1 < program.first.size(); ++rank) {
    py::list calls;
    for (u32 i = program.first[rank]; i < program.first[rank + 1]; ++i) {
      const ProgramCall& c = program.calls[i];
      const bool any = c.kind == CallKind::kPost || c.kind == CallKind::kMatch;
      calls.append(
          py::make_tuple(kNames[static_cast<u32>(c.kind)], any ? -1 : static_cast<int>(c.peer), c.amount, c.slot));
    }
    all.append(calls);
  }
  return all;
}

py::list tools(const std::string& kind) {
  py::list list;
  for (const Tool& tool : tools_of(kind)) {
    py::dict d = to_dict(tool.record);
    d["wants_experiment"] = tool.wants_experiment;
    list.append(d);
  }
  return list;
}

py::object call_tool_of(const std::string& kind, const std::string& name, const Experiment* experiment,
                        const py::dict& arguments) {
  Datum::Map given = arguments_from_python(arguments);
  Datum found;
  {
    const WithoutGil released;
    found = call_tool(kind, name, experiment, std::move(given));
  }
  return to_python(found);
}

/// A request that runs end as by Ctrl-C. Signals reach only the main thread, so runs in other threads need it.
struct Stop {
  std::atomic<bool> requested{false};
};
thread_local const Stop* stop_of_this_thread = nullptr;

void check_signals_and_stop() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (!stop_of_this_thread || !stop_of_this_thread->requested) return;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw py::error_already_set();
}

py::list run(const std::vector<Experiment>& experiments, const std::string& backend, u32 threads,
             const py::object& progress, const std::string& checkpoint, double every_seconds, bool channels,
             const Stop* stop) {
  std::vector<Result> results;
  try {
    struct Restored {
      const Stop* outer = stop_of_this_thread;
      ~Restored() { stop_of_this_thread = outer; }
    } restored;
    stop_of_this_thread = stop;
    const WithoutGil released;
    results = run_job(
        experiments, EngineChoice{.backend = backend, .threads = threads, .beside_others = stop != nullptr},
        [&](const Progress& p) {
          const WithGil held;
          check_signals_and_stop();
          warn(p.warnings);
          if (progress.is_none()) return;
          py::dict d, finished;
          for (const auto& [i, result] : p.finished) finished[py::int_(i)] = to_dict(experiments[i], result);
          d["cycle"] = p.cycle;
          d["running"] = p.running;
          d["results"] = finished;
          call(progress, d);
        },
        CheckpointChoice{checkpoint, every_seconds});
  } catch (const std::system_error& e) {  // for example, the system cannot create a thread
    throw RunError(std::string("the run could not continue: ") + e.what() + ".");
  }
  py::list list;
  for (std::size_t i = 0; i < results.size(); ++i) {
    py::dict d = to_dict(experiments[i], results[i]);
    if (channels) d["channel_flits"] = py::cast(results[i].channel_flits);
    list.append(d);
  }
  return list;
}

/// Offers packets given as columns of one length (traffic.mode = "host").
std::size_t offer(SteppedNetwork& network, const std::array<py::array_t<u64, py::array::c_style>, 6>& columns) {
  std::vector<OfferedPacket> packets(static_cast<std::size_t>(columns[0].size()));
  const auto& [source, destination, flits, tag, cycle, of_class] = columns;
  for (std::size_t i = 0; i < packets.size(); ++i)
    packets[i] = {source.data()[i], destination.data()[i], flits.data()[i],
                  tag.data()[i],    cycle.data()[i],       of_class.data()[i]};
  return network.offer(packets);
}

/// Returns numbers `[terminal][class]` as an array of two dimensions.
py::array by_class(SteppedNetwork& network, const std::vector<u32>& numbers) {
  const py::ssize_t classes = network.classes();
  return py::array_t<u32>({py::ssize_t{network.terminals()}, classes}, numbers.data());
}

py::array waiting_at_all(SteppedNetwork& network) {
  std::vector<u32> packets;
  for (u32 t = 0; t < network.terminals(); ++t)
    for (u32 c = 0; c < network.classes(); ++c) packets.push_back(network.waiting(t, c));
  return by_class(network, packets);
}

py::array take_arrivals(SteppedNetwork& network, std::size_t most) {
  const std::vector<ArrivedPacket> taken = network.take_arrivals(most);
  return py::array_t<ArrivedPacket>(static_cast<py::ssize_t>(taken.size()), taken.data());
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "flitlab's compiled core.";
  set_interrupt_check([] {
    const WithGil held;
    check_signals_and_stop();
  });
  m.attr("__version__") = FLITLAB_VERSION;
  m.attr("END_OF_TIME") = kEndOfTime;
  py::list verdicts;
  for (const std::string& word : split_words(words_of(Verdict{}))) verdicts.append(word);
  m.attr("VERDICTS") = py::tuple(verdicts);
  py::register_exception<ConfigError>(m, "ConfigError", PyExc_ValueError);
  const auto run_error = py::register_exception<RunError>(m, "RunError", PyExc_RuntimeError);
  py::register_exception<DeviceFull>(m, "DeviceFull", run_error);

  m.def("parameters", &parameters, "parameters() -> list[dict]: the records of all configuration parameters.");
  m.def("models", &models_to_list, "models() -> list[dict]: router kinds, with their own parameters and totals.");
  m.def(
      "tables",
      [] {
        return to_python(Datum::Map{{"result", describe_columns<Result>()},
                                    {"event", describe_columns<EventRow>()},
                                    {"virtual channel", describe_columns<VcSnapshot>()},
                                    {"port", describe_columns<PortSnapshot>()},
                                    {"terminal", describe_columns<TerminalSnapshot>()}});
      },
      "tables() -> dict[str, list[dict]]: the columns of results, events, virtual channels, ports and terminals.");
  m.def(
      "common_totals", [] { return totals_to_list(kCommonTotalTable); },
      "common_totals() -> list[dict]: the records of the totals that all models have.");
  m.def("nearest", &nearest, py::arg("word"), py::arg("candidates"),
        "nearest(word, candidates) -> str: the most similar candidate; \"\" if no candidate is similar.");
  py::class_<Stop>(m, "Stop", "A request that the runs to which it was given end as by Ctrl-C.")
      .def(py::init<>())
      .def("set", [](Stop& stop) { stop.requested = true; });
  m.def("backends", &backends, "backends() -> dict: the backends and devices of this build.");
  m.def("run", &run, py::arg("experiments"), py::arg("backend"), py::arg("threads"), py::arg("progress"),
        py::arg("checkpoint") = "", py::arg("every_seconds") = 60.0, py::arg("channels") = false,
        py::arg("stop") = nullptr,
        "run(experiments, backend, threads, progress, checkpoint, every_seconds, channels, stop) -> list[dict]: runs "
        "experiments of one structure as replicas.");

  m.def("program_calls", &program_calls, py::arg("text"), py::arg("name"), py::arg("ranks"), py::arg("terminals") = 0,
        "program_calls(text, name, ranks, terminals) -> list[list[tuple]]: the calls of every rank of a program.");

  m.def("tools", &tools, py::arg("kind"),
        "tools(kind) -> list[dict]: the operations of a router kind that need no network.");
  m.def("call_tool", &call_tool_of, py::arg("kind"), py::arg("name"), py::arg("experiment"), py::arg("arguments"),
        "call_tool(kind, name, experiment, arguments) -> Any: runs a tool and returns its result.");

  py::class_<Experiment>(m, "Experiment")
      .def(py::init([](const py::dict& flat, const std::string& base_dir, const py::dict& texts) {
             return Experiment::resolve(from_python(flat), base_dir, shared_texts(texts));
           }),
           py::arg("flat"), py::arg("base_dir"), py::arg("texts") = py::dict())
      .def("terminals", [](const Experiment& e) { return terminal_count(e); })
      .def("flat",
           [](const Experiment& e) {
             py::dict d;
             for (const auto& [path, value] : e.flat()) d[path.c_str()] = to_python(value);
             return d;
           })
      .def("files_hash", &Experiment::files_hash)
      .def("structure_key", &Experiment::structure_key)
      .def("epoch_cycles", &cycles_of_epoch)
      .def("check_network", [](const Experiment& e) { make_plan(e); })
      .def(
          "engine_of_job",
          [](const Experiment& e, const std::string& backend, u32 threads, u32 replicas, u32 jobs) {
            const JobEngine found = engine_of_job(e, replicas, {.backend = backend, .threads = threads, .jobs = jobs});
            return std::pair(found.backend, found.device_bytes);
          },
          py::arg("backend"), py::arg("threads"), py::arg("replicas"), py::arg("jobs"), py::call_guard<WithoutGil>())
      .def("derived", &derived)
      .def("forms", &forms);

  PYBIND11_NUMPY_DTYPE(ArrivedPacket, tag, source, destination, flits, hops, created, injected, head, cycle);
  py::class_<SteppedNetwork>(m, "Network")
      .def(py::init<const Experiment&, const std::string&, u32, bool>(), py::arg("experiment"), py::arg("backend"),
           py::arg("threads"), py::arg("trace"))
      .def("step", &SteppedNetwork::step, py::arg("cycles"), py::call_guard<WithoutGil>())
      .def("offer", &offer, py::arg("columns"))
      .def("waiting", py::overload_cast<u32>(&SteppedNetwork::waiting), py::arg("source"))
      .def("waiting", py::overload_cast<u32, u32>(&SteppedNetwork::waiting), py::arg("source"), py::arg("of_class"))
      .def("waiting_at_all", &waiting_at_all)
      .def("flits_left", [](SteppedNetwork& n) { return by_class(n, n.flits_left()); })
      .def("step_to_arrival", &SteppedNetwork::step_to_arrival, py::arg("limit"), py::call_guard<WithoutGil>())
      .def("take_arrivals", &take_arrivals, py::arg("most"))
      .def_property_readonly("cycle", &SteppedNetwork::cycle)
      .def("state_hash", &SteppedNetwork::state_hash)
      .def("operations", [](const SteppedNetwork& n) { return operations_to_list(n.operations()); })
      .def("register_records", [](const SteppedNetwork& n) { return registers_to_list(n.registers()); })
      .def(
          "call",
          [](SteppedNetwork& n, const std::string& operation, const py::dict& arguments) {
            return to_python(n.call(operation, arguments_from_python(arguments)));
          },
          py::arg("operation"), py::arg("arguments"))
      .def("take_warnings", &SteppedNetwork::take_warnings)
      .def("warnings", &SteppedNetwork::warnings)
      .def(
          "router", [](const SteppedNetwork& n, u32 router) { return to_dict(n.router(router)); }, py::arg("router"))
      .def("router_name", &SteppedNetwork::router_name, py::arg("router"))
      .def(
          "terminal", [](const SteppedNetwork& n, u32 terminal) { return to_dict(n.terminal(terminal)); },
          py::arg("terminal"))
      .def(
          "item",
          [](const SteppedNetwork& n, const std::string& kind, u32 index) { return to_dict(n.item(kind, index)); },
          py::arg("kind"), py::arg("index"))
      .def("layout", [](const SteppedNetwork& n) { return to_list(n.layout()); })
      .def("totals", &SteppedNetwork::totals)
      .def("program_ends", &SteppedNetwork::program_ends)
      .def("channels",
           [](const SteppedNetwork& n) {
             py::list list;
             for (const ChannelUse& c : n.channels()) list.append(py::make_tuple(c.router, c.port, c.flits));
             return list;
           })
      .def("links",
           [](const SteppedNetwork& n) {
             py::list list;
             for (const ChannelEnds& c : n.links())
               list.append(py::make_tuple(c.router, c.port, c.to_router, c.to_port));
             return list;
           })
      .def("own_channels",
           [](const SteppedNetwork& n) {
             py::list list;
             for (const ChannelEnds& c : n.links())
               if (c.own.delay || c.own.cycles)
                 list.append(py::make_tuple(c.router, c.port, c.own.delay,
                                            c.own.cycles ? static_cast<double>(c.own.flits) / c.own.cycles : 0.0));
             return list;
           })
      .def("check", &SteppedNetwork::check, py::call_guard<WithoutGil>())
      .def("events", [](SteppedNetwork& n) { return events_to_list(n.take_events(), n.own_event()); })
      .def("packet_events",
           [](SteppedNetwork& n) {
             py::list list;
             for (const TimedEvent& e : n.take_events())
               if (e.event.kind == EventKind::kCreated || e.event.kind == EventKind::kInjected ||
                   e.event.kind == EventKind::kDelivered)
                 list.append(py::make_tuple(word_of(e.event.kind), e.cycle, e.event.src, e.event.id,
                                            e.event.kind == EventKind::kCreated ? e.event.dst : e.index, e.event.flits,
                                            e.event.latency));
             return list;
           })
      .def("save", &SteppedNetwork::save, py::arg("path"))
      .def("load", &SteppedNetwork::load, py::arg("path"))
      .def("go_on_from", &SteppedNetwork::go_on_from, py::arg("other"));

  bind_recorder(m);
}
