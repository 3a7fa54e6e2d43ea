#include "host/run/trace_feed.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

TraceFeed::TraceFeed(std::string path, u32 terminals, u32 max_flits, bool allow_self, std::vector<u32> dead,
                     u32 min_flits, bool identifies_arrivals)
    : path_(std::move(path)),
      terminals_(terminals),
      min_flits_(min_flits),
      max_flits_(max_flits),
      allow_self_(allow_self),
      identifies_arrivals_(identifies_arrivals),
      dead_(std::move(dead)),
      queues_(terminals) {
  open();
}

void TraceFeed::open() {
  file_.open(path_, std::ios::binary | std::ios::ate);
  // A directory can be opened like a file, but has no size.
  const auto size = file_ ? static_cast<std::streamoff>(file_.tellg()) : -1;
  file_.seekg(0);
  if (!file_ || size < 0 || size == std::numeric_limits<std::streamoff>::max())
    throw ConfigError("traffic.trace_file = \"" + path_ +
                      "\" cannot be read: " + std::strerror(errno ? errno : EISDIR) + ".");
  size_ = static_cast<u64>(size);
  begin_lines(0);
}

/// Continues to read at a line that begins at a byte offset.
void TraceFeed::begin_lines(u64 offset) {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  if (!offset) skip_mark(file_, "traffic.trace_file: " + path_);
  next_line_ = static_cast<u64>(file_.tellg());
}

void TraceFeed::fail(const std::string& what) const {
  throw ConfigError("traffic.trace_file: " + path_ + ":" + std::to_string(line_) + ": " + shown(Value{text_}) + ": " +
                    what);
}

/// Reads the next packet from the file into next_. Returns false at the end of the file.
bool TraceFeed::read_line() {
  for (;;) {
    line_start_ = next_line_;
    if (!std::getline(file_, text_)) {
      if (file_.bad()) fail("the rest of the file cannot be read.");
      return false;
    }
    ++line_;
    next_line_ += text_.size() + 1;
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    if (!text_.empty() && text_[0] != '#') break;
  }
  const auto fail_form = [&] {
    fail(std::string("a line is cycle,source,destination,flits[,needs], whole numbers from 0.") +
         (file_.eof() ? " The file ends in the middle of a line." : ""));
  };
  u64 numbers[5];
  u32 count = 0;
  const char* at = text_.data();
  const char* end = at + text_.size();
  for (;;) {
    while (at < end && *at == ' ') ++at;
    if (count == 5) fail_form();
    const auto [next, error] = std::from_chars(at, end, numbers[count]);
    if (error != std::errc{}) fail_form();
    ++count;
    at = next;
    while (at < end && *at == ' ') ++at;
    if (at == end) break;
    if (*at++ != ',') fail_form();
  }
  if (count < 4) fail_form();
  if (numbers[0] < last_cycle_)
    fail("time goes backwards: the line before is at cycle " + std::to_string(last_cycle_) +
         ". Sort the file by cycle.");
  if (numbers[0] >= kEndOfTime) fail("the cycle must be below " + std::to_string(kEndOfTime) + ".");
  for (u32 i = 1; i <= 2; ++i)
    if (numbers[i] >= terminals_)
      fail("terminal " + std::to_string(numbers[i]) + " does not exist: terminals are numbered 0 to " +
           std::to_string(terminals_ - 1) + ".");
  for (u32 i = 1; i <= 2; ++i)
    if (std::count(dead_.begin(), dead_.end(), numbers[i]))
      fail("terminal " + std::to_string(numbers[i]) +
           " is at a dead node, which no channel reaches. Leave the line out.");
  if (numbers[1] == numbers[2] && !allow_self_)
    fail("terminal " + std::to_string(numbers[1]) +
         " sends to itself, and traffic.self = false. Leave the line out, or set traffic.self = true.");
  if (numbers[3] < min_flits_ || numbers[3] > max_flits_)
    fail("a packet must have " + std::to_string(min_flits_) + " to " + std::to_string(max_flits_) + " flits.");
  next_.cycle = last_cycle_ = static_cast<Cycle>(numbers[0]);
  next_.source = static_cast<u32>(numbers[1]);
  next_.entry = {packets_, static_cast<u32>(numbers[2]), next_.cycle, kNone, static_cast<u32>(numbers[3])};
  if (count == 5 && !identifies_arrivals_)
    fail(
        "terminals of this network cannot identify the packet that has arrived, so a packet cannot need another. Leave "
        "the fifth number out.");
  if (count == 5) {
    const u64 needed = numbers[4];
    if (needed >= packets_)
      fail("this is packet " + std::to_string(packets_) + " (counted from 0), and it can only need an earlier one.");
    if (packets_ - needed > kReach)
      fail("packet " + std::to_string(needed) + " is more than " + std::to_string(kReach) + " packets back.");
    const u32 goes_to = destinations_[needed % kReach];
    if (goes_to != next_.source)
      fail("packet " + std::to_string(needed) + " goes to terminal " + std::to_string(goes_to) + ", and terminal " +
           std::to_string(next_.source) +
           " does not see its arrival: a packet may only need one that arrives at "
           "its source.");
    next_.entry.needs = static_cast<u32>(needed);
  }
  if (packets_ == kNone - 1) fail("a trace can have at most 4294967294 packets.");
  return true;
}

/// Reads all lines whose cycle is before `cycle` into the queues of their sources.
void TraceFeed::read_until(u64 cycle) {
  while (!at_end_) {
    if (!pending_) pending_ = read_line();
    if (!pending_) at_end_ = true;
    if (at_end_ || next_.cycle >= cycle) return;
    TraceEntry entry = next_.entry;
    if (entry.needs != kNone) {
      if (has_arrived(entry.needs))
        entry.needs = kNone;
      else
        awaited_.insert(entry.needs);
    }
    if (packets_ < kReach)
      destinations_.push_back(entry.destination);
    else
      destinations_[packets_ % kReach] = entry.destination;
    arrived_.push_back(0);
    queues_[next_.source].push_back(entry);
    ++packets_;
    pending_ = false;
  }
}

void TraceFeed::collect(u32 terminal, const TraceArrival& arrival) {
  if (arrival.id < first_open_ || arrival.id >= packets_)
    throw RunError("terminal " + std::to_string(terminal) + " lists the arrival of packet " +
                   std::to_string(arrival.id) + ", which is not in flight: its state is damaged.");
  arrived_[arrival.id - first_open_] = 1;
  if (!awaited_.erase(arrival.id)) return;
  // Releases entries that are not yet in the terminal's queue. The terminal has released the entries in its queue.
  for (TraceEntry& entry : queues_[terminal]) {
    if (entry.needs != arrival.id) continue;
    entry.needs = kNone;
    entry.cycle = std::max(entry.cycle, arrival.at + 1);
  }
}

namespace {

/// A field of all terminals, in the engine's memory or as a copy.
template <class T>
class OfTerminals {
 public:
  OfTerminals(Engine& engine, u32 replica, std::string_view name)
      : engine_(engine),
        replica_(replica),
        field_(engine.layout().kinds[1].field(name)),
        first_(engine.in_place(replica, 1, field_)),
        distance_(engine.layout().kinds[1].item_bytes) {
    if (first_) return;
    distance_ = field_.count * sizeof(T);
    copy_.resize(engine.layout().kinds[1].count * distance_);
    engine.get_field(replica, 1, field_, copy_.data());
    first_ = copy_.data();
  }
  T* operator[](u32 terminal) const { return reinterpret_cast<T*>(first_ + terminal * distance_); }
  void write() const {
    if (!copy_.empty()) engine_.set_field(replica_, 1, field_, first_);
  }

 private:
  Engine& engine_;
  u32 replica_;
  const FieldInfo& field_;
  std::byte* first_;
  std::size_t distance_;  ///< bytes from one terminal to the next
  std::vector<std::byte> copy_;
};

}  // namespace

void TraceFeed::exchange(Engine& engine, u32 replica) {
  const OfTerminals<TraceControl> controls(engine, replica, "trace");
  const OfTerminals<TraceEntry> entries(engine, replica, "trace_entry");
  const OfTerminals<TraceArrival> arrivals(engine, replica, "trace_arrival");
  for (u32 t = 0; t < terminals_; ++t) {
    const TraceControl& c = *controls[t];
    if (c.arrivals > kTraceQueue)
      throw RunError("terminal " + std::to_string(t) + " lists " + std::to_string(c.arrivals) +
                     " arrivals, more than it can store: its state is damaged.");
    for (u32 i = 0; i < c.arrivals; ++i) collect(t, arrivals[t][i]);
  }
  while (!arrived_.empty() && arrived_.front()) {
    arrived_.pop_front();
    ++first_open_;
  }
  read_until(u64{engine.now()} + kTraceQueue);
  for (u32 t = 0; t < terminals_; ++t) {
    TraceControl& c = *controls[t];
    c.arrivals = 0;
    for (; c.entries < kTraceQueue && !queues_[t].empty(); ++c.entries) {
      entries[t][(c.first + c.entries) % kTraceQueue] = queues_[t].front();
      queues_[t].pop_front();
    }
  }
  controls.write();
  entries.write();
}

void TraceFeed::save(Saver& saver) const {
  const u64 offset = pending_ ? line_start_ : std::min(next_line_, size_);
  saver(size_, offset, pending_ ? line_ - 1 : line_);
  visit(saver, *this);
}

void TraceFeed::load(Loader& loader) {
  u64 size = 0, offset = 0;
  loader(size, offset, line_);
  if (size != size_)
    throw ConfigError("traffic.trace_file = \"" + path_ +
                      "\" has changed since the checkpoint was saved: its size "
                      "is different.");
  visit(loader, *this);
  bool sound = offset <= size_ && destinations_.size() == std::min(packets_, kReach) && queues_.size() == terminals_ &&
               first_open_ <= packets_ && arrived_.size() == packets_ - first_open_;
  for (const std::deque<TraceEntry>& queue : queues_)
    for (const TraceEntry& e : queue)
      sound = sound && e.id < packets_ && e.destination < terminals_ && e.flits >= min_flits_ &&
              e.flits <= max_flits_ && (e.needs == kNone || e.needs < packets_);
  Loader::require(sound);
  begin_lines(offset);
  at_end_ = pending_ = false;
}

}  // namespace flitlab
