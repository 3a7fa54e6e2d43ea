#include "bindings/pybind/datum.hpp"

#include "bindings/pybind/convert.hpp"
#include "kernels/common/error.hpp"

namespace py = pybind11;

namespace flitlab {
namespace {

struct ToPython {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(bool x) const { return py::bool_(x); }
  py::object operator()(std::int64_t x) const { return py::int_(x); }
  py::object operator()(u64 x) const { return py::int_(x); }
  py::object operator()(double x) const { return py::float_(x); }
  py::object operator()(const std::string& x) const { return py::str(x); }
  py::object operator()(const Datum::List& list) const {
    py::list items(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      PyList_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i), std::visit(*this, list[i].value).release().ptr());
    return items;
  }
  py::object operator()(const Datum::Map& map) const {
    py::dict d;
    for (const auto& [name, value] : map) d[py::str(name)] = std::visit(*this, value.value);
    return d;
  }
};

/// Path of a value inside the arguments, for error messages. Its text is made only if a message needs it.
struct ArgumentPath {
  const ArgumentPath* outer;
  std::string name;
  std::size_t index;

  std::string text() const {
    if (!outer) return name;
    return outer->text() + (name.empty() ? "[" + std::to_string(index) + "]" : "." + name);
  }
};

Datum from_python(const ArgumentPath& path, const py::handle& x);

Datum from_integer(const ArgumentPath& path, const py::handle& x) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(x.ptr(), &overflow);
  if (!overflow) return value < 0 ? Datum{static_cast<std::int64_t>(value)} : Datum{static_cast<u64>(value)};
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(x.ptr());
    if (!PyErr_Occurred()) return Datum{static_cast<u64>(large)};
    PyErr_Clear();
  }
  throw ConfigError(path.text() + " = " + std::string(py::str(x)) +
                    " is out of range: whole numbers must fit in 64 bits.");
}

Datum from_items(const ArgumentPath& path, const py::handle& x) {
  Datum::List list;
  list.reserve(py::len(x));
  std::size_t i = 0;
  for (const py::handle item : x) list.push_back(from_python({&path, "", i++}, item));
  return list;
}

Datum::Map from_dict(const ArgumentPath* path, const py::dict& d) {
  Datum::Map map;
  for (const auto& [key, value] : d) {
    if (!py::isinstance<py::str>(key))
      throw ConfigError((path ? path->text() + ": " : "") + std::string(py::repr(key)) +
                        " is not a name: use strings as keys.");
    std::string name = key.cast<std::string>();
    Datum datum = from_python({path, name, 0}, value);
    map.emplace_back(std::move(name), std::move(datum));
  }
  return map;
}

Datum from_python(const ArgumentPath& path, const py::handle& x) {
  if (x.is_none()) return {};
  if (PyBool_Check(x.ptr())) return x.ptr() == Py_True;
  if (PyLong_Check(x.ptr())) return from_integer(path, x);
  if (PyFloat_Check(x.ptr())) return PyFloat_AS_DOUBLE(x.ptr());
  if (py::isinstance<py::str>(x)) return x.cast<std::string>();
  if (py::isinstance<py::dict>(x)) return from_dict(&path, py::reinterpret_borrow<py::dict>(x));
  if (py::isinstance<py::list>(x) || py::isinstance<py::tuple>(x)) return from_items(path, x);
  if (py::hasattr(x, "tolist")) return from_python(path, x.attr("tolist")());  // NumPy numbers and arrays
  if (PyIndex_Check(x.ptr()))
    if (const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(x.ptr())))
      return from_integer(path, number);
  PyErr_Clear();
  // Any other sequence, such as a range.
  if (py::isinstance<py::sequence>(x) && !py::isinstance<py::bytes>(x)) return from_items(path, x);
  throw ConfigError(path.text() + " = " + std::string(py::repr(x)) +
                    " has a type that no argument has: use numbers, strings, true or false, None, lists and dicts.");
}

}  // namespace

py::object to_python(const Datum& value) { return std::visit(ToPython{}, value.value); }

Datum::Map arguments_from_python(const py::dict& arguments) { return from_dict(nullptr, arguments); }

py::dict to_dict(const OperationRecord& record) {
  py::list arguments;
  for (const ArgumentRecord& a : record.arguments) {
    const bool ranged = a.min != a.max;
    py::dict d;
    d["name"] = std::string(a.name);
    d["type"] = std::string(name_of(a.type));
    d["unit"] = std::string(a.unit);
    d["help"] = std::string(a.help);
    d["optional"] = a.optional;
    d["min"] = ranged ? number(a.min) : py::none();
    d["max"] = ranged ? number(a.max) : py::none();
    arguments.append(d);
  }
  py::dict d;
  d["name"] = std::string(record.name);
  d["help"] = std::string(record.help);
  d["arguments"] = arguments;
  d["returns"] = std::string(record.returns);
  d["cite"] = std::string(record.cite);
  return d;
}

py::list registers_to_list(const std::vector<RegisterRecord>& registers) {
  py::list list;
  for (const RegisterRecord& r : registers) {
    py::dict d;
    d["name"] = std::string(r.name);
    d["bits"] = r.bits;
    d["help"] = std::string(r.help);
    d["writable"] = r.writable;
    d["unit"] = std::string(r.unit);
    list.append(d);
  }
  return list;
}

py::list operations_to_list(const std::vector<Operation>& operations) {
  py::list list;
  for (const Operation& operation : operations) list.append(to_dict(operation.record));
  return list;
}

}  // namespace flitlab
