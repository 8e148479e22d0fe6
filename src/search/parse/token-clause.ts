import { type RowHashes } from '../../search-index/extract/row-hashes';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { assertFinished } from '../../search-index/unfinished-index';
import { joined } from '../query/nested-clauses';
import { type SearchClause, type TokenKey } from '../query/search-query';
import { impliedCodesOf, type ParsedToken, withoutImplied } from './implied-system';
import { type SearchScope, type SentParameter } from './search-scope';
import { caselessClauseOf, systemClauseOf, textClauseOf, typedIdentifierClauseOf } from './token-body';
import { assertFew, invalid, splitOutsideEscapes, unescaped, unsupportedModifier } from './values';

/** Reads a token search (http://hl7.org/fhir/R4/search.html#token). */
export function tokenClauseOf(sent: SentParameter, scope: SearchScope): SearchClause {
  const { parameter, modifier, name, values } = sent;
  const { hashes, parameters } = scope;
  switch (modifier) {
    case undefined: {
      const clauses = values.map((value) => clauseOf(parameter, tokenOf(name, value), hashes));
      assertFew(
        name,
        clauses.filter(({ kind }) => kind === 'body'),
      );
      return anyOf(clauses);
    }
    case 'not':
      return { kind: 'not', clause: tokenClauseOf({ ...sent, modifier: undefined, name: parameter.code }, scope) };
    case 'text':
      assertFew(name, values);
      return anyOf(values.map((value) => textClauseOf(parameter, name, unescaped(value))));
    case 'of-type':
      assertFew(name, values);
      return anyOf(values.map((value) => ofTypeClause(parameter, name, value, hashes)));
    case 'i':
      assertFew(name, values);
      return anyOf(
        values.map((value) => {
          const token = withoutImplied(parameter, tokenOf(name, value));
          return token.code === '' ? clauseOf(parameter, token, hashes) : caselessClauseOf(parameter, name, token);
        }),
      );
    case 'in':
    case 'not-in': {
      // The ValueSet is found by its url, so the index of ValueSet.url must be complete.
      assertFinished(parameters.find('ValueSet', 'url'), parameters);
      assertFew(name, values);
      const sets = values.map((url) => ({ kind: 'value-set' as const, url: unescaped(url), parameter }));
      return modifier === 'in' ? anyOf(sets) : { kind: 'not', clause: anyOf(sets) };
    }
    default:
      throw unsupportedModifier(name, ['not', 'i', 'text', 'in', 'not-in', 'of-type', 'missing']);
  }
}

export function tokenOf(name: string, text: string): ParsedToken {
  const [first = '', second, ...rest] = splitOutsideEscapes(text, '|').map(unescaped);
  if (rest.length > 0) throw invalid(name, 'takes code, system|code, |code or system|');
  if (second === undefined) return { code: first };
  if (first === '' && second === '') throw invalid(name, 'has neither a system nor a code');
  return { system: first, code: second };
}

/** Joins alternatives; tokens become one clause, which costs one lookup. */
export function anyOf(clauses: readonly SearchClause[]): SearchClause {
  const tokens: TokenKey[] = [];
  const others: SearchClause[] = [];
  for (const clause of clauses) {
    if (clause.kind === 'token') tokens.push(...clause.tokens);
    else others.push(clause);
  }
  return joined('any', tokens.length === 0 ? others : [{ kind: 'token', tokens }, ...others]);
}

function clauseOf(parameter: SearchParameter, token: ParsedToken, hashes: RowHashes): SearchClause {
  const { system, code } = token;
  if (code !== '' || system === undefined) return { kind: 'token', tokens: tokenKeysOf(parameter, token, hashes) };
  const codes = impliedCodesOf(parameter, system);
  return codes === undefined
    ? systemClauseOf(parameter, system)
    : anyOf(codes.map((one) => clauseOf(parameter, { code: one }, hashes)));
}

/** The index keys of a token with a code. */
export function tokenKeysOf(parameter: SearchParameter, token: ParsedToken, hashes: RowHashes): readonly TokenKey[] {
  const { system, code } = withoutImplied(parameter, token);
  return parameter.storedAs.map((parameterId) => ({
    hash: hashes.ofToken(parameterId, code),
    ...(system === undefined ? {} : { systemHash: hashes.ofSystem(system) }),
  }));
}

export const pairTokenOf = (parameterId: number, first: string, second: ParsedToken, hashes: RowHashes): TokenKey => ({
  hash: hashes.ofPair(parameterId, first, second.code),
  ...(second.system === undefined ? {} : { systemHash: hashes.ofSystem(second.system) }),
});

/** Reads `system|code|value` of `:of-type`: an Identifier by its type and value. */
function ofTypeClause(parameter: SearchParameter, name: string, text: string, hashes: RowHashes): SearchClause {
  const [system, code, value, ...rest] = splitOutsideEscapes(text, '|').map(unescaped);
  const isWhole = system !== undefined && code !== undefined && value !== undefined && rest.length === 0;
  if (!isWhole || code === '' || value === '')
    throw invalid(name, 'takes system|code|value: the type and the value of an identifier');
  const body = typedIdentifierClauseOf(parameter, name, [system, code, value]);
  return { kind: 'all', clauses: [clauseOf(parameter, { code: value }, hashes), body] };
}
