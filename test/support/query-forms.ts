import { type SearchParameter } from '../../src/search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../src/search-index/extract/search-parameter-set';

/** Values that match rows of both tenants, by the kind of parameter. */
const VALUES: Readonly<Partial<Record<SearchParameter['kind'], readonly string[]>>> = {
  token: ['canary-code', 'http://mrn.example|canary-1', 'final,amended', '8867-4', 'http://canary.example|', 'true'],
  string: ['Canary', 'Rivera'],
  reference: ['Patient/canary-p', 'Observation/own-o1', 'Organization/canary-org'],
  date: ['gt2000-01-01', '2026-02-02'],
  number: ['gt0'],
  quantity: ['gt100'],
  uri: ['http://canary.example/vs'],
};

const MODIFIERS: Readonly<Partial<Record<SearchParameter['kind'], readonly string[]>>> = {
  token: ['not', 'text', 'missing'],
  string: ['exact', 'contains', 'missing'],
  reference: ['identifier', 'missing'],
  date: ['missing'],
};

/**
 * All forms of queries that the search parameters of these types allow, as paths; refusals of some are valid answers
 * too. The first parameter of each kind has all forms. The others share them, since the kind decides which code a form
 * reaches.
 * @param types that chains, `_has` and includes lead to or come from
 */
export function queryForms(
  parameters: SearchParameterSet,
  searched: readonly string[],
  types: readonly string[],
): string[] {
  const forms = searched.flatMap((type) => formsOf(parameters, type, types));
  return [...new Set([...forms, ...typesForms(types)])];
}

function formsOf(parameters: SearchParameterSet, type: string, types: readonly string[]): string[] {
  const own = parameters.list(type);
  const references = own.filter(({ kind }) => kind === 'reference');
  return [
    ...Object.values(byKind(own)).flatMap((ofKind) =>
      ofKind.flatMap((parameter, at) => shareOf(parameterForms(type, parameter), at)),
    ),
    ...types.flatMap((source) =>
      parameters
        .list(source)
        .filter(({ kind, targets }) => kind === 'reference' && (targets.length === 0 || targets.includes(type)))
        .flatMap(({ code }, at) => [
          ...shareOf(asked(parameters, source), at).map((inner) => `${type}?_has:${source}:${code}:${inner}`),
          `${type}?_revinclude=${source}:${code}`,
          `${type}?_revinclude=${source}:${code}&_revinclude:iterate=${source}:${code}&_include:iterate=${source}:*`,
        ]),
    ),
    ...references.flatMap(({ code, targets }, at) => [
      `${type}?_include=${type}:${code}&_count=1`,
      ...(targets.length === 0 ? types : types.filter((target) => targets.includes(target))).flatMap((target) =>
        shareOf(asked(parameters, target), at).map((inner) => `${type}?${code}:${target}.${inner}`),
      ),
    ]),
    ...plainForms(type),
  ];
}

/** All forms for the first parameter of its kind, and a third of them for each of the others, in turn. */
const shareOf = (forms: readonly string[], at: number): readonly string[] =>
  forms.filter((_form, index) => at === 0 || index % 3 === at % 3);

function byKind(parameters: readonly SearchParameter[]): Readonly<Record<string, SearchParameter[]>> {
  const kinds: Record<string, SearchParameter[]> = {};
  for (const parameter of parameters) (kinds[parameter.kind] ??= []).push(parameter);
  return kinds;
}

/** Some parameters of a type, for the end of a chain. */
function asked(parameters: SearchParameterSet, type: string): string[] {
  const chosen = parameters.list(type).filter(({ code }) => /^(name|family|code|status|identifier|title)$/.test(code));
  return [
    ...chosen.map(
      ({ code, kind }) => `${code}=${kind === 'string' ? 'Canary' : 'canary-code,http://mrn.example|canary-1,final'}`,
    ),
    '_lastUpdated=gt2000-01-01',
    '_content=canary',
  ];
}

function parameterForms(type: string, { code, kind }: SearchParameter): string[] {
  const values = VALUES[kind] ?? [];
  const one = values[0] ?? 'canary';
  const filterValue = JSON.stringify(one);
  return [
    ...values.map((value) => `${type}?${code}=${value}`),
    ...(MODIFIERS[kind] ?? []).map(
      (modifier) => `${type}?${code}:${modifier}=${modifier === 'missing' ? 'false' : one}`,
    ),
    `${type}?_sort=${code}&_count=2`,
    `${type}?_sort=-${code}&_total=none`,
    `${type}?_filter=${code} ${kind === 'date' ? 'gt 2000-01-01' : `eq ${filterValue}`}`,
    `${type}?_filter=not (${code} ${kind === 'date' ? 'gt 2026-01-12' : `eq ${filterValue}`})`,
  ];
}

const plainForms = (type: string): string[] =>
  [
    '',
    '_count=0',
    '_summary=count',
    '_summary=true',
    '_elements=id',
    '_total=estimate',
    '_total=none&_count=1',
    '_count=1&_page=2',
    '_id=canary-p,own-p,canary-o1,own-o1',
    '_lastUpdated=gt2000-01-01&_sort=_lastUpdated',
    '_createdAt=gt2000-01-01',
    '_sort=_id',
    '_list=own-l',
    '_list=canary-l',
    '_content=canary',
    '_text=canary',
    '_ilike=canary',
    '_result=array',
    '_include=*',
    'code:in=http://canary.example/vs',
    'code:not-in=ValueSet/canary-vs',
    '_explain=1',
    '.id=canary-p',
    '.code.text$contains=Canary',
    '_sort=.status',
    '_filter=.status eq "final"',
    '_include=List:item&_include=Observation:derived-from',
    'unknown=1',
  ].map((query) => `${type}?${query}`);

const typesForms = (types: readonly string[]): string[] => [
  `?_type=${types.join(',')}`,
  `?_type=${types.join(',')}&_count=0`,
  `?_type=${types.join(',')}&_sort=_lastUpdated&_count=2`,
  '?_lastUpdated=gt2000-01-01',
  '?_content=canary',
  '?_list=canary-l',
  '?_id=canary-p,own-p',
  `?_type=${types.join(',')}&_include=*&_revinclude=Observation:has-member`,
];
