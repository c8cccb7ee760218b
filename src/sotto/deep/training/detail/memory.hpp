// How many records fit into memory at once: measured on made-up records, so that nothing private is
// read for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace sotto::deep {

// The largest amount of tensor memory, in bytes, that was in use at once during the work, beyond
// what was in use before.
std::size_t peak_memory(const std::function<void()>& work);

// The size of a physical batch that keeps a step under `cap` bytes: linear in the records, from two
// measurements. step(n) runs forward and backward on n made-up records. Throws InvalidArgument when
// not even one record fits. rest: bytes that are needed besides, whatever the batch.
std::int64_t records_in_memory(std::size_t cap, std::int64_t most,
                               const std::function<void(std::int64_t)>& step, std::size_t rest = 0);

// "2G", "512M", "1.5G", "800000": bytes. Throws InvalidArgument.
std::size_t parse_bytes(const std::string& text);

}  // namespace sotto::deep
