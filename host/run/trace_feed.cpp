#include "host/run/trace_feed.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "host/config/text_source.hpp"
#include "host/config/value.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {

TraceFeed::TraceFeed(std::string path, PacketLimits limits) : Feed(std::move(limits)), path_(std::move(path)) {
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
  if (const std::string why = limits_.why_impossible(numbers[1], numbers[2], numbers[3], "Leave the line out");
      !why.empty())
    fail(why);
  next_.cycle = last_cycle_ = static_cast<Cycle>(numbers[0]);
  next_.source = static_cast<u32>(numbers[1]);
  next_.entry = {packets_, static_cast<u32>(numbers[2]), next_.cycle, kNone, static_cast<u32>(numbers[3])};
  if (count == 5 && !limits_.identifies_arrivals)
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

void TraceFeed::arrived(u32 terminal, const TraceArrival& arrival) {
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

void TraceFeed::exchange(Engine& engine, u32 replica) {
  collect(engine, replica);
  while (!arrived_.empty() && arrived_.front()) {
    arrived_.pop_front();
    ++first_open_;
  }
  read_until(u64{engine.now()} + kTraceQueue);
  fill(engine, replica);
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
  const auto is_read = [this](const TraceEntry& e) {
    return e.id < packets_ && (e.needs == kNone || e.needs < packets_);
  };
  Loader::require(offset <= size_ && destinations_.size() == std::min(packets_, kReach) && first_open_ <= packets_ &&
                  arrived_.size() == packets_ - first_open_ && has_sound_queues(is_read));
  begin_lines(offset);
  at_end_ = pending_ = false;
}

}  // namespace flitlab
