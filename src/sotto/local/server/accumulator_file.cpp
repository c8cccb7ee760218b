// The file of an accumulator. Everything in it is little-endian; the last 32 bytes are the SHA-256
// of all before.
#include <openssl/evp.h>

#include <algorithm>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/local/server/accumulator.hpp"

namespace sotto::local {
namespace {

constexpr std::size_t kDigestBytes = 32, kBlock = 1 << 16;

class Digester {
 public:
  Digester() : context_(EVP_MD_CTX_new()) {
    if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
      invariant_broken("OpenSSL refuses SHA-256");
  }
  void add(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
      invariant_broken("OpenSSL stopped computing SHA-256");
  }
  std::string result() {
    std::string digest(kDigestBytes, '\0');
    if (EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                           nullptr) != 1)
      invariant_broken("OpenSSL stopped computing SHA-256");
    return digest;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

class Writer {
 public:
  explicit Writer(const Accumulator::Sink& sink) : sink_(sink) {}
  void bytes(std::string_view b) {
    buffer_ += b;
    if (buffer_.size() >= kBlock) flush();
  }
  void whole(std::uint64_t value, int width = 8) {
    for (int i = 0; i < width; ++i, value >>= 8) buffer_ += static_cast<char>(value & 0xFF);
    if (buffer_.size() >= kBlock) flush();
  }
  void finish() {
    flush();
    sink_(digest_.result());
  }

 private:
  void flush() {
    digest_.add(buffer_);
    sink_(buffer_);
    buffer_.clear();
  }
  const Accumulator::Sink& sink_;
  std::string buffer_;
  Digester digest_;
};

class Reader {
 public:
  explicit Reader(const Accumulator::Source& source) : source_(source) {}
  std::string bytes(std::size_t n, bool digested = true) {
    std::string result;
    while (result.size() < n) {  // no more memory than the file has bytes
      const std::size_t step = std::min(n - result.size(), kBlock), at = result.size();
      result.resize(at + step);
      if (source_(std::span(result.data() + at, step)) != step)
        throw DataError("the accumulator ends too early");
    }
    if (digested) digest_.add(result);
    return result;
  }
  std::uint64_t whole(std::size_t width = 8) {
    const std::string b = bytes(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(b[i]);
    return value;
  }
  void finish() {
    const std::string wanted = digest_.result();
    char more = 0;
    if (bytes(kDigestBytes, false) != wanted) throw DataError("the accumulator is damaged");
    if (source_(std::span(&more, 1)) != 0) throw DataError("the accumulator does not end");
  }

 private:
  const Accumulator::Source& source_;
  Digester digest_;
};

}  // namespace

void Accumulator::write(const Sink& sink) {
  Writer w(sink);
  const std::string text = to_text(declaration_);
  w.bytes(kAccumulatorMagic);
  w.whole(kRecordVersion, 1);
  w.whole(text.size(), 4);
  w.bytes(text);
  w.whole(reports());
  w.whole(unnamed_);
  for (const std::uint64_t r : refused_) w.whole(r);
  const auto cells = aggregator_->cells();
  w.whole(cells.size());
  for (const std::int64_t c : cells) w.whole(static_cast<std::uint64_t>(c));
  // Sorted: the same reports make the same file, whatever their order.
  std::vector<SeenClients::Digest> clients;
  clients.reserve(seen_.size());
  seen_.for_each([&](const SeenClients::Digest& d) { clients.push_back(d); });
  std::sort(clients.begin(), clients.end());
  w.whole(clients.size());
  for (const SeenClients::Digest& d : clients) w.whole(d[0]), w.whole(d[1]);
  w.finish();
}

Accumulator Accumulator::read(const Source& source) {
  Reader r(source);
  if (r.bytes(kAccumulatorMagic.size()) != kAccumulatorMagic || r.whole(1) != kRecordVersion)
    throw DataError("the file is no accumulator that this version can read");
  const std::uint64_t length = r.whole(4);
  if (length > kMostDeclarationBytes) throw DataError("the accumulator's declaration is too long");
  Accumulator result(declaration_from_text(r.bytes(length)));
  const std::uint64_t reports = r.whole();
  result.unnamed_ = r.whole();
  for (std::uint64_t& refused : result.refused_) refused = r.whole();
  const std::size_t count = result.aggregator_->cells().size();
  if (r.whole() != count) throw DataError("the accumulator does not have the size of its protocol");
  std::vector<std::int64_t> cells;
  for (std::size_t at = 0; at < count; at += cells.size()) {
    cells.resize(std::min(count - at, kBlock / 8));
    const std::string block = r.bytes(8 * cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = static_cast<std::int64_t>(
          read_whole({reinterpret_cast<const std::uint8_t*>(block.data()) + 8 * i, 8}));
    result.aggregator_->merge_cells(reports, at, cells);
  }
  result.aggregator_->merge_reports(reports);
  const std::uint64_t clients = r.whole();
  if (clients > reports || result.unnamed_ != reports - clients)
    throw DataError("the accumulator has not as many clients as reports");
  for (std::uint64_t i = 0; i < clients; ++i) {
    const SeenClients::Digest d{r.whole(), r.whole()};
    if (d == SeenClients::Digest{} || !result.seen_.insert(d))
      throw DataError("the accumulator names a client twice");
  }
  r.finish();
  return result;
}

}  // namespace sotto::local
