#include "sotto/local/client/sotto_local.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/core/numeric/outward.hpp"
#include "sotto/local/client/client.hpp"
#include "sotto/local/client/protocols.hpp"
#include "sotto/local/client/record.hpp"

namespace {

using namespace sotto;
using namespace sotto::local;

thread_local std::string last_error;

// Errors end here: C has no exceptions.
template <class F>
int guarded(F&& f) {
  try {
    f();
    return 0;
  } catch (const Error& e) {
    last_error = e.what();
    return exit_code(e.code());
  } catch (const std::exception& e) {
    last_error = e.what();
    return exit_code(ErrorCode::internal);
  }
}

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

class CallbackStore final : public Store {
 public:
  explicit CallbackStore(const sotto_local_store& callbacks) : callbacks_(callbacks) {
    if (callbacks.find == nullptr || callbacks.keep == nullptr)
      throw InvalidArgument("a store needs both functions");
  }
  std::optional<std::string> find(std::string_view key) override {
    std::string value(kMostBytes, '\0');
    const long size = callbacks_.find(callbacks_.context, bytes(key), key.size(),
                                      reinterpret_cast<unsigned char*>(value.data()), value.size());
    if (size == -1) return std::nullopt;
    if (size < 0 || static_cast<std::size_t>(size) > value.size())
      throw StorageError("the client's store failed");
    value.resize(static_cast<std::size_t>(size));
    return value;
  }
  void keep(std::string_view key, std::string_view value) override {
    if (callbacks_.keep(callbacks_.context, bytes(key), key.size(), bytes(value), value.size()) !=
        0)
      throw StorageError("the client's store failed");
  }

 private:
  static constexpr std::size_t kMostBytes = 4096;
  sotto_local_store callbacks_;
};

void hand_over(const std::string& made, unsigned char* out, std::size_t capacity,
               std::size_t* size) {
  *size = made.size();
  if (made.size() > capacity) throw InvalidArgument("the buffer is too small");
  std::copy(made.begin(), made.end(), out);
}

}  // namespace

struct sotto_local_client {
  Declaration declaration;
  std::unique_ptr<Randomizer> randomizer;
  std::optional<CallbackStore> store;
  std::optional<Client> client;
  Rng rng;
  std::size_t record_bytes = 0;  // at most
};

namespace {

int report(sotto_local_client* client, const Value& value, std::uint64_t epoch,
           unsigned char* record, std::size_t capacity, std::size_t* size) {
  return guarded([&] {
    *size = client->record_bytes;
    if (client->record_bytes > capacity) throw InvalidArgument("the buffer is too small");
    std::string made;
    client->client->report(value, epoch, client->rng, made);
    hand_over(made, record, capacity, size);
  });
}

}  // namespace

int sotto_local_open(const char* declaration, const char* client_id, const unsigned char* secret,
                     size_t secret_size, const sotto_local_store* store, double lifetime_epsilon,
                     sotto_local_client** client) {
  return guarded([&] {
    auto made = std::make_unique<sotto_local_client>();
    made->declaration = declaration_from_text(declaration);
    made->randomizer = make_randomizer(made->declaration);
    ClientSettings settings;
    if (client_id != nullptr) settings.id = client_id;
    if (secret != nullptr)
      settings.secret = std::string(reinterpret_cast<const char*>(secret), secret_size);
    if (store != nullptr) settings.store = &made->store.emplace(*store);
    if (lifetime_epsilon != 0) settings.lifetime_epsilon = lifetime_epsilon;
    constexpr std::size_t kMostPacked = 10;
    made->record_bytes =
        7 + settings.id.size() + 2 * kMostPacked + made->randomizer->report_bytes();
    made->client.emplace(made->declaration, *made->randomizer, std::move(settings));
    *client = made.release();
  });
}

void sotto_local_close(sotto_local_client* client) { delete client; }

int sotto_local_report_category(sotto_local_client* client, uint64_t category, uint64_t epoch,
                                unsigned char* record, size_t capacity, size_t* size) {
  return report(client, std::uint64_t{category}, epoch, record, capacity, size);
}

int sotto_local_report_word(sotto_local_client* client, const char* word, size_t word_size,
                            uint64_t epoch, unsigned char* record, size_t capacity, size_t* size) {
  return report(client, std::string_view(word, word_size), epoch, record, capacity, size);
}

int sotto_local_report_number(sotto_local_client* client, double number, uint64_t epoch,
                              unsigned char* record, size_t capacity, size_t* size) {
  return report(client, number, epoch, record, capacity, size);
}

int sotto_local_header(const sotto_local_client* client, unsigned char* header, size_t capacity,
                       size_t* size) {
  return guarded([&] {
    std::string made;
    append_header(made, client->declaration);
    hand_over(made, header, capacity, size);
  });
}

double sotto_local_epsilon(const sotto_local_client* client) {
  return client->randomizer->epsilon();
}

double sotto_local_epsilon_lifetime(const sotto_local_client* client) {
  return epsilon_lifetime(*client->randomizer, client->declaration);
}

const char* sotto_local_error(void) { return last_error.c_str(); }
