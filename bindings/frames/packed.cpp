// Packed recordings: tables of the changes of all frames, which saved pages and notebooks have.

#include "bindings/frames/change_table.hpp"
#include "bindings/frames/recorder.hpp"
#include "host/run/event_row.hpp"

namespace flitlab {
namespace {

/// Columns of an event from which its key in a packed recording is computed.
bool is_key(const Column& column) {
  return column.name == "item" || column.name == "index" || column.name == "port" || column.name == "vc";
}
/// Number of the other columns of an event, without the cycle, and of the column that a packed recording adds.
constexpr u32 kPackedEventColumns = EventRow::kColumns - 5 + 1;

u64 place_of(u64 item, u32 port, u32 vc) { return (item << 20) + (port << 10) + vc; }
u64 one_more(u32 x) { return x == kNone ? 0 : u64{x} + 1; }

}  // namespace

/// Tables of a packed recording.
struct Recorder::Packed {
  ChangeTable<VcSnapshot::kColumns> channels;
  ChangeTable<1> queues, held, use;
  ChangeTable<8> state;
  ChangeTable<kPackedEventColumns> events;

  /// Adds a frame. `frame`: its index. `state`: state of the drawn routers in this frame. `drawn`: their number.
  void add(u32 frame, const Frame& content, const std::vector<std::vector<u32>>& state, u32 drawn);
  void add_events(u32 frame, const std::vector<TimedEvent>& content);
};

void Recorder::Packed::add(u32 frame, const Frame& content, const std::vector<std::vector<u32>>& state, u32 drawn) {
  for (const Row& row : content.rows) {
    std::array<u64, VcSnapshot::kColumns> values;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = one_more(row[kKeyColumns + k]);
    channels.add(place_of(row[0], row[1], row[2]), frame, values);
  }
  for (const auto& [terminal, queued] : content.queues) queues.add(terminal, frame, {queued});
  for (const auto& [router, now] : content.held) held.add(router, frame, {now});
  for (const auto& [channel, flits] : content.use) use.add(channel, frame, {flits});
  u32 last_drawn = kNone, last_pair = kNone;  // a pair in which both words have changed is one record
  for (const Change& change : content.state) {
    const u32 pair = change.place / 2;
    if (change.drawn == last_drawn && pair == last_pair) continue;
    last_drawn = change.drawn, last_pair = pair;
    std::array<u64, 8> bytes;
    const std::vector<u32>& words = state[change.drawn];
    for (u32 k = 0; k < bytes.size(); ++k)
      bytes[k] = 2 * pair + k / 4 < words.size() ? words[2 * pair + k / 4] >> 8 * (k % 4) & 255 : 0;
    this->state.add(u64{pair} * drawn + change.drawn, frame, bytes);
  }
  add_events(frame, content.events);
}

void Recorder::Packed::add_events(u32 frame, const std::vector<TimedEvent>& content) {
  u64 number = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const TimedEvent& e = content[i];
    const bool same_item = i && content[i - 1].terminal == e.terminal && content[i - 1].index == e.index;
    number = same_item ? number + 1 : 0;
    decltype(events)::Values values{number};
    std::size_t column = 1;
    EventRow::for_each_column(EventRow(e), [&]<class T>(const Column& c, const T& value) {
      if (is_omitted(c) || is_key(c)) return;
      const u64 number_of_value = static_cast<u64>(value);
      values[column++] = c.name == "dst" ? one_more(static_cast<u32>(number_of_value)) : number_of_value;
    });
    events.add(place_of((e.terminal ? u64{1} << 32 : 0) + e.index, e.event.port, e.event.vc), frame, values);
  }
}

void Recorder::put_packed(Json& json, std::string& bytes, u32 most) const {
  const std::size_t first = first_of(most);
  const auto drawn = static_cast<u32>(routers_.size());
  Packed packed;
  FrameState known;
  known.state.resize(drawn);
  u32 number = 0;
  const auto put = [&](const Frame& frame) {
    json.open('{').raw(frame.rest);
    if (frame.whole) json.member("whole", true);
    put_texts_of(json, frame);
    json.close('}');
    known.apply(frame);
    packed.add(number++, frame, known.state, drawn);
  };
  json.open('[');
  put(complete_frame(first));
  for (std::size_t i = first + 1; i < frames_.size(); ++i) put(frames_[i]);
  json.close(']');
  packed.channels.append_to(bytes);
  for (const auto* table : {&packed.queues, &packed.held, &packed.use}) table->append_to(bytes);
  packed.state.append_to(bytes);
  packed.events.append_to(bytes);
}

}  // namespace flitlab
