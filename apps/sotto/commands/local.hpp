// What the files of `sotto local` share.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "sotto/core/values.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/server/accumulator.hpp"

namespace sotto::cli {

// --protocol with the options of each, --epsilon, --values, --values-file, --domain.
void add_protocol_options(Command& command, bool with_auto);
local::Declaration declared_protocol(const Arguments& arguments);

// Where reports of files go. `declaration` says which one is in force: reports of others are
// refused.
struct ReportReceiver {
  std::function<const local::Declaration&(const local::Declaration&)> declaration;
  std::function<void(const local::Record&)> record;
  std::function<void(local::Refusal)> refuse;
  std::function<void(local::Accumulator&)> accumulator = nullptr;  // null: accumulators are refused
};
// All these files, one after the other; a file that cannot be read is one unreadable report, with a
// note.
void collect_into(const std::vector<std::string>& files, Context& context,
                  const ReportReceiver& receiver);
local::Accumulator read_accumulator(const std::string& path);
nlohmann::ordered_json refused_json(const local::Accumulator& accumulator);

// The guarantee for whoever sees no single report, and what it rests on. Null where clients may
// report more than once: the amplification of one report says nothing then.
nlohmann::ordered_json central_json(const local::Declaration& declaration, std::uint64_t reports,
                                    Delta delta, Context& context);
void print_central(const nlohmann::ordered_json& central, Context& context);

Command local_report_command();
Command local_collect_command();
Command local_compare_command();
Command local_estimate_command();
Command local_shuffle_command();
Command local_simulate_command();

}  // namespace sotto::cli
