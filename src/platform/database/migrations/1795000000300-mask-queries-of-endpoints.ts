import { type Migration } from '../migration';

/**
 * SQL that masks the query values of a URL, as in bodies since ADR 0048: `?a=***&b=***`. A part without `=` is masked
 * as a whole.
 */
const MASKED_URL = `split_part(url, '?', 1) || '?' || (
  select string_agg(case when part = '' then '' else left(part, strpos(part, '=')) || '***' end, '&' order by place)
  from unnest(string_to_array(substr(url, strpos(url, '?') + 1), '&')) with ordinality as parts (part, place))`;

/** Returns a statement that replaces the URL by its masked form everywhere in a body. All other characters stay. */
const maskSql = (table: string, key: string): string => `
  update ${table} set body = replace(body, sent, to_json(${MASKED_URL})::text)
  from (
    select ${key} as found_key, (element -> 'valueUrl')::text as sent, element ->> 'valueUrl' as url
    from ${table}, json_array_elements(
      case json_typeof(body::json -> 'parameter') when 'array' then body::json -> 'parameter' else '[]' end) as element
    where type = 'SvcTopicDestination' and element ->> 'name' = 'endpoint' and element ->> 'valueUrl' like '%?%'
  ) found
  where ${key} = found_key`;

/**
 * Masks the query values of endpoints in all versions of destinations. Bodies showed these values, although the
 * settings store them encrypted. No search index row contains them, since no kind of search parameter takes values of
 * the type `url`.
 */
export const maskQueriesOfEndpoints: Migration = {
  name: 'MaskQueriesOfEndpoints1795000000300',
  statements: [
    maskSql('resource', 'resource_key'),
    'alter table resource_history disable trigger resource_history_append_only',
    maskSql('resource_history', '(type, id, version)'),
    'alter table resource_history enable trigger resource_history_append_only',
  ],
};
