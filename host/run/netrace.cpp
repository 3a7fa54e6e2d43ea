/// Traces of Netrace, version 1: packets of the memory system of a multicore processor, each with a list of the packets
/// that wait for its arrival. Byte order: little endian, without padding except where the header has it.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>

#include "host/run/trace_reader.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr u64 kHeaderBytes = 72, kRegionBytes = 24, kPacketBytes = 21;
constexpr u32 kMostRegions = 65536, kMostNotes = 1 << 24, kMostClasses = 5;

/// Returns the bytes of a packet by its type (netrace.c, nt_packet_sizes); 0: there is no such type.
u32 bytes_of_type(u32 type) {
  switch (type) {
    case 2:
    case 3:
    case 4:
    case 6:
    case 16:
    case 28:
    case 30: break;
    case 1:
    case 5:
    case 13:
    case 14:
    case 15:
    case 25:
    case 27:
    case 29: return 8;
    default: return 0;
  }
  return 72;
}

/// Types of packets that request something, among those of bytes_of_type().
bool is_request(u32 type) {
  switch (type) {
    case 1:
    case 4:
    case 6:
    case 13:
    case 15: return true;
    default: return false;
  }
}
/// Types of packets by which a directory takes a block away from a cache.
bool is_recall(u32 type) { return type == 27 || type == 29; }

/// Returns the class of a packet if packets are divided into `classes` classes. Requests that cause further requests
/// have smaller numbers: a cache's request, recalls of the directory, requests to memory controllers, responses of
/// memory controllers, other responses. Fewer classes join some of these. `nodes`: types of source and destination.
u32 class_of(u32 type, u32 nodes, u32 classes) {
  constexpr u32 kMemory = 3;
  const bool asks = is_request(type), recalls = is_recall(type), from_memory = nodes >> 4 == kMemory,
             to_memory = (nodes & 0xF) == kMemory;
  if (classes < 2) return 0;
  if (!asks && !recalls) return classes == 5 && from_memory ? 3 : classes - 1;
  if (classes >= 4 && asks && to_memory) return 2;
  return classes >= 3 && recalls ? 1 : 0;
}

class NetraceReader final : public TraceReader {
 public:
  NetraceReader(std::unique_ptr<std::istream> file, std::string path, u32 flit_bytes, std::vector<u32> regions,
                u32 classes)
      : file_(std::move(file)), path_(std::move(path)), flit_bytes_(flit_bytes), classes_(classes) {
    if (classes_ > kMostClasses)
      throw ConfigError("traffic.classes = " + std::to_string(classes_) + ": packets of Netrace have up to " +
                        std::to_string(kMostClasses) + " classes (docs/workloads.md). Use 1 to " +
                        std::to_string(kMostClasses) + ".");
    file_->seekg(0, std::ios::end);
    size_ = static_cast<u64>(file_->tellg());
    seek(0);
    read_header();
    choose(std::move(regions));
  }

  bool read(TracePacket& packet) override;
  void fail(const std::string& what) const override {
    fail_at(packet_start_, "packet " + std::to_string(read_ - 1) + ": " + what);
  }

  std::string leave_out() const override { return "Use another trace"; }

  void save(Saver& saver, bool again) const override {
    // A packet that will be read again is saved with the packets that it needs.
    std::vector<u64> waiting;
    for (const auto& [id, needs] : waiting_)
      if (!again || needs != read_ - 1) waiting.insert(waiting.end(), {id, needs});
    if (again)
      for (const u64 needs : last_needs_) waiting.insert(waiting.end(), {last_id_, needs});
    saver(size_, again ? before_ : place_, again ? read_ - 1 : read_, waiting);
  }
  void load(Loader& loader) override;

 private:
  /// A part of the trace: packets that follow one another in the file.
  struct Region {
    u64 offset, cycles, packets;
  };
  struct Place {
    u64 offset;        ///< of the next packet
    u64 region;        ///< index in chosen_
    u64 left;          ///< packets of this region that are not read
    u64 cycle;         ///< of the packet read last, in the file's time
    u64 begin, shift;  ///< the region's first cycle in the file, and in the network's time
  };

  [[noreturn]] void fail_at(u64 offset, const std::string& what) const {
    throw ConfigError("traffic.trace_file: " + path_ + ": byte " + std::to_string(offset) + ": " + what);
  }
  void seek(u64 offset) {
    file_->clear();
    file_->seekg(static_cast<std::streamoff>(offset));
    at_ = offset;
  }
  /// Reads a number of `bytes` bytes. `part`: what it belongs to, for messages.
  u64 number(u32 bytes, const char* part) {
    std::array<char, 8> raw{};
    take(raw.data(), bytes, part);
    u64 value = 0;
    for (u32 i = bytes; i-- > 0;) value = value << 8 | static_cast<u8>(raw[i]);
    return value;
  }
  void take(char* to, u64 bytes, const char* part) {
    if (at_ > size_ || bytes > size_ - at_) fail_at(at_, std::string("the file ends in the middle of ") + part + ".");
    file_->read(to, static_cast<std::streamsize>(bytes));
    if (!*file_) fail_at(at_, "the rest of the file cannot be read.");
    at_ += bytes;
  }
  void read_header();
  void choose(std::vector<u32> regions);
  void enter(u64 region);

  std::unique_ptr<std::istream> file_;
  std::string path_;
  u32 flit_bytes_, classes_, nodes_ = 0;
  u64 size_ = 0, at_ = 0;  ///< bytes of the file; bytes read
  std::vector<Region> regions_;
  std::vector<u64> begins_;  ///< [region] its first cycle
  std::vector<u32> chosen_;  ///< regions to read, in order
  Place place_{}, before_{};
  u64 packet_start_ = 0;
  u64 read_ = 0;                     ///< packets read
  std::multimap<u64, u64> waiting_;  ///< id of a packet that is not read: numbers of the packets that it needs
  u64 last_id_ = 0;                  ///< of the packet read last
  std::vector<u64> last_needs_;      ///< of the packet read last
};

void NetraceReader::read_header() {
  number(4, "the header");  // is_netrace() has tested these bytes
  const u64 bits = number(4, "the header");
  float version = 0;
  const u32 version_bits = static_cast<u32>(bits);
  std::memcpy(&version, &version_bits, sizeof version);
  if (version != 1.0f)
    fail_at(4, "version " + std::to_string(version) + " of Netrace is unknown: version 1.0 can be read.");
  seek(38);
  nodes_ = static_cast<u32>(number(1, "the header"));
  seek(40);
  const u64 cycles = number(8, "the header"), packets = number(8, "the header"), notes = number(4, "the header"),
            regions = number(4, "the header");
  if (notes > kMostNotes || regions > kMostRegions)
    fail_at(56, "the header has " + std::to_string(notes) + " bytes of notes and " + std::to_string(regions) +
                    " regions, more than is possible: it is damaged.");
  const u64 table = kHeaderBytes + notes, data = table + regions * kRegionBytes;
  if (data > size_) fail_at(size_, "the file ends in the middle of the header.");
  seek(table);
  u64 begin = 0;
  for (u64 i = 0; i < regions; ++i) {
    const u64 offset = number(8, "the header"), length = number(8, "the header"), n = number(8, "the header");
    if (offset > size_ - data || n > size_ / kPacketBytes)
      fail_at(at_ - kRegionBytes, "region " + std::to_string(i) + " begins at byte " + std::to_string(data + offset) +
                                      " and has " + std::to_string(n) + " packets, but the file has only " +
                                      std::to_string(size_) + " bytes: it is truncated or damaged.");
    regions_.push_back({data + offset, length, n});
    begins_.push_back(begin);
    begin += length;
  }
  if (regions_.empty()) {
    regions_.push_back({data, cycles, packets});
    begins_.push_back(0);
  }
}

void NetraceReader::choose(std::vector<u32> regions) {
  if (regions.empty()) {
    regions.resize(regions_.size());
    std::iota(regions.begin(), regions.end(), 0u);
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i] >= regions_.size())
      throw ConfigError("traffic.trace_regions contains " + std::to_string(regions[i]) + ": " + path_ + " has " +
                        std::to_string(regions_.size()) + (regions_.size() == 1 ? " region" : " regions") +
                        ", numbered from 0.");
    if (i && regions[i] <= regions[i - 1])
      throw ConfigError("traffic.trace_regions: the numbers must rise, because a packet can only need an earlier one.");
  }
  chosen_ = std::move(regions);
  enter(0);
}

/// Continues with a region that has packets, the first one from `region` on.
void NetraceReader::enter(u64 region) {
  place_.region = region;
  for (; place_.region < chosen_.size(); ++place_.region) {
    const u32 number = chosen_[place_.region];
    const u64 shift = place_.region ? place_.shift + regions_[chosen_[place_.region - 1]].cycles : 0;
    place_ = {regions_[number].offset, place_.region,   regions_[number].packets,
              begins_[number],         begins_[number], shift};
    if (place_.left) break;
  }
  if (place_.region < chosen_.size()) seek(place_.offset);
}

bool NetraceReader::read(TracePacket& packet) {
  before_ = place_;
  if (place_.region == chosen_.size()) return false;
  constexpr char kPart[] = "a packet";
  packet_start_ = at_;
  const u64 cycle = number(8, kPart);
  const u64 id = number(4, kPart);
  number(4, kPart);  // address
  const u32 type = static_cast<u32>(number(1, kPart));
  packet.source = number(1, kPart);
  packet.destination = number(1, kPart);
  const u32 nodes = static_cast<u32>(number(1, kPart));  // their types
  const u32 count = static_cast<u32>(number(1, kPart));
  const u64 self = read_++;
  const u32 bytes = bytes_of_type(type);
  if (!bytes) fail("type " + std::to_string(type) + " has no size in version 1.0 of Netrace: the file is damaged.");
  if (std::max(packet.source, packet.destination) >= nodes_)
    fail("it goes from node " + std::to_string(packet.source) + " to node " + std::to_string(packet.destination) +
         ", and the trace has " + std::to_string(nodes_) + " nodes: the file is damaged.");
  if (cycle < place_.cycle)
    fail("time goes backwards, from cycle " + std::to_string(place_.cycle) + " to cycle " + std::to_string(cycle) +
         ": the file is damaged.");
  packet.cycle = cycle - place_.begin + place_.shift;
  packet.flits = (bytes + flit_bytes_ - 1) / flit_bytes_;
  packet.of_class = class_of(type, nodes, classes_);
  packet.needs.clear();
  const auto [first, last] = waiting_.equal_range(id);
  for (auto it = first; it != last; ++it) packet.needs.push_back(it->second);
  waiting_.erase(first, last);
  last_id_ = id;
  last_needs_ = packet.needs;
  for (u32 i = 0; i < count; ++i) waiting_.emplace(number(4, kPart), self);
  place_.cycle = cycle;
  place_.offset = at_;
  if (--place_.left == 0) enter(place_.region + 1);
  return true;
}

void NetraceReader::load(Loader& loader) {
  u64 size = 0;
  std::vector<u64> waiting;
  loader(size, place_, read_, waiting);
  require_same_size(path_, size, size_);
  Loader::require(place_.offset <= size_ && place_.region <= chosen_.size() && waiting.size() % 2 == 0);
  waiting_.clear();
  for (std::size_t i = 0; i < waiting.size(); i += 2) {
    Loader::require(waiting[i + 1] < read_);
    waiting_.emplace(waiting[i], waiting[i + 1]);
  }
  seek(place_.offset);
}

}  // namespace

std::unique_ptr<TraceReader> detail::open_netrace(std::unique_ptr<std::istream> file, std::string path, u32 flit_bytes,
                                                  std::vector<u32> regions, u32 classes) {
  return std::make_unique<NetraceReader>(std::move(file), std::move(path), flit_bytes, std::move(regions), classes);
}

}  // namespace flitlab
