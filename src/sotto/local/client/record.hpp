// Reports on their way: one record each, compact, with a version; files of them.
//
// What       A record is: version (1 byte), tag of the declaration (4), flags (1), then, as the
//            flags say, the client's id (length, bytes) and the epoch, then the report (length,
//            bytes). Whole numbers are little-endian, lengths and epochs in groups of seven bits.
//            A file is a header with the declaration, then records.
//            As text: a line of JSON with the declaration, then one line a report.
// Guarantee  None is added or lost: a record holds what the client made. Whatever a stranger wrote
//            is parsed or refused within the limits below.
// Method     A record says its own length before its content is looked at.
// Numerics   Reports have at most 2^24 bytes, ids 255, declarations 2^26.
// Reference  docs/local.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/local/client/declaration.hpp"
#include "sotto/local/client/randomizer.hpp"

namespace sotto::local {

inline constexpr std::string_view kReportsMagic = "SOTTOREP";
inline constexpr std::uint8_t kRecordVersion = 1;
inline constexpr std::size_t kMostReportBytes = std::size_t{1} << 24;
inline constexpr std::size_t kMostClientBytes = 255;
inline constexpr std::size_t kMostDeclarationBytes = std::size_t{1} << 26;

struct Record {
  std::uint32_t tag = 0;
  std::string_view client;             // empty: no id
  std::optional<std::uint64_t> epoch;  //
  Bytes report;
};

void append_header(std::string& out, const Declaration& declaration);
void append_record(std::string& out, const Record& record);
std::string header_line(const Declaration& declaration);
std::string record_line(const Record& record);

// Reads what `bytes` start with. Views point into them.
enum class Parsed { whole, incomplete, broken };
struct ParsedRecord {
  Parsed outcome = Parsed::incomplete;
  std::size_t length = 0;  // bytes used, when whole
  Record record = {};
};
ParsedRecord parse_record(std::string_view bytes);

struct ParsedHeader {
  Parsed outcome = Parsed::incomplete;
  std::size_t length = 0;
  std::string_view declaration = {};
};
ParsedHeader parse_header(std::string_view bytes, std::string_view magic = kReportsMagic);

// A line of JSON as a record; its bytes are put into `report`. Nothing when it is none.
std::optional<Record> parse_record_line(std::string_view line, std::string& client,
                                        std::string& report);

}  // namespace sotto::local
