#include "bindings/pybind/convert.hpp"

#include "bindings/pybind/datum.hpp"
#include "host/run/event_row.hpp"

#include <pybind11/stl.h>

#include <cmath>

#include "kernels/common/error.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

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
    NumberList numbers;
    Lengths pairs;
    WordList words;
    bool all_ints = true, all_numbers = true, all_pairs = true, all_words = true;
    for (const py::handle item : x) {
      all_words &= py::isinstance<py::str>(item);
      if (all_words) words.push_back(item.cast<std::string>());
      if (py::isinstance<py::int_>(item) && !py::isinstance<py::bool_>(item)) {
        ints.push_back(integer(item));
        numbers.push_back(static_cast<double>(ints.back()));
        all_pairs = false;
      } else if (py::isinstance<py::float_>(item)) {
        numbers.push_back(item.cast<double>());
        all_ints = all_pairs = false;
      } else {
        all_ints = all_numbers = false;
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
    if (all_numbers) return numbers;
    if (all_pairs) return pairs;
    if (all_words) return words;
  }
  throw ConfigError(path + " = " + std::string(py::repr(x)) +
                    " has a type that no parameter has: use a number, a string, true or false, a list of numbers or "
                    "words, or a list of [flits, weight] pairs.");
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

py::object number(double x) { return to_python(datum_of(Figure{x})); }

py::dict to_dict(const Experiment& experiment, const Result& result) {
  py::dict config;
  for (const auto& [path, value] : experiment.flat()) config[path.c_str()] = to_python(value);
  py::dict d = to_python(datum_of(result));
  d["config"] = config;
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
  py::list list;
  for (const TimedEvent& e : events) {
    py::dict d;
    EventRow::for_each_column(EventRow(e), [&](const Column& c, const auto& value) {
      if (Datum datum = datum_of(value); !datum.nothing()) d[py::str(c.name)] = to_python(datum);
    });
    if (e.event.kind == EventKind::kOwn) d["kind"] = std::string(own);
    list.append(d);
  }
  return list;
}

}  // namespace flitlab
