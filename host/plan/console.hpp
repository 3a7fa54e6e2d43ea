#pragma once
/// Operations that software performs on a machine between two cycles: reading and writing registers, sending, joining a
/// barrier, booting. A plan may offer a console, which lists its operations with help texts and checks their arguments.
/// A model may also offer tools: operations that need no network (ModelRecord::tools).
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/archive.hpp"
#include "host/plan/datum.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

class Experiment;

enum class ArgumentType {
  kRouter,    ///< number of a router
  kTerminal,  ///< number of a terminal
  kNumber,    ///< an integer >= 0 of up to 64 bits
  kInteger,   ///< an integer of either sign
  kReal,
  kFlag,
  kText,
  kIntegers,  ///< a list of integers
  kAny        ///< a value of any type, as the help describes it: lists of lists, maps
};

/// Returns "router", "terminal", "number", "integer", "real", "flag", "text", "integers" or "any".
std::string_view name_of(ArgumentType type);

/// Description of an argument of an operation.
struct ArgumentRecord {
  std::string_view name;
  ArgumentType type;
  std::string_view help = "";
  std::string_view unit = "";
  bool optional = false;  ///< the caller may omit the argument, or pass no value
  double min = 0;  ///< smallest value; for a list, of every element. If min == max, only the type limits the value
  double max = 0;
};

/// Description of an operation.
struct OperationRecord {
  std::string_view name;
  std::string_view help;
  std::vector<ArgumentRecord> arguments = {};
  std::string_view returns = "";  ///< the returned value and its unit; "": the operation returns no value
  std::string_view cite = "";     ///< the document and section that describes the operation
};

/// The arguments of one call of an operation, checked against the operation's record.
class Arguments {
 public:
  /// Throws ConfigError for an argument that is unknown or missing, or whose type or value is wrong. `routers`,
  /// `terminals`: how many the network has; 0: no network.
  Arguments(const OperationRecord& operation, Datum::Map given, u32 routers = 0, u32 terminals = 0);

  bool has(std::string_view name) const;
  const Datum& at(std::string_view name) const;
  u64 number(std::string_view name) const;
  u32 u32_of(std::string_view name) const { return static_cast<u32>(number(name)); }
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;

 private:
  Datum::Map values_;
};

/// Description of a register of a router, or of a family of registers. In the name of a family, # stands for a number
/// or a port.
struct RegisterRecord {
  std::string_view name;  ///< "R_CHAN#"
  u32 bits;               ///< width, 1 to 64 bits; a negative value is stored as its two's complement
  std::string_view help;
  bool writable = false;
  std::string_view unit = "";
};

/// The registers of one kind of router, and functions that access them in the first replica.
struct RegisterFile {
  std::string_view of;    ///< owner of the registers, for texts: "a node"
  std::string_view cite;  ///< the document and section that describes the registers
  std::vector<RegisterRecord> records;
  std::string_view remark = "";  ///< remark on writing registers, for the help text
  /// what a read returns, for the help text
  std::string_view reads = "its value";
  /// Returns the values of all registers of a router, by name.
  std::function<std::map<std::string, u64>(const Engine&, u32 router)> all;
  /// Returns the value of a register of a router. ConfigError if there is no register of that name.
  std::function<u64(const Engine&, u32 router, const std::string& name)> read;
  /// Writes a register of a router. ConfigError if the register cannot hold the value. Null if all registers are
  /// read-only.
  std::function<void(Engine&, u32 router, const std::string& name, u64 value)> write = nullptr;
};

/// An operation of a console: its description and its function.
struct Operation {
  OperationRecord record;
  std::function<Datum(Engine&, const Arguments&)> run;
};

/// An operation that needs no network: it computes something from an experiment, or from its arguments alone.
struct Tool {
  OperationRecord record;
  Datum (*run)(const Experiment* experiment, const Arguments&);  ///< `experiment`: null unless `wants_experiment`
  bool wants_experiment = false;  ///< the tool needs an experiment whose router kind is that of the tool
};

/// Returns the tools of a router kind. ConfigError if there is no such kind.
std::vector<Tool> tools_of(const std::string& kind);

/// Runs a tool. Throws ConfigError for an unknown tool (the message lists the tools), for wrong arguments, and for an
/// experiment that is missing or of another kind.
Datum call_tool(const std::string& kind, const std::string& tool, const Experiment* experiment, Datum::Map arguments);

/// Operations on the first replica of a network that a caller advances step by step. A subclass lists its operations in
/// its constructor and refers to the plan, which must outlive the console.
class Console {
 public:
  Console(u32 routers, u32 terminals) : routers_(routers), terminals_(terminals) {}
  virtual ~Console() = default;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  const std::vector<Operation>& operations() const { return operations_; }
  /// Returns the registers of read_register, registers and write_register; empty if the model has no registers.
  const std::vector<RegisterRecord>& registers() const { return registers_; }
  /// Runs an operation. Throws ConfigError for an unknown operation (the message lists the operations) and for wrong
  /// arguments.
  Datum call(Engine& engine, std::string_view operation, Datum::Map arguments);

  /// Returns the warnings of operations since the last call, and clears them. These operations have been carried out.
  std::vector<std::string> take_warnings();

  /// Returns the number of cycles after which exchange() must be called again; kNever: it need not be called.
  virtual u32 period() const { return kNever; }
  /// Passes messages from software to the engine, and fetches the messages that have arrived for software. Must be
  /// called between cycles.
  virtual void exchange(Engine&) {}
  /// Save and load the messages that are queued on the host, for checkpoints.
  virtual void save(Saver&) const {}
  virtual void load(Loader&) {}

 protected:
  void offer(OperationRecord record, std::function<Datum(Engine&, const Arguments&)> run);
  /// Adds the operations read_register, registers and, if any register is writable, write_register.
  void offer(RegisterFile file);
  /// Returns the names of the registers as text, for the help of an argument.
  std::string_view register_names() const { return register_names_; }
  void warn(std::string text) { warnings_.push_back(std::move(text)); }

 private:
  u32 routers_, terminals_;
  std::vector<Operation> operations_;
  std::vector<RegisterRecord> registers_;
  std::list<std::string> texts_;  ///< storage of texts to which records made at run time refer
  std::string register_names_;
  std::vector<std::string> warnings_;
};

/// Returns the record of a register; null if there is no register of that name.
const RegisterRecord* record_of(const std::vector<RegisterRecord>& records, std::string_view name);

/// Returns the names of registers for a message. Registers whose names differ in their final number only appear as a
/// range.
std::string register_ranges(const std::map<std::string, u64>& registers);

}  // namespace flitlab
