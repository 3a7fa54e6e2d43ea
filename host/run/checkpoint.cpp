#include "host/run/checkpoint.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "host/config/run_params.hpp"
#include "host/config/stream_hash.hpp"
#include "host/plan/plan.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

constexpr char kMagic[8] = {'f', 'l', 'i', 't', 'l', 'a', 'b', '6'};

struct Header {
  char magic[8];
  u64 configuration;
  u64 bytes;     ///< length of the data after the header
  u64 checksum;  ///< checksum of the data after the header
};

}  // namespace

u64 configuration_hash(const std::vector<Experiment>& experiments) {
  std::string text = FLITLAB_VERSION "\n";
  for (const Experiment& e : experiments) {
    for (const auto& [path, value] : e.flat())
      if (path != param::run.stall_cycles.path)  // a limit for stalled runs does not change results
        text += path + "=" + to_text(value) + "\n";
    text += std::to_string(e.files_hash()) + "\n";
  }
  StreamHash hash;
  hash.add(text.data(), text.size());
  return hash.value();
}

void save_replica(Saver& saver, Engine& engine, u32 replica) {
  saver(engine.state(replica), engine.counters(replica), engine.row(replica));
}

void load_replica(Loader& loader, Engine& engine, const Plan& plan, u32 replica) {
  std::vector<std::byte> state;
  CounterShard counters;
  ReplicaRow row;
  loader(state, counters, row);
  if (state.size() != engine.layout().bytes(1))
    throw ConfigError("checkpoint: its state has another size; another version of flitlab wrote it.");
  check_bounds(plan.layout(), plan.bounds(), state);
  ReplicaRow expected = engine.row(replica);  // the configuration determines all run parameters except the window
  expected.window_begin = row.window_begin;
  expected.window_end = row.window_end;
  if (std::memcmp(&row, &expected, sizeof row) != 0)
    throw ConfigError("checkpoint: its seed or load differs from the configuration; the file has been modified.");
  engine.set_state(replica, state);
  engine.set_counters(replica, counters);
  engine.set_row(replica, row);
}

void save_checkpoint(const std::string& path, u64 configuration, const std::function<void(Saver&)>& save) {
  const std::string partial = path + ".partial";
  // A file of this name may be left from a crash, or be a link to a file that must not be overwritten.
  std::remove(partial.c_str());
  struct PartialFile {  // removes the partial file whichever way the function ends
    const std::string& path;
    ~PartialFile() { std::remove(path.c_str()); }
  } rest{partial};
  std::ofstream file(partial, std::ios::binary);
  Header header{{}, configuration, 0, 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  Saver saver(file);
  save(saver);
  header.bytes = static_cast<u64>(file.tellp()) - sizeof header;
  header.checksum = saver.checksum();
  file.seekp(0);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const int why = errno;  // saved before another call changes errno
    throw ConfigError("checkpoint \"" + path + "\" cannot be written: " + std::strerror(why) + ".");
  }
}

void load_checkpoint(const std::string& path, u64 configuration, const std::function<void(Loader&)>& load) {
  const std::string name = "checkpoint \"" + path + "\" ";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(name + "cannot be read: " + std::strerror(errno) + ".");
  Header header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    throw ConfigError(name + "is not a flitlab checkpoint.");
  if (header.configuration != configuration)
    throw ConfigError(name + "belongs to another configuration; load it with the one it was saved from.");
  StreamHash hash;
  std::vector<char> part(1 << 20);
  for (u64 left = header.bytes; left;) {
    file.read(part.data(), static_cast<std::streamsize>(std::min<u64>(left, part.size())));
    if (!file.gcount()) throw ConfigError(name + "is cut short.");
    hash.add(part.data(), static_cast<std::size_t>(file.gcount()));
    left -= static_cast<u64>(file.gcount());
  }
  if (file.peek() != std::ifstream::traits_type::eof()) throw ConfigError(name + "is damaged: data follow its end.");
  if (hash.value() != header.checksum) throw ConfigError(name + "is damaged: its checksum does not match.");
  file.clear();
  file.seekg(sizeof header);
  Loader loader(file);
  load(loader);
  if (static_cast<u64>(file.tellg()) != sizeof header + header.bytes)
    throw ConfigError(name + "has another layout; another version of flitlab wrote it.");
}

}  // namespace flitlab
