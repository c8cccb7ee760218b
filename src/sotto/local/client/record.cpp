#include "sotto/local/client/record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_text.hpp"
#include "sotto/core/text.hpp"

namespace sotto::local {
namespace {

constexpr std::uint8_t kHasClient = 1, kHasEpoch = 2;
constexpr std::size_t kMostLine = 4 * kMostReportBytes;

void append_whole(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
}

void append_packed(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}

// Takes bytes off the front; says when they end early or make no sense.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes), all_(bytes.size()) {}

  std::string_view bytes(std::size_t n) {
    if (state_ != Parsed::whole) return {};
    if (rest_.size() < n) {
      state_ = Parsed::incomplete;
      return {};
    }
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::uint64_t whole(std::size_t n) {
    const std::string_view taken = bytes(n);
    std::uint64_t value = 0;
    for (std::size_t i = taken.size(); i-- > 0;)
      value = value << 8 | static_cast<std::uint8_t>(taken[i]);
    return value;
  }
  std::uint64_t packed() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = whole(1);
      if (state_ != Parsed::whole) return 0;
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7F) << shift;
      // Each number has one spelling.
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) break;
        return value;
      }
    }
    require(false);
    return 0;
  }
  void require(bool holds) {
    if (!holds && state_ == Parsed::whole) state_ = Parsed::broken;
  }
  Parsed state() const { return state_; }
  std::size_t used() const { return all_ - rest_.size(); }

 private:
  std::string_view rest_;
  std::size_t all_;
  Parsed state_ = Parsed::whole;
};

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool from_hex(std::string_view hex, std::string& bytes) {
  if (hex.size() % 2 != 0 || hex.size() / 2 > kMostReportBytes) return false;
  bytes.clear();
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

void append_header(std::string& out, const Declaration& declaration) {
  const std::string text = to_text(declaration);
  out += kReportsMagic;
  out += static_cast<char>(kRecordVersion);
  append_whole(out, text.size(), 4);
  out += text;
}

void append_record(std::string& out, const Record& r) {
  if (r.client.size() > kMostClientBytes)
    throw InvalidArgument(fmt::format("the id of a client has {} bytes; at most {} are allowed",
                                      r.client.size(), kMostClientBytes));
  out += static_cast<char>(kRecordVersion);
  append_whole(out, r.tag, 4);
  out += static_cast<char>((r.client.empty() ? 0 : kHasClient) | (r.epoch ? kHasEpoch : 0));
  if (!r.client.empty()) {
    out += static_cast<char>(r.client.size());
    out += r.client;
  }
  if (r.epoch) append_packed(out, *r.epoch);
  append_packed(out, r.report.size());
  out.append(reinterpret_cast<const char*>(r.report.data()), r.report.size());
}

std::string header_line(const Declaration& declaration) {
  return fmt::format("{{\"schema\":1,\"declaration\":{}}}\n", to_text(declaration));
}

std::string record_line(const Record& r) {
  nlohmann::ordered_json json = {{"tag", r.tag}};
  if (!r.client.empty()) json["client"] = as_utf8(r.client);
  if (r.epoch) json["epoch"] = *r.epoch;
  std::string hex;
  for (const std::uint8_t byte : r.report) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  json["report"] = std::move(hex);
  return json.dump() + "\n";
}

ParsedRecord parse_record(std::string_view bytes) {
  Taker take(bytes);
  ParsedRecord result;
  Record& r = result.record;
  take.require(take.whole(1) == kRecordVersion);
  r.tag = static_cast<std::uint32_t>(take.whole(4));
  const std::uint64_t flags = take.whole(1);
  take.require(flags <= (kHasClient | kHasEpoch));
  if ((flags & kHasClient) != 0) {
    const std::uint64_t length = take.whole(1);
    take.require(length > 0);
    r.client = take.bytes(length);
  }
  if ((flags & kHasEpoch) != 0) r.epoch = take.packed();
  const std::uint64_t length = take.packed();
  take.require(length <= kMostReportBytes);
  r.report = as_bytes(take.bytes(length));
  result.outcome = take.state();
  result.length = take.used();
  return result;
}

ParsedHeader parse_header(std::string_view bytes, std::string_view magic) {
  Taker take(bytes);
  ParsedHeader result;
  take.require(bytes.starts_with(magic.substr(0, bytes.size())));
  take.bytes(magic.size());
  const std::uint64_t version = take.whole(1);
  take.require(version == kRecordVersion);
  const std::uint64_t length = take.whole(4);
  take.require(length <= kMostDeclarationBytes);
  result.declaration = take.bytes(length);
  result.outcome = take.state();
  result.length = take.used();
  return result;
}

std::optional<Record> parse_record_line(std::string_view line, std::string& client,
                                        std::string& report) {
  try {
    const auto json = parse_json(line, "the line", {}, {.bytes = kMostLine, .depth = 2});
    if (!json.is_object()) return std::nullopt;
    Record r;
    client.clear();
    bool reported = false;
    for (const auto& [name, value] : json.items()) {
      if (name == "tag") {
        r.tag = static_cast<std::uint32_t>(json_count(value, name, 0xFFFFFFFFu));
      } else if (name == "epoch") {
        r.epoch = json_count(value, name);
      } else if (name == "client" && value.is_string()) {
        client = value.get<std::string>();
        if (client.empty() || client.size() > kMostClientBytes) return std::nullopt;
        r.client = client;
      } else if (name == "report" && value.is_string()) {
        reported = from_hex(value.get_ref<const std::string&>(), report);
        r.report = as_bytes(report);
      } else {
        return std::nullopt;
      }
    }
    if (!reported || !json.contains("tag")) return std::nullopt;
    return r;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

}  // namespace sotto::local
