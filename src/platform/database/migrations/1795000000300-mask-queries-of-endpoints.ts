import { type Migration } from '../migration';

/** The values of a query as bodies show them since ADR 0048: `?a=***&b=***`; what has no `=` is a value as a whole. */
const MASKED_URL = `split_part(url, '?', 1) || '?' || (
  select string_agg(case when part = '' then '' else left(part, strpos(part, '=')) || '***' end, '&' order by place)
  from unnest(string_to_array(substr(url, strpos(url, '?') + 1), '&')) with ordinality as parts (part, place))`;

/** Replaces the text of a URL wherever it stands in a body; every other character stays. */
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
 * Bodies of destinations showed the values of their endpoint's query, which the settings keep sealed: they go from all versions. No
 * search index row holds any of them, since no kind of search parameter takes values of the type `url`.
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
