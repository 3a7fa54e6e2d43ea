#include "bindings/pybind/convert.hpp"

#include "bindings/pybind/datum.hpp"

#include <pybind11/stl.h>

#include <cmath>

#include "kernels/common/error.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

py::object python_or_none(u32 x) { return x == kNone ? py::object(py::none()) : py::object(py::int_(x)); }

py::dict to_dict(const LatencyStats& s) {
  py::dict d;
  d["mean"] = s.mean != s.mean ? py::object(py::none()) : py::object(py::float_(s.mean));
  d["p50"] = number(s.p50);
  d["p95"] = number(s.p95);
  d["p99"] = number(s.p99);
  d["max"] = number(s.max);
  d["ci95"] = s.ci95 != s.ci95 ? py::object(py::none()) : py::object(py::float_(s.ci95));
  return d;
}

Value value_from(const std::string& path, const py::handle& x) {
  const auto integer = [&](const py::handle& item) {
    try {
      return item.cast<std::int64_t>();
    } catch (const py::cast_error&) {
      throw ConfigError(path + " = " + std::string(py::str(x)) + " is too large for an integer parameter.");
    }
  };
  if (py::isinstance<py::bool_>(x)) return x.cast<bool>();
  if (py::isinstance<py::int_>(x)) return integer(x);
  if (py::isinstance<py::float_>(x)) return x.cast<double>();
  if (py::isinstance<py::str>(x)) return x.cast<std::string>();
  if (py::isinstance<py::list>(x) || py::isinstance<py::tuple>(x)) {
    IntList ints;
    Lengths pairs;
    bool all_ints = true, all_pairs = true;
    for (const py::handle item : x) {
      if (py::isinstance<py::int_>(item) && !py::isinstance<py::bool_>(item)) {
        ints.push_back(integer(item));
        all_pairs = false;
      } else {
        all_ints = false;
        if ((py::isinstance<py::list>(item) || py::isinstance<py::tuple>(item)) && py::len(item) == 2 &&
            py::isinstance<py::int_>(item[py::int_(0)]))
          try {
            pairs.emplace_back(integer(item[py::int_(0)]), item[py::int_(1)].cast<double>());
          } catch (const py::cast_error&) {
            all_pairs = false;
          }
        else
          all_pairs = false;
      }
    }
    if (all_ints) return ints;
    if (all_pairs) return pairs;
  }
  throw ConfigError(path + " = " + std::string(py::repr(x)) +
                    " has a type that no parameter has: use a number, a string, true or false, a list of integers, or "
                    "a list of [flits, weight] pairs.");
}

}  // namespace

py::object to_python(const Value& value) {
  return std::visit([](const auto& x) { return py::object(py::cast(x)); }, value);
}

RawConfig from_python(const py::dict& flat) {
  RawConfig raw;
  for (const auto& [key, value] : flat) {
    const std::string path = key.cast<std::string>();
    raw.emplace(path, value_from(path, value));
  }
  return raw;
}

py::object number(double x) {
  if (x != x) return py::none();
  if (x == std::floor(x) && std::fabs(x) < 9e15) return py::int_(static_cast<std::int64_t>(x));
  return py::float_(x);
}

py::dict to_dict(const Experiment& experiment, const Result& r) {
  py::dict d, config, packets, window, use, model;
  for (const auto& [path, value] : experiment.flat()) config[path.c_str()] = to_python(value);
  d["version"] = FLITLAB_VERSION;
  d["backend"] = r.backend;
  d["device"] = r.device;
  d["threads"] = r.threads;
  d["seed"] = r.seed;
  d["config"] = config;
  d["routers"] = r.routers;
  d["terminals"] = r.terminals;
  d["channels"] = r.channels;
  d["cycles"] = r.cycles;
  d["warmup_cycles"] = r.warmup_cycles;
  d["measured_cycles"] = r.measured_cycles;
  d["drain_cycles"] = r.drain_cycles;
  d["wall_seconds"] = r.wall_seconds;
  d["router_cycles_per_second"] = r.router_cycles_per_second;
  d["state_bytes"] = r.state_bytes;
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(r.state_hash));
  d["state_hash"] = std::string(hash);
  d["offered"] = r.offered;
  d["accepted"] = r.accepted;
  d["verdict"] = std::string(kVerdictNames[static_cast<int>(r.verdict)]);
  d["saturated"] = r.saturated;
  d["warmup_steady"] = r.warmup_steady;
  d["window_capped"] = r.window_capped;
  d["latency_cycles"] = to_dict(r.latency);
  d["network_latency_cycles"] = to_dict(r.network_latency);
  d["hops_mean"] = r.hops_mean != r.hops_mean ? py::object(py::none()) : py::object(py::float_(r.hops_mean));
  packets["created"] = r.created;
  packets["injected"] = r.injected;
  packets["delivered"] = r.delivered;
  packets["dropped"] = r.dropped;
  packets["in_flight"] = r.in_flight;
  packets["queued"] = r.queued;
  d["packets"] = packets;
  window["created"] = r.window_created;
  window["delivered"] = r.window_delivered;
  window["dropped"] = r.window_dropped;
  d["window_packets"] = window;
  use["mean"] = r.channel_utilization_mean;
  use["max"] = r.channel_utilization_max;
  d["channel_utilization"] = use;
  for (const auto& [name, value] : r.model) model[name.c_str()] = number(value);
  d["model"] = model;
  return d;
}

py::dict to_dict(const InspectNode& node) {
  py::list values, parts;
  for (const InspectValue& v : node.values)
    values.append(py::make_tuple(std::string(v.name), to_python(v.value), std::string(v.unit), std::string(v.help)));
  for (const InspectNode& part : node.parts) parts.append(to_dict(part));
  py::dict d;
  d["kind"] = node.kind;
  d["help"] = std::string(node.help);
  d["name"] = node.name;
  d["note"] = node.note;
  d["values"] = values;
  d["parts"] = parts;
  return d;
}

namespace {

py::list members_of(const RecordInfo& record) {
  py::list list;
  for (const MemberInfo& m : record.members) {
    py::dict d;
    d["name"] = std::string(m.name);
    d["count"] = m.count;
    d["unit"] = std::string(m.unit);
    d["meaning"] = std::string(m.meaning);
    d["members"] = members_of(*m.element);
    list.append(d);
  }
  return list;
}

}  // namespace

static py::list fields_to_list(const std::vector<FieldInfo>& infos) {
  py::list fields;
  for (const FieldInfo& f : infos) {
    py::dict d;
    d["name"] = std::string(f.name);
    d["count"] = f.count;
    d["unit"] = std::string(f.unit);
    d["meaning"] = std::string(f.meaning);
    d["members"] = f.element ? members_of(*f.element) : py::list();
    fields.append(d);
  }
  return fields;
}

py::list to_list(const StateLayout& layout) {
  py::list kinds;
  for (const ItemKind& kind : layout.kinds) {
    py::dict d;
    d["name"] = kind.name;
    d["count"] = kind.count;
    d["fields"] = fields_to_list(kind.fields);
    d["absent"] = fields_to_list(kind.absent);
    kinds.append(d);
  }
  return kinds;
}

py::list events_to_list(const std::vector<TimedEvent>& events, std::string_view own) {
  const std::string_view kinds[] = {"created",    "injected",       "arrived",   "routed",
                                    "vc_granted", "switch_granted", "delivered", own};
  static constexpr const char* kFlits[] = {"body", "head", "tail", "head+tail"};
  py::list list;
  for (const TimedEvent& e : events) {
    py::dict d;
    d["cycle"] = e.cycle;
    d["kind"] = std::string(kinds[static_cast<int>(e.event.kind)]);
    d["item"] = e.terminal ? "terminal" : "router";
    d["index"] = e.index;
    d["port"] = e.event.port;
    d["vc"] = e.event.vc;
    d["out_port"] = e.event.out_port;
    d["out_vc"] = e.event.out_vc;
    d["src"] = e.event.src;
    d["id"] = e.event.id;
    d["flit"] = kFlits[e.event.flit & 3];
    d["flits"] = e.event.flits;
    if (e.event.kind == EventKind::kCreated) d["dst"] = e.event.dst;
    list.append(d);
  }
  return list;
}

}  // namespace flitlab
