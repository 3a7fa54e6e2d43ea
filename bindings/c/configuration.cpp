#include "bindings/c/configuration.hpp"

#include <sstream>
#include <vector>

#include <toml++/toml.h>

#include "host/config/value.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

[[noreturn]] void reject(const std::string& path, const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  throw ConfigError(path + " = " + text.str() +
                    " has a type that no parameter has: use a number, a string, true or false, a list of numbers or "
                    "words, or a list of [flits, weight] pairs.");
}

/// Returns the elements of an array if all of them have a type, otherwise nothing.
template <class T, class To>
bool all_of(const toml::array& array, std::vector<To>& to) {
  for (const toml::node& node : array) {
    const auto value = node.value_exact<T>();
    if (!value) return false;
    to.push_back(static_cast<To>(*value));
  }
  return true;
}

Value list_of(const std::string& path, const toml::array& array) {
  IntList integers;
  WordList words;
  if (all_of<std::int64_t>(array, integers)) return integers;
  if (all_of<std::string>(array, words)) return words;
  NumberList numbers;
  Lengths pairs;
  for (const toml::node& node : array) {
    if (node.is_number()) numbers.push_back(*node.value<double>());
    const toml::array* pair = node.as_array();
    if (pair && pair->size() == 2 && (*pair)[0].is_integer() && (*pair)[1].is_number())
      pairs.emplace_back(*(*pair)[0].value<std::int64_t>(), *(*pair)[1].value<double>());
  }
  if (numbers.size() == array.size()) return numbers;
  if (pairs.size() == array.size()) return pairs;
  reject(path, array);
}

void flatten(const toml::table& table, const std::string& prefix, RawConfig& flat) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table())
      flatten(*inner, path + ".", flat);
    else if (const toml::array* array = node.as_array())
      flat[path] = list_of(path, *array);
    else if (node.is_boolean())
      flat[path] = *node.value<bool>();
    else if (node.is_integer())
      flat[path] = *node.value<std::int64_t>();
    else if (node.is_floating_point())
      flat[path] = *node.value<double>();
    else if (node.is_string())
      flat[path] = *node.value<std::string>();
    else
      reject(path, node);
  }
}

}  // namespace

Experiment hosted_experiment(std::string_view text, const std::string& name, const std::string& folder) {
  RawConfig flat;
  try {
    flatten(toml::parse(text), "", flat);
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << error.source().begin;
    throw ConfigError(name + " is not valid TOML: " + std::string(error.description()) + " (" + where.str() + ").");
  }
  flat[std::string(param::traffic.mode.path)] = std::string("host");
  return Experiment::resolve(flat, folder, {}, "traffic.");
}

}  // namespace flitlab
