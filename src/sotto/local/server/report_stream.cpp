#include "sotto/local/server/report_stream.hpp"

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"

namespace sotto::local {
namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 26;

Declaration declaration_of_line(std::string_view line) {
  const auto json = parse_json(line, "the first line", {}, {.bytes = kMostDeclarationBytes});
  if (!json.is_object() || !json.contains("schema") || json["schema"] != 1 ||
      !json.contains("declaration"))
    throw DataError("the first line does not declare a protocol");
  return declaration_from_text(json["declaration"].dump());
}

}  // namespace

void ReportStream::feed(std::string_view bytes) {
  if (form_ == Form::lost) return;
  // Records are read in place; only a piece of one waits for the next bytes.
  std::string joined;
  if (!waiting_.empty()) {
    joined = std::move(waiting_);
    joined += bytes;
    bytes = joined;
    waiting_.clear();
  }
  if (form_ == Form::unknown) bytes.remove_prefix(take_start(bytes));
  if (form_ == Form::binary) bytes.remove_prefix(take_records(bytes));
  if (form_ == Form::lines) bytes.remove_prefix(take_lines(bytes, false));
  if (form_ != Form::lost) waiting_ = std::string(bytes);
}

void ReportStream::finish() {
  if (form_ == Form::lines && !waiting_.empty()) {
    take_lines(waiting_, true);
  } else if (form_ == Form::unknown) {
    throw DataError("the file does not begin with the declaration of a protocol",
                    "reports are made by sotto local report");
  } else if (!waiting_.empty()) {
    receiver_.unreadable();
  }
  waiting_.clear();
}

std::size_t ReportStream::take_start(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (bytes.front() == '{') {
    form_ = Form::lines;
    return 0;
  }
  const ParsedHeader header = parse_header(bytes);
  if (header.outcome == Parsed::broken)
    throw DataError("the file is neither reports nor lines of JSON");
  if (header.outcome == Parsed::incomplete) return 0;
  form_ = Form::binary;
  receiver_.declaration(declaration_from_text(header.declaration));
  return header.length;
}

std::size_t ReportStream::take_records(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ParsedRecord parsed = parse_record(bytes.substr(used));
    if (parsed.outcome == Parsed::incomplete) break;
    if (parsed.outcome == Parsed::broken) {
      lose();
      return bytes.size();
    }
    receiver_.record(parsed.record);
    used += parsed.length;
  }
  return used;
}

std::size_t ReportStream::take_lines(std::string_view bytes, bool last) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    const std::size_t end = bytes.find('\n', used);
    if (end == std::string_view::npos && !last) {
      if (bytes.size() - used > (declared_ ? kMostLine : kMostDeclarationBytes)) {
        lose();
        return bytes.size();
      }
      break;
    }
    const std::string_view line = bytes.substr(used, end - used);
    used = end == std::string_view::npos ? bytes.size() : end + 1;
    if (!declared_) {
      receiver_.declaration(declaration_of_line(line));
      declared_ = true;
    } else if (const auto record = parse_record_line(line, client_, report_)) {
      receiver_.record(*record);
    } else if (!line.empty()) {
      receiver_.unreadable();
    }
  }
  return used;
}

void ReportStream::lose() {
  form_ = Form::lost;
  waiting_.clear();
  receiver_.unreadable();
}

}  // namespace sotto::local
