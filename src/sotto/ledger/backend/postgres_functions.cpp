#include "sotto/ledger/backend/detail/postgres_functions.hpp"

#include <fmt/format.h>

namespace sotto::ledger {
namespace {

// Nothing is looked up where anybody else may create objects: not the tables, and not the functions
// and operators, whose overloads in the ledger's schema would run with its owner's rights.
// Compiling the checks would take a hundred times as long as they do.
std::string settings() {
  return "SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off";
}

// SCHEMA stands for the schema of the tables, DATASETS for the name of one of them as a text.
constexpr const char* kAppendBody = R"sql(
DECLARE
  said jsonb := p_body::jsonb;
  owner boolean := has_table_privilege(session_user, DATASETS, 'INSERT');
  clock bigint := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
  last SCHEMA.sotto_entries%ROWTYPE;
  last_said jsonb;
  defined jsonb;
  settled jsonb;
  spent jsonb;
  whole text := '(0|[1-9][0-9]{0,15})';
  -- As clients write it and no other way: they state the digest of their own spelling.
  amount text := '"(0|[1-9a-f]([0-9a-f]*[1-9a-f])?z(0|[1-9][0-9]{0,2}))"';
  gauge text := '\[' || amount || ',' || amount || ',' || whole || '\]';
  changed bigint;
BEGIN
  LOCK TABLE SCHEMA.sotto_entries IN EXCLUSIVE MODE;
  -- What no client reads would stop everybody: names that stand twice, numbers that are none,
  -- fields of another type.
  IF octet_length(p_body) > 16777216 OR jsonb_typeof(said) IS DISTINCT FROM 'object'
      OR NOT said ?& ARRAY['seq', 'time', 'kind', 'dataset', 'previous']
      OR EXISTS (
        SELECT FROM json_each(p_body::json) AS m(name, value)
        WHERE (m.name IN ('seq', 'time', 'entry', 'resumes', 'linked', 'for')
                AND m.value::text !~ '^[0-9]{1,16}$')
          OR (m.name IN ('kind', 'dataset', 'previous', 'key', 'part', 'purpose', 'by', 'what',
                         'run', 'reason', 'asked', 'result', 'spends', 'version')
                AND json_typeof(m.value) <> 'string')
          OR (m.name = 'events' AND json_typeof(m.value) <> 'array')
          OR (m.name = 'definition' AND json_typeof(m.value) <> 'object'))
      OR EXISTS (
        WITH RECURSIVE node(value, depth) AS (
          SELECT p_body::json, 1
          UNION ALL
          SELECT child.value, node.depth + 1 FROM node, LATERAL (
            SELECT m.value FROM json_each(
                CASE json_typeof(node.value) WHEN 'object' THEN node.value ELSE '{}' END) AS m
            UNION ALL
            SELECT m.value FROM json_array_elements(
                CASE json_typeof(node.value) WHEN 'array' THEN node.value ELSE '[]' END) AS m
          ) AS child WHERE node.depth <= 200)
        SELECT FROM node WHERE depth > 200
          OR (json_typeof(value) = 'number' AND abs(value::text::numeric) > 1e308)
          OR (json_typeof(value) = 'object' AND (
            SELECT count(*) <> count(DISTINCT name) FROM json_object_keys(value) AS name)))
  THEN
    RAISE EXCEPTION 'the entry is not one that a client writes' USING ERRCODE = 'SOT01';
  END IF;
  -- Events have their shape, also those inside of others. The ranges of their numbers are known to
  -- clients only, who do without a release that they cannot read.
  IF said ? 'events' AND (said->'events' = '[]' OR EXISTS (
      WITH RECURSIVE event(value, depth) AS (
        SELECT e.value, 1 FROM jsonb_array_elements(said->'events') AS e
        UNION ALL
        SELECT inside.value, event.depth + 1 FROM event, LATERAL jsonb_each(
            CASE jsonb_typeof(event.value) WHEN 'object' THEN event.value ELSE '{}' END) AS m,
          LATERAL (
            SELECT e.value FROM jsonb_array_elements(
                CASE jsonb_typeof(m.value) WHEN 'array' THEN m.value ELSE '[]' END) AS e
            UNION ALL
            SELECT m.value->'event' WHERE m.value ? 'event' AND jsonb_typeof(m.value) = 'object'
          ) AS inside WHERE event.depth <= 64)
      SELECT FROM event WHERE depth > 64 OR CASE jsonb_typeof(value) WHEN 'object' THEN (
          SELECT count(*) <> 1 OR bool_or(
            CASE WHEN m.key IN ('compose', 'parallel') THEN jsonb_typeof(m.value) <> 'array'
                 WHEN m.key IN ('sampled', 'shuffled', 'repeat', 'private_selection')
                 THEN jsonb_typeof(m.value) <> 'object' OR NOT m.value ? 'event'
                 ELSE jsonb_typeof(m.value) <> 'object' OR m.key NOT IN (
                   'gaussian', 'laplace', 'discrete_gaussian', 'discrete_laplace',
                   'gaussian_mixture', 'randomized_response', 'exponential', 'pure',
                   'approximate', 'zcdp', 'tcdp', 'gdp', 'gnmax', 'lnmax') END)
          FROM jsonb_each(value) AS m) ELSE true END))
  THEN
    RAISE EXCEPTION 'the entry has events that are none' USING ERRCODE = 'SOT01';
  END IF;
  SELECT * INTO last FROM SCHEMA.sotto_entries ORDER BY seq DESC LIMIT 1;
  last_said := last.body::jsonb;
  IF p_seq IS DISTINCT FROM coalesce(last.seq, 0) + 1
      OR said->>'previous' IS DISTINCT FROM coalesce(last.hash, repeat('0', 64))
      OR (last.body IS NOT NULL AND (said->>'time')::bigint < (last_said->>'time')::bigint)
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
  -- Time never runs back, so a moment ahead is the present of every data set: by what clocks may
  -- differ, ten minutes, and not by more.
  IF NOT owner
      AND (said->>'time')::bigint > greatest((last_said->>'time')::bigint, clock + 600000)
  THEN
    RAISE EXCEPTION 'the entry is more than ten minutes ahead of the clock of the server'
      USING ERRCODE = 'SOT01';
  END IF;

  IF p_kind IN ('store', 'dataset', 'decision') THEN
    IF NOT owner THEN
      RAISE EXCEPTION 'permission denied to create data sets' USING ERRCODE = '42501';
    END IF;
  ELSIF p_kind IN ('commit', 'abandon') THEN
    SELECT body::jsonb INTO settled FROM SCHEMA.sotto_entries
      WHERE seq = p_refers AND kind = 'reserve' AND dataset = p_dataset;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the entry settles what is no reservation' USING ERRCODE = 'SOT01';
    END IF;
    IF settled ? 'linked' AND (last.kind IS DISTINCT FROM p_kind
        OR last_said->>'entry' IS DISTINCT FROM settled->>'linked')
    THEN
      RAISE EXCEPTION 'the entry does not settle its part of the shared budget'
        USING ERRCODE = 'SOT01';
    END IF;
    -- A statement is one that was announced, and lowers the guarantee: as a double, which is what
    -- clients read.
    IF said ? 'this_data' AND (p_kind = 'commit' AND jsonb_typeof(said->'this_data') = 'object'
        AND settled->'this_data' ? 'announced'
        AND (said->'this_data') - 'epsilon'::text = jsonb_build_object(
          'delta', settled->'this_data'->'delta',
          'confidence', settled->'this_data'->'announced')
        AND CASE jsonb_typeof(said->'this_data'->'epsilon') WHEN 'number'
            THEN (said->'this_data'->>'epsilon')::float8 >= 0
              AND (said->'this_data'->>'epsilon')::float8
                < (settled->'this_data'->>'epsilon')::float8 END) IS NOT TRUE
    THEN
      RAISE EXCEPTION 'what the entry says about this data was not announced'
        USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind = 'resume' THEN
    PERFORM 1 FROM SCHEMA.sotto_entries
      WHERE seq = (said->>'resumes')::bigint AND kind = 'reserve' AND dataset = p_dataset;
    IF NOT FOUND OR p_key IS NOT NULL OR p_refers IS NOT NULL THEN
      RAISE EXCEPTION 'the entry resumes what is no reservation' USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind = 'refuse' THEN
    IF p_key IS NOT NULL OR p_refers IS NOT NULL THEN
      RAISE EXCEPTION 'a refusal uses up no key' USING ERRCODE = 'SOT01';
    END IF;
    PERFORM 1 FROM SCHEMA.sotto_datasets WHERE name = p_dataset;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the entry is about no data set' USING ERRCODE = 'SOT01';
    END IF;
  ELSIF p_kind NOT IN ('reserve', 'charge') OR p_key IS NULL OR p_refers IS NOT NULL
      OR NOT said ?& ARRAY['events', 'part', 'purpose', 'by'] THEN
    RAISE EXCEPTION 'the entry is of no known kind' USING ERRCODE = 'SOT01';
  ELSE
    SELECT e.body::jsonb->'definition' INTO defined FROM SCHEMA.sotto_datasets d
      JOIN SCHEMA.sotto_entries e ON e.seq = d.seq WHERE d.name = p_dataset;
    IF coalesce((defined->>'closed')::boolean, false)
        OR (said->>'time')::bigint < coalesce((defined->>'from')::bigint, 0)
        OR (said->>'time')::bigint >= nullif((defined->>'until')::bigint, 0)
        OR (NOT owner AND clock >= nullif((defined->>'until')::bigint, 0))
    THEN
      RAISE EXCEPTION 'the budget is closed or its period over' USING ERRCODE = 'SOT01';
    END IF;
    IF (defined ? 'this_data_epsilon') IS DISTINCT FROM (said ? 'this_data') THEN
      RAISE EXCEPTION 'the entry passes the tally over' USING ERRCODE = 'SOT01';
    END IF;
    IF said ? 'this_data' AND (jsonb_typeof(said->'this_data') = 'object'
        AND (said->'this_data') - ARRAY['epsilon', 'delta', 'announced'] = '{"confidence": 1}'
        AND jsonb_typeof(said->'this_data'->'epsilon') = 'number'
        AND said->'this_data'->'epsilon' >= '0'
        AND said->'this_data'->'epsilon' <= defined->'this_data_epsilon'
        AND jsonb_typeof(said->'this_data'->'delta') = 'number'
        AND said->'this_data'->'delta' >= '0'
        AND said->'this_data'->'delta' <= defined->'delta'
        AND (NOT (said->'this_data') ? 'announced' OR
          CASE jsonb_typeof(said->'this_data'->'announced') WHEN 'number'
            THEN (said->'this_data'->>'announced')::float8 > 0.5
              AND (said->'this_data'->>'announced')::float8 < 1
              AND (said->'this_data'->>'delta')::float8 > 0 END)) IS NOT TRUE
    THEN
      RAISE EXCEPTION 'the tally was charged what is no guarantee' USING ERRCODE = 'SOT01';
    END IF;
    IF defined ? 'people' AND (last.kind IS DISTINCT FROM p_kind
        OR last.dataset IS DISTINCT FROM defined->>'people'
        OR (said->>'linked')::bigint IS DISTINCT FROM last.seq
        OR (last_said->>'for')::bigint IS DISTINCT FROM p_seq
        OR last_said->'events' IS DISTINCT FROM said->'events')
    THEN
      RAISE EXCEPTION 'the shared budget was not charged for it' USING ERRCODE = 'SOT01';
    END IF;
  END IF;

  INSERT INTO SCHEMA.sotto_entries (seq, kind, dataset, release_key, refers, body, hash)
    VALUES (p_seq, p_kind, p_dataset, p_key, p_refers, p_body, p_hash);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed <> 1 THEN
    RAISE EXCEPTION 'the entry was not stored' USING ERRCODE = 'SOT01';
  END IF;
  IF p_kind IN ('reserve', 'charge', 'abandon') THEN
    -- A spend has the shape of the one before it: as many gauges, or as many runs of a plan.
    SELECT spend::jsonb INTO spent FROM SCHEMA.sotto_spends
      WHERE dataset = p_dataset AND part = p_part;
    IF FOUND AND (CASE
        WHEN p_spend !~ ('^\[(' || gauge || ',)*' || gauge || '\]$')
          AND p_spend !~ ('^\[(' || whole || ',)*' || whole || '\]$') THEN false
        ELSE jsonb_array_length(p_spend::jsonb) = jsonb_array_length(spent)
          AND jsonb_typeof(p_spend::jsonb->0) = jsonb_typeof(spent->0)
          AND NOT EXISTS (
            SELECT FROM regexp_matches(p_spend, '"([0-9a-f]+)z?([0-9]*)"', 'g') AS sum
            WHERE length(sum[1]) + coalesce(nullif(sum[2], ''), '0')::int > 540)
        END) IS NOT TRUE
    THEN
      RAISE EXCEPTION 'the entry leaves a spend that is none' USING ERRCODE = 'SOT01';
    END IF;
    UPDATE SCHEMA.sotto_spends SET seq = p_seq, spend = p_spend
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
      FROM SCHEMA.sotto_spends WHERE dataset = p_dataset)
  THEN
    RAISE EXCEPTION 'the entry states other spends than it leaves' USING ERRCODE = 'SOT01';
  END IF;
END)sql";

// The schema is a quoted identifier; in a text its apostrophes are doubled.
std::string in_schema(std::string sql, const std::string& schema) {
  const auto replace = [&](std::string_view name, const std::string& by) {
    for (std::size_t at = sql.find(name); at != std::string::npos;
         at = sql.find(name, at + by.size()))
      sql.replace(at, name.size(), by);
  };
  std::string text = "'";
  for (const char c : schema + ".sotto_datasets") text += c == '\'' ? "''" : std::string(1, c);
  replace("DATASETS", text + "'");
  replace("SCHEMA.", schema + ".");
  return sql;
}

}  // namespace

std::string lock_function(const std::string& schema) {
  return fmt::format(
      "CREATE OR REPLACE FUNCTION {0}.sotto_lock() RETURNS void LANGUAGE plpgsql {1} AS "
      "$lock$BEGIN LOCK TABLE {0}.sotto_entries IN EXCLUSIVE MODE; END$lock$",
      schema, settings());
}

std::string append_function(const std::string& schema) {
  return fmt::format(
      "CREATE OR REPLACE FUNCTION {}.sotto_append(p_seq bigint, p_kind text, p_dataset text, p_key "
      "text, p_refers bigint, p_body text, p_hash text, p_part text, p_spend text) RETURNS void "
      "LANGUAGE plpgsql {} AS $append${}$append$",
      schema, settings(), in_schema(kAppendBody, schema));
}

}  // namespace sotto::ledger
