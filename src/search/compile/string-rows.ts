import { type StringClause } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { stringFilter } from './filters';
import { FEW } from './many';

/** SQL that selects `main_date, resource_key` of rows with one of the texts. */
export function stringRows(clause: StringClause, bind: Binder): string {
  if (clause.match === 'prefix' && clause.texts.length > FEW) return manyPrefixes(clause, bind);
  const ids = `${bind.value(clause.parameterIds)}::integer[]`;
  // The trigram index can find a text only by three letters or digits in a row. Other texts would need the whole index
  // of the parameter.
  const isIndexed = clause.match !== 'prefix' && clause.texts.every((text) => /[\p{L}\p{N}]{3}/u.test(text));
  return `select s.main_date, s.resource_key from search_string s
where ${isIndexed ? 's.parameter_id + 0' : 's.parameter_id'} = any(${ids}) and ${stringFilter('s', clause, bind)}`;
}

/** Reads one index range for each prefix, so that no row is compared with all of them. */
export function manyPrefixes({ parameterIds, texts }: StringClause, bind: Binder): string {
  const starts = outermost(texts);
  const [ids, lows, highs] = [parameterIds, starts, starts.map((text) => `${text}\u{10FFFF}`)].map((values) =>
    bind.value(values),
  );
  return `select k.main_date, k.resource_key from unnest(${ids}::integer[]) q(parameter_id)
cross join unnest(${lows}::text[], ${highs}::text[]) z(low, high)
cross join lateral (select s.main_date, s.resource_key from search_string s where s.parameter_id = q.parameter_id
and s.beginning >= z.low and s.beginning < z.high offset 0) k`;
}

/** The prefixes without those that begin with another prefix. */
function outermost(texts: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const text of texts.toSorted()) if (kept.length === 0 || !text.startsWith(kept.at(-1) ?? '')) kept.push(text);
  return kept;
}
