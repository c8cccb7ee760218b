/* Local privacy from C: a client that turns values into reports.
 *
 * What       Open a client with the declaration of a protocol, make reports, close it.
 * Guarantee  That of the protocol (randomizer.hpp): nobody is trusted. With a lifetime budget and a
 *            store, a client refuses to say more than that in its life.
 * Method     The same code as in C++; no exception leaves it.
 * Numerics   As there.
 * Reference  docs/local.md.
 *
 * Functions return 0, or the exit code of the command line for the same error (2 usage, 3 input,
 * 4 budget refused, 6 storage, 1 a defect); sotto_local_error() then says why. A client is used by
 * one thread at a time.
 */
#ifndef SOTTO_LOCAL_H
#define SOTTO_LOCAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sotto_local_client sotto_local_client;

/* Where permanent answers and what was spent are kept. find copies the value and returns its size,
 * -1 when there is none, -2 for a failure; keep returns 0 once the value is durable. */
typedef struct sotto_local_store {
  void* context;
  long (*find)(void* context, const unsigned char* key, size_t key_size, unsigned char* value,
               size_t capacity);
  int (*keep)(void* context, const unsigned char* key, size_t key_size,
              const unsigned char* value, size_t value_size);
} sotto_local_store;

/* declaration: JSON, as in the first line of `sotto local report --format json`, the member
 * "declaration". client_id, secret and store may be null; lifetime_epsilon 0 means no budget. */
int sotto_local_open(const char* declaration, const char* client_id, const unsigned char* secret,
                     size_t secret_size, const sotto_local_store* store, double lifetime_epsilon,
                     sotto_local_client** client);
void sotto_local_close(sotto_local_client* client);

/* One record, as `sotto local collect` reads it after the header of a file. *size is its length;
 * when it is above capacity nothing was drawn, spent or written, and the code is 2. */
int sotto_local_report_category(sotto_local_client* client, uint64_t category, uint64_t epoch,
                                unsigned char* record, size_t capacity, size_t* size);
int sotto_local_report_word(sotto_local_client* client, const char* word, size_t word_size,
                            uint64_t epoch, unsigned char* record, size_t capacity, size_t* size);
int sotto_local_report_number(sotto_local_client* client, double number, uint64_t epoch,
                              unsigned char* record, size_t capacity, size_t* size);
/* The header that a file of records begins with. */
int sotto_local_header(const sotto_local_client* client, unsigned char* header, size_t capacity,
                       size_t* size);

double sotto_local_epsilon(const sotto_local_client* client);          /* of one report */
double sotto_local_epsilon_lifetime(const sotto_local_client* client); /* of all epochs */
const char* sotto_local_error(void); /* of this thread's last call that failed */

#ifdef __cplusplus
}
#endif

#endif
