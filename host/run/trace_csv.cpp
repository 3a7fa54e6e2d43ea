/// The project's own trace format: CSV lines cycle,source,destination,flits[,cCLASS][,needs...].
#include <algorithm>
#include <charconv>

#include "host/config/value.hpp"
#include "host/run/trace_reader.hpp"
#include "kernels/common/error.hpp"

namespace flitlab {
namespace {

class CsvReader final : public TraceReader {
 public:
  CsvReader(std::unique_ptr<std::istream> file, std::string path, bool several_needs)
      : file_(std::move(file)), path_(std::move(path)), several_needs_(several_needs) {
    // open() has skipped a byte-order mark, if there is one.
    next_line_ = static_cast<u64>(file_->tellg());
    file_->seekg(0, std::ios::end);
    size_ = static_cast<u64>(file_->tellg());
    seek(next_line_);
  }

  bool read(TracePacket& packet) override;
  void fail(const std::string& what) const override {
    throw ConfigError("traffic.trace_file: " + path_ + ":" + std::to_string(line_) + ": " + shown(Value{text_}) + ": " +
                      what);
  }

  std::string leave_out() const override { return "Leave the line out"; }

  void save(Saver& saver, bool again) const override {
    saver(size_, again ? line_start_ : std::min(next_line_, size_), again ? line_ - 1 : line_, last_cycle_);
  }
  void load(Loader& loader) override {
    u64 size = 0, offset = 0;
    loader(size, offset, line_, last_cycle_);
    require_same_size(path_, size, size_);
    Loader::require(offset <= size_);
    seek(offset);
  }

 private:
  void seek(u64 offset) {
    file_->clear();
    file_->seekg(static_cast<std::streamoff>(offset));
    next_line_ = offset;
  }
  bool read_line();

  std::unique_ptr<std::istream> file_;
  std::string path_;
  bool several_needs_;
  std::string text_;    ///< the line being read
  u64 line_ = 0;        ///< number of this line in the file, from 1
  u64 line_start_ = 0;  ///< byte offset of this line in the file
  u64 next_line_ = 0;   ///< byte offset of the line after it
  u64 size_ = 0;        ///< size of the file, bytes
  u64 last_cycle_ = 0;  ///< of the line before
};

/// Reads the next line that is neither empty nor a comment into text_. Returns false at the end of the file.
bool CsvReader::read_line() {
  for (;;) {
    line_start_ = next_line_;
    if (!std::getline(*file_, text_)) {
      if (file_->bad()) fail("the rest of the file cannot be read.");
      return false;
    }
    ++line_;
    next_line_ += text_.size() + 1;
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    if (!text_.empty() && text_[0] != '#') return true;
  }
}

bool CsvReader::read(TracePacket& packet) {
  if (!read_line()) return false;
  const auto fail_form = [&] {
    fail(std::string("a line is cycle,source,destination,flits[,cCLASS][,needs") + (several_needs_ ? "..." : "") +
         "], whole numbers from 0." + (file_->eof() ? " The file ends in the middle of a line." : ""));
  };
  u64 numbers[4];
  u32 count = 0;
  packet.needs.clear();
  packet.of_class = 0;
  const char* at = text_.data();
  const char* end = at + text_.size();
  for (;;) {
    while (at < end && *at == ' ') ++at;
    const bool is_class = count == 4 && at < end && *at == 'c';
    if (is_class) ++at;
    u64 number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) fail_form();
    if (is_class)
      packet.of_class = number;
    else if (count < 4)
      numbers[count] = number;
    else
      packet.needs.push_back(number);
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
  last_cycle_ = numbers[0];
  packet.cycle = numbers[0];
  packet.source = numbers[1];
  packet.destination = numbers[2];
  packet.flits = numbers[3];
  return true;
}

}  // namespace

std::unique_ptr<TraceReader> detail::open_csv(std::unique_ptr<std::istream> file, std::string path,
                                              bool several_needs) {
  return std::make_unique<CsvReader>(std::move(file), std::move(path), several_needs);
}

}  // namespace flitlab
