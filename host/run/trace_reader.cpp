#include "host/run/trace_reader.hpp"

#include <string_view>

#include "host/config/cross_checks.hpp"
#include "host/plan/trace_order.hpp"
#include "kernels/common/error.hpp"
#include "kernels/traffic/params.hpp"

namespace flitlab {
namespace {

/// The first bytes of compressed files, and the programs that expand them.
struct Compression {
  std::string_view mark, name, expand;
};
constexpr Compression kCompressions[] = {
    {"\x1F\x8B", "gzip", "gunzip"}, {"BZh", "bzip2", "bunzip2"}, {"\x28\xB5\x2F\xFD", "zstd", "unzstd"}};

}  // namespace

void TraceReader::require_same_size(const std::string& path, u64 saved, u64 size) {
  if (saved != size)
    throw ConfigError("traffic.trace_file = \"" + path +
                      "\" has changed since the checkpoint was saved: its size is different.");
}

std::unique_ptr<TraceReader> open_trace(const Experiment& e) {
  const TextSource source = e.text(param::traffic.trace_file);
  std::unique_ptr<std::istream> file = source.open(std::string(param::traffic.trace_file.path));
  file->seekg(0, std::ios::end);
  if (file->tellg() < 0)
    throw ConfigError("traffic.trace_file = \"" + source.path() +
                      "\" cannot be read: it has no size, as a pipe. Write its contents to a file.");
  file->seekg(0);
  skip_mark(*file, std::string(param::traffic.trace_file.path) + ": " + source.path());
  const std::string mark = first_bytes(*file);
  for (const Compression& c : kCompressions)
    if (mark.starts_with(c.mark))
      throw ConfigError("traffic.trace_file = \"" + source.path() + "\" is compressed with " + std::string(c.name) +
                        ". The command line and Python expand such files; here, expand it with " +
                        std::string(c.expand) + ".");
  if (is_netrace(mark))
    return detail::open_netrace(std::move(file), source.path(), e.u32_of(param::traffic.flit_bytes),
                                e.ints(param::traffic.trace_regions), traffic_classes(e));
  if (!e.ints(param::traffic.trace_regions).empty())
    throw ConfigError("traffic.trace_regions applies to traces of Netrace, and traffic.trace_file = \"" +
                      source.path() + "\" is not one. Remove it.");
  return detail::open_csv(std::move(file), source.path(), has_trace_window(e));
}

}  // namespace flitlab
