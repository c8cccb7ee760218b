/* A client in C: reports of every kind, a store of its own, a budget that ends. Prints what went
 * wrong and returns 1. The records go to the file that is named, for a collector to read. */
#include <stdio.h>
#include <string.h>

#include "sotto/local/client/sotto_local.h"

#define CHECK(holds)                                                            \
  do {                                                                          \
    if (!(holds)) {                                                             \
      printf("line %d: %s (%s)\n", __LINE__, #holds, sotto_local_error());      \
      return 1;                                                                 \
    }                                                                           \
  } while (0)

struct entry {
  unsigned char key[64], value[64];
  size_t key_size, value_size;
};
struct table {
  struct entry entries[64];
  size_t size;
};

static long find(void* context, const unsigned char* key, size_t key_size, unsigned char* value,
                 size_t capacity) {
  struct table* t = context;
  for (size_t i = 0; i < t->size; ++i) {
    struct entry* e = &t->entries[i];
    if (e->key_size == key_size && memcmp(e->key, key, key_size) == 0) {
      if (e->value_size > capacity) return -2;
      memcpy(value, e->value, e->value_size);
      return (long)e->value_size;
    }
  }
  return -1;
}

static int keep(void* context, const unsigned char* key, size_t key_size,
                const unsigned char* value, size_t value_size) {
  struct table* t = context;
  struct entry* e = NULL;
  if (key_size > 64 || value_size > 64) return 1;
  for (size_t i = 0; i < t->size; ++i)
    if (t->entries[i].key_size == key_size && memcmp(t->entries[i].key, key, key_size) == 0)
      e = &t->entries[i];
  if (e == NULL) {
    if (t->size == 64) return 1;
    e = &t->entries[t->size++];
  }
  memcpy(e->key, key, key_size);
  memcpy(e->value, value, value_size);
  e->key_size = key_size;
  e->value_size = value_size;
  return 0;
}

int main(int argc, char** argv) {
  sotto_local_client* client = NULL;
  unsigned char record[4096];
  size_t size = 0;

  CHECK(sotto_local_open("{", NULL, NULL, 0, NULL, 0, &client) == 3);
  CHECK(client == NULL && strlen(sotto_local_error()) > 0);

  CHECK(sotto_local_open("{\"protocol\":\"oue\",\"epsilon\":1,\"values\":[\"a\",\"b\",\"c\"],"
                         "\"epochs\":1}",
                         NULL, NULL, 0, NULL, 0, &client) == 0);
  CHECK(sotto_local_epsilon(client) <= 1 && sotto_local_epsilon(client) > 0.999);
  CHECK(sotto_local_report_category(client, 3, 0, record, sizeof record, &size) == 2);
  CHECK(sotto_local_report_category(client, 0, 1, record, sizeof record, &size) == 2);
  CHECK(sotto_local_report_category(client, 0, 0, record, 1, &size) == 2 && size > 1);
  CHECK(sotto_local_report_word(client, "a", 1, 0, record, sizeof record, &size) == 2);
  FILE* file = argc > 1 ? fopen(argv[1], "wb") : NULL;
  CHECK(argc < 2 || file != NULL);
  CHECK(sotto_local_header(client, record, sizeof record, &size) == 0);
  if (file != NULL) fwrite(record, 1, size, file);
  for (int i = 0; i < 3000; ++i) {
    CHECK(sotto_local_report_category(client, (uint64_t)(i % 3 == 0), 0, record, sizeof record,
                                      &size) == 0);
    if (file != NULL) fwrite(record, 1, size, file);
  }
  if (file != NULL) fclose(file);
  sotto_local_close(client);

  /* Permanent answers in the caller's store; a second value costs a second answer, a third is
   * refused. */
  static struct table table;
  const sotto_local_store store = {&table, find, keep};
  CHECK(sotto_local_open("{\"protocol\":\"l_sue\",\"epsilon\":1,\"permanent_epsilon\":2,"
                         "\"domain\":8,\"epochs\":10}",
                         "device-1", NULL, 0, &store, 4.5, &client) == 0);
  CHECK(sotto_local_epsilon_lifetime(client) > 1.99);
  CHECK(sotto_local_report_category(client, 1, 0, record, sizeof record, &size) == 0);
  CHECK(sotto_local_report_category(client, 2, 1, record, sizeof record, &size) == 0);
  CHECK(sotto_local_report_category(client, 1, 2, record, sizeof record, &size) == 0);
  CHECK(sotto_local_report_category(client, 3, 3, record, sizeof record, &size) == 4);
  sotto_local_close(client);

  CHECK(sotto_local_open("{\"protocol\":\"one_bit_mean\",\"epsilon\":1,\"lower\":0,\"upper\":10,"
                         "\"epochs\":1}",
                         NULL, NULL, 0, NULL, 0, &client) == 0);
  CHECK(sotto_local_report_number(client, 5, 0, record, sizeof record, &size) == 0);
  CHECK(sotto_local_report_number(client, 0.0 / 0.0, 0, record, sizeof record, &size) == 2);
  sotto_local_close(client);

  const unsigned char secret[] = "0123456789abcdef";
  CHECK(sotto_local_open("{\"protocol\":\"rappor\",\"epsilon\":2,\"bits\":16,\"hashes\":2,"
                         "\"cohorts\":64,\"f\":0.5,\"p\":0.5,\"q\":0.75,\"epochs\":100}",
                         NULL, secret, sizeof secret, NULL, 0, &client) == 0);
  CHECK(sotto_local_report_word(client, "word", 4, 0, record, sizeof record, &size) == 0);
  sotto_local_close(client);
  return 0;
}
