#include "host/config/check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "host/config/registry.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/portable.hpp"

namespace flitlab {
namespace {

/// Returns the edit distance of two words: the number of letters to delete, insert, replace or exchange with a
/// neighbour.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string plain(double x) {
  if (x == std::floor(x) && std::fabs(x) <= 9007199254740992.0) return std::to_string(static_cast<std::int64_t>(x));
  return to_text(Value{x});
}

std::string expected(const ParamRecord& r) {
  const std::string example(r.default_value);
  switch (r.type) {
    case ParamType::kBool: return "true or false";
    case ParamType::kInt: return "an integer, e.g. " + example;
    case ParamType::kFloat: return "a number, e.g. " + example;
    case ParamType::kFile: return "a string";
    case ParamType::kChoice: return "one of " + listed(split_words(r.choices));
    case ParamType::kIntList: return "a list of integers, e.g. " + example;
    case ParamType::kLengths: return "an integer such as " + example + " or pairs such as [[1, 0.5], [5, 0.5]]";
    case ParamType::kIntOrAuto: return "an integer or \"auto\"";
    case ParamType::kIntOrList: return "an integer, e.g. " + example + ", or a list of integers";
    case ParamType::kNumberOrList: return "a number, e.g. " + example + ", or a list of numbers";
    case ParamType::kChoiceList: return "a list of words out of " + listed(split_words(r.choices));
  }
  return "";
}

/// Returns a hint on what to change if the value shows what the user meant, or "".
std::string type_hint(const ParamRecord& r, const Value& v) {
  const bool wants_integer =
      r.type == ParamType::kInt || r.type == ParamType::kIntOrAuto || r.type == ParamType::kIntOrList;
  if (const auto* x = std::get_if<double>(&v); x && wants_integer && *x == std::floor(*x) && std::fabs(*x) < 1e15)
    return " Write " + plain(*x) + ", without a decimal point.";
  if (const auto* word = std::get_if<std::string>(&v); word && !word->empty()) {
    double x = 0;
    const char* end = word->data() + word->size();
    const bool number = portable::from_chars(word->data(), end, x).ptr == end;
    if (number || *word == "true" || *word == "false") return " Remove the quotes.";
  }
  return "";
}

[[noreturn]] void wrong_type(const ParamRecord& r, const Value& v) {
  throw ConfigError(std::string(r.path) + " = " + shown(v) + " has the wrong type: it must be " + expected(r) + "." +
                    type_hint(r, v));
}

void check_range(const ParamRecord& r, const Value& given, double x) {
  if (r.min == r.max || (x >= r.min && x <= r.max)) return;
  const bool list = std::holds_alternative<IntList>(given) || std::holds_alternative<Lengths>(given) ||
                    std::holds_alternative<NumberList>(given);
  throw ConfigError(std::string(r.path) + " = " + shown(given) + " is out of range: allowed are " + plain(r.min) +
                    " to " + plain(r.max) + (r.unit.empty() ? "" : " " + std::string(r.unit)) +
                    (list ? ", and " + plain(x) + " is not." : "."));
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

constexpr std::size_t kTooFar = ~std::size_t{0};

/// Returns the edit distance of two words, or kTooFar if they are not similar by the rule of nearest().
std::size_t slips(const std::string& word, const std::string& candidate) {
  constexpr std::size_t kShortestBeginning = 3;
  const std::size_t d = edit_distance(word, candidate), common = std::min(word.size(), candidate.size());
  const bool begins = common >= kShortestBeginning && word.compare(0, common, candidate, 0, common) == 0;
  return begins || d <= (word.size() + 2) / 3 ? d : kTooFar;
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }
std::string section(const std::string& path) { return path.substr(0, path.size() - last_name(path).size()); }

}  // namespace

std::vector<std::string> split_words(std::string_view words, char separator) {
  std::vector<std::string> list;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(separator), words.size());
    list.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return list;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = kTooFar;
  for (const std::string& candidate : candidates) {
    std::size_t d = slips(lower(last_name(word)), lower(last_name(candidate)));
    if (d != kTooFar) d += lower(section(word)) != lower(section(candidate));
    if (d >= least) continue;  // of equally similar candidates, keep the first
    least = d;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(const std::string& best) { return best.empty() ? "." : ": did you mean " + best + "?"; }

Value default_value(const ParamRecord& r) {
  const std::string text(r.default_value);
  switch (r.type) {
    case ParamType::kBool: return text == "true";
    case ParamType::kInt:
    case ParamType::kIntOrList: return static_cast<std::int64_t>(std::stoll(text));
    case ParamType::kNumberOrList:
    case ParamType::kFloat: {
      double x = 0;
      portable::from_chars(text.data(), text.data() + text.size(), x);
      return x;
    }
    case ParamType::kLengths: return Lengths{{std::stoll(text), 1.0}};
    case ParamType::kIntList: {
      IntList list;
      for (const std::string& word : split_words(std::string_view(text).substr(1, text.size() - 2), ','))
        list.push_back(std::stoll(word));
      return list;
    }
    default: return text;
  }
}

namespace {

/// Throws ConfigError if a word is not one of a parameter's choices.
void check_choice(const ParamRecord& r, const Value& given, const std::string& word) {
  const std::vector<std::string> choices = split_words(r.choices);
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return;
  const std::string best = nearest(word, choices);
  const bool list = r.type == ParamType::kChoiceList;
  throw ConfigError(std::string(r.path) + " = " + shown(given) +
                    (list ? ": " + shown(Value{word}) + " is not known" : " is not known") +
                    did_you_mean(best.empty() ? best : '"' + best + '"') + " Allowed are " + listed(choices) + ".");
}

}  // namespace

Value check_value(const ParamRecord& r, const Value& v) {
  const auto* integer = std::get_if<std::int64_t>(&v);
  const auto* word = std::get_if<std::string>(&v);
  switch (r.type) {
    case ParamType::kBool:
      if (!std::holds_alternative<bool>(v)) wrong_type(r, v);
      return v;
    case ParamType::kInt:
      if (!integer) wrong_type(r, v);
      check_range(r, v, static_cast<double>(*integer));
      return v;
    case ParamType::kFloat: {
      const auto* real = std::get_if<double>(&v);
      if (!integer && !real) wrong_type(r, v);
      const double x = real ? *real : static_cast<double>(*integer);
      if (!std::isfinite(x)) wrong_type(r, v);
      check_range(r, v, x);
      return x;
    }
    case ParamType::kFile:
      if (!word) wrong_type(r, v);
      return v;
    case ParamType::kChoice: {
      if (!word) wrong_type(r, v);
      check_choice(r, v, *word);
      return v;
    }
    case ParamType::kChoiceList: {
      if (const auto* none = std::get_if<IntList>(&v); none && none->empty()) return std::string();
      WordList words;
      if (const auto* list = std::get_if<WordList>(&v))
        words = *list;
      else if (word)
        words = split_words(*word, ',');
      else
        wrong_type(r, v);
      std::string list;
      for (std::string& item : words) {
        std::erase(item, ' ');
        check_choice(r, v, item);
        list += (list.empty() ? "" : ",") + item;
      }
      return list;
    }
    case ParamType::kIntList: {
      IntList list;
      if (integer)
        list = {*integer};
      else if (const auto* given = std::get_if<IntList>(&v))
        list = *given;
      else
        wrong_type(r, v);
      if (list.empty() && r.default_value != "[]")
        throw ConfigError(std::string(r.path) + " = [] is empty: give at least one integer.");
      for (std::int64_t x : list) check_range(r, v, static_cast<double>(x));
      return list;
    }
    case ParamType::kLengths: {
      Lengths list;
      if (integer)
        list = {{*integer, 1.0}};
      else if (const auto* given = std::get_if<Lengths>(&v))
        list = *given;
      else
        wrong_type(r, v);
      double weight = 0;
      for (const auto& [flits, w] : list) {
        check_range(r, v, static_cast<double>(flits));
        if (!(w >= 0) || !std::isfinite(w))
          throw ConfigError(std::string(r.path) + " = " + shown(v) + ": weights must not be negative.");
        weight += w;
      }
      if (!std::isfinite(weight))
        throw ConfigError(std::string(r.path) + " = " + shown(v) +
                          ": the sum of the weights is too large for a floating-point number.");
      if (!(weight > 0))
        throw ConfigError(std::string(r.path) + " = " + shown(v) + ": at least one weight must be positive.");
      return list;
    }
    case ParamType::kIntOrAuto:
      if (word && *word == "auto") return v;
      if (!integer) wrong_type(r, v);
      check_range(r, v, static_cast<double>(*integer));
      return v;
    case ParamType::kIntOrList: {
      const auto* list = std::get_if<IntList>(&v);
      if (!integer && !list) wrong_type(r, v);
      for (std::int64_t x : list ? *list : IntList{*integer}) check_range(r, v, static_cast<double>(x));
      return v;
    }
    case ParamType::kNumberOrList: {
      NumberList numbers;
      if (const auto* ints = std::get_if<IntList>(&v))
        numbers.assign(ints->begin(), ints->end());
      else if (const auto* list = std::get_if<NumberList>(&v))
        numbers = *list;
      else if (const auto* real = std::get_if<double>(&v); real || integer)
        numbers = {real ? *real : static_cast<double>(*integer)};
      else
        wrong_type(r, v);
      for (double x : numbers) {
        if (!std::isfinite(x)) wrong_type(r, v);
        check_range(r, v, x);
      }
      const bool one = integer || std::holds_alternative<double>(v);
      return one ? Value{numbers.front()} : Value{numbers};
    }
  }
  return v;
}

void unknown_key(const std::string& path, const Value& value, std::string_view kind) {
  std::string owners;
  for (const ModelRecord& model : models()) {
    const std::vector<const ParamRecord*> its = parameters_of(model.kind);
    if (model.kind != kind &&
        std::any_of(its.begin(), its.end(), [&](const ParamRecord* r) { return r->path == path; }))
      owners += (owners.empty() ? "\"" : " or \"") + std::string(model.kind) + '"';
  }
  if (!owners.empty())
    throw ConfigError(path + " = " + shown(value) + " belongs to router.kind = " + owners + ", and it is \"" +
                      std::string(kind) + "\": remove the key (--unset " + path + ") or change router.kind.");
  std::vector<std::string> known;
  for (const ParamRecord* record : parameters_of(kind)) known.emplace_back(record->path);
  // to_text() puts a key in quotes and escapes it, because a TOML key may have any characters.
  const std::string name = to_text(Value{path});
  throw ConfigError("unknown key " + (name.size() == path.size() + 2 ? path : name) + " = " + shown(value) +
                    did_you_mean(nearest(path, known)) + " `flitlab inspect` lists all keys of a configuration.");
}

}  // namespace flitlab
