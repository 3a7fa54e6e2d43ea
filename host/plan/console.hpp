#pragma once
/// What software can do to a machine by name, between two cycles: read and write registers, send, join a barrier, boot.
/// A plan may offer a console; it says what it can do, with help, and checks what it is given. A model may also offer
/// tools, operations that need no network (ModelRecord::tools).
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/plan/datum.hpp"
#include "host/run/checkpoint.hpp"
#include "kernels/engines/engine.hpp"

namespace flitlab {

class Experiment;

enum class ArgumentType {
  kRouter,    ///< number of a router
  kTerminal,  ///< number of a terminal
  kNumber,    ///< whole, not negative, of up to 64 bits
  kInteger,   ///< whole, of either sign
  kReal,
  kFlag,
  kText,
  kIntegers,  ///< a list of whole numbers
  kAny        ///< what the help says: lists of lists, records
};

/// "router", "terminal", "number", "integer", "real", "flag", "text", "integers" or "any".
std::string_view name_of(ArgumentType type);

struct ArgumentRecord {
  std::string_view name;
  ArgumentType type;
  std::string_view help = "";
  std::string_view unit = "";
  bool optional = false;  ///< may be left out, or none
  double min = 0;         ///< inclusive, of every number of a list as well; min == max: no range but the type's
  double max = 0;
};

struct OperationRecord {
  std::string_view name;
  std::string_view help;
  std::vector<ArgumentRecord> arguments = {};
  std::string_view returns = "";  ///< what comes back, with its unit; "": nothing
  std::string_view cite = "";     ///< source and section
};

/// What an operation is called with; every argument has been checked against its record.
class Arguments {
 public:
  /// ConfigError for an argument that is unknown, missing, or not of its type or in its range. `routers`, `terminals`:
  /// of the network; 0: there is none.
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

/// A register of a router, or several that differ in what stands in their names for #: a number, or a port.
struct RegisterRecord {
  std::string_view name;  ///< "R_CHAN#"
  u32 bits;               ///< 1 to 64; a negative value is its two's complement
  std::string_view help;
  bool writable = false;
  std::string_view unit = "";
};

/// The registers of a kind of router: what they are, and how software reaches those of the first replica.
struct RegisterFile {
  std::string_view of;    ///< "a node": whose they are
  std::string_view cite;  ///< source and section
  std::vector<RegisterRecord> records;
  std::string_view remark = "";  ///< on writing them
  std::string_view reads = "its value";
  /// All of a router that there are, by name.
  std::function<std::map<std::string, u64>(const Engine&, u32 router)> all;
  /// ConfigError if there is none of that name.
  std::function<u64(const Engine&, u32 router, const std::string& name)> read;
  /// ConfigError if it does not take the value; null if none can be written.
  std::function<void(Engine&, u32 router, const std::string& name, u64 value)> write = nullptr;
};

/// An operation of a console.
struct Operation {
  OperationRecord record;
  std::function<Datum(Engine&, const Arguments&)> run;
};

/// An operation without a network: a computation over an experiment, or over what it is given.
struct Tool {
  OperationRecord record;
  Datum (*run)(const Experiment* experiment, const Arguments&);  ///< `experiment`: null unless it is wanted
  bool wants_experiment = false;                                 ///< of the model whose tool it is
};

/// The tools of a router kind. ConfigError if there is no such kind.
std::vector<Tool> tools_of(const std::string& kind);

/// Carries out a tool. ConfigError for a tool that is not there, which names those that are, for wrong arguments, and
/// for an experiment that is missing, or of another kind.
Datum call_tool(const std::string& kind, const std::string& tool, const Experiment* experiment, Datum::Map arguments);

/// Operations of the first replica of a stepped network. Subclasses list them in their constructor, and refer to the
/// plan, which must live longer.
class Console {
 public:
  Console(u32 routers, u32 terminals) : routers_(routers), terminals_(terminals) {}
  virtual ~Console() = default;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  const std::vector<Operation>& operations() const { return operations_; }
  /// What the operations read_register, registers and write_register reach; empty if there are none.
  const std::vector<RegisterRecord>& registers() const { return registers_; }
  /// ConfigError for an operation that is not there, which names those that are, and for wrong arguments.
  Datum call(Engine& engine, std::string_view operation, Datum::Map arguments);

  /// What users should know about operations since the last call of this, though they have been carried out.
  std::vector<std::string> take_warnings();

  /// Cycles after which exchange() must be called again; kNever: never.
  virtual u32 period() const { return kNever; }
  /// Exchanges with the engine what software wants sent and what has come, between cycles.
  virtual void exchange(Engine&) {}
  /// What waits on the host, for checkpoints.
  virtual void save(Saver&) const {}
  virtual void load(Loader&) {}

 protected:
  void offer(OperationRecord record, std::function<Datum(Engine&, const Arguments&)> run);
  /// Offers read_register, registers and, if they can be written, write_register.
  void offer(RegisterFile file);
  /// Names of registers, for the help of an argument; once they have been offered.
  std::string_view register_names() const { return register_names_; }
  void warn(std::string text) { warnings_.push_back(std::move(text)); }

 private:
  u32 routers_, terminals_;
  std::vector<Operation> operations_;
  std::vector<RegisterRecord> registers_;
  std::list<std::string> texts_;  ///< of records that are made here
  std::string register_names_;
  std::vector<std::string> warnings_;
};

/// The record of a register; null if there is none of that name.
const RegisterRecord* record_of(const std::vector<RegisterRecord>& records, std::string_view name);

/// Names of registers for a message: those that differ in a last number as a range.
std::string families(const std::map<std::string, u64>& registers);

}  // namespace flitlab
