#include "sotto/ledger/backend/detail/postgres_functions.hpp"

#include <fmt/format.h>

namespace sotto::ledger {
namespace {

// The caller's temporary tables and other schemas must not be taken for the ledger's.
std::string settings(const std::string& schema) {
  return fmt::format("SECURITY DEFINER SET search_path = pg_catalog, {}, pg_temp", schema);
}

constexpr const char* kAppendBody = R"sql(
DECLARE
  said jsonb := p_body::jsonb;
  last sotto_entries%ROWTYPE;
  changed bigint;
BEGIN
  LOCK TABLE sotto_entries IN EXCLUSIVE MODE;
  SELECT * INTO last FROM sotto_entries ORDER BY seq DESC LIMIT 1;
  IF p_seq IS DISTINCT FROM coalesce(last.seq, 0) + 1
      OR said->>'previous' IS DISTINCT FROM coalesce(last.hash, repeat('0', 64))
      OR (last.body IS NOT NULL AND (said->>'time')::bigint < (last.body::jsonb->>'time')::bigint)
  THEN
    RAISE EXCEPTION 'the entry does not follow the newest one' USING ERRCODE = 'SOT01';
  END IF;
  IF p_hash IS DISTINCT FROM encode(sha256(convert_to(p_body, 'UTF8')), 'hex')
      OR (said->>'seq')::bigint IS DISTINCT FROM p_seq
      OR said->>'kind' IS DISTINCT FROM p_kind
      OR said->>'dataset' IS DISTINCT FROM p_dataset
      OR said->>'key' IS DISTINCT FROM p_key
      OR (said->>'entry')::bigint IS DISTINCT FROM p_refers
  THEN
    RAISE EXCEPTION 'the entry contradicts itself' USING ERRCODE = 'SOT01';
  END IF;

  IF p_kind IN ('store', 'dataset', 'decision') THEN
    IF NOT has_table_privilege(session_user, 'sotto_datasets', 'INSERT') THEN
      RAISE EXCEPTION 'permission denied to create data sets' USING ERRCODE = '42501';
    END IF;
  ELSIF p_kind IN ('commit', 'abandon') THEN
    PERFORM 1 FROM sotto_entries
      WHERE seq = p_refers AND kind = 'reserve' AND dataset = p_dataset;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the entry settles what is no reservation' USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind = 'resume' THEN
    PERFORM 1 FROM sotto_entries
      WHERE seq = (said->>'resumes')::bigint AND kind = 'reserve' AND dataset = p_dataset;
    IF NOT FOUND OR p_key IS NOT NULL OR p_refers IS NOT NULL THEN
      RAISE EXCEPTION 'the entry resumes what is no reservation' USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind = 'refuse' THEN
    IF p_key IS NOT NULL OR p_refers IS NOT NULL THEN
      RAISE EXCEPTION 'a refusal uses up no key' USING ERRCODE = 'SOT01';
    END IF;
    PERFORM 1 FROM sotto_datasets WHERE name = p_dataset;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the entry is about no data set' USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind NOT IN ('reserve', 'charge') OR p_key IS NULL OR p_refers IS NOT NULL THEN
    RAISE EXCEPTION 'the entry is of no known kind' USING ERRCODE = 'SOT01';
  END IF;

  INSERT INTO sotto_entries (seq, kind, dataset, release_key, refers, body, hash)
    VALUES (p_seq, p_kind, p_dataset, p_key, p_refers, p_body, p_hash);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed <> 1 THEN
    RAISE EXCEPTION 'the entry was not stored' USING ERRCODE = 'SOT01';
  END IF;
  IF p_kind IN ('reserve', 'charge', 'abandon') THEN
    UPDATE sotto_spends SET seq = p_seq, spend = p_spend
      WHERE dataset = p_dataset AND part = p_part AND said->>'part' = p_part;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed <> 1 THEN
      RAISE EXCEPTION 'the entry changes % spends instead of one', changed USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_part IS NOT NULL OR p_spend IS NOT NULL THEN
    RAISE EXCEPTION 'the entry changes no spend' USING ERRCODE = 'SOT01';
  END IF;
  IF p_kind NOT IN ('store', 'dataset', 'decision') AND said->>'spends' IS DISTINCT FROM (
      SELECT encode(sha256(convert_to(string_agg(
          encode(sha256(convert_to(part, 'UTF8')), 'hex') || ' ' ||
          encode(sha256(convert_to(spend, 'UTF8')), 'hex') || E'\n',
          '' ORDER BY part COLLATE "C"), 'UTF8')), 'hex')
      FROM sotto_spends WHERE dataset = p_dataset)
  THEN
    RAISE EXCEPTION 'the entry states other spends than it leaves' USING ERRCODE = 'SOT01';
  END IF;
END)sql";

}  // namespace

std::string lock_function(const std::string& schema) {
  return fmt::format(
      "CREATE OR REPLACE FUNCTION {}.sotto_lock() RETURNS void LANGUAGE plpgsql {} AS "
      "'BEGIN LOCK TABLE sotto_entries IN EXCLUSIVE MODE; END'",
      schema, settings(schema));
}

std::string append_function(const std::string& schema) {
  return fmt::format(
      "CREATE OR REPLACE FUNCTION {}.sotto_append(p_seq bigint, p_kind text, p_dataset text, p_key "
      "text, p_refers bigint, p_body text, p_hash text, p_part text, p_spend text) RETURNS void "
      "LANGUAGE plpgsql {} AS $append${}$append$",
      schema, settings(schema), kAppendBody);
}

}  // namespace sotto::ledger
