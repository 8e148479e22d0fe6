import { searchParameterDefinitions } from '../fhir/definitions/definitions';
import { type SearchParameter } from '../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../search-index/extract/search-parameter-set';

interface DescribedParameter {
  readonly name: string;
  readonly definition?: string;
  readonly type: string;
}

/**
 * Search parameters that have no index (http://hl7.org/fhir/R4/search.html#all). R4 gives `_filter` and `_list` the
 * type special.
 */
const TEXT_PARAMETERS: readonly DescribedParameter[] = [
  { name: '_text', type: 'string' },
  { name: '_content', type: 'string' },
  { name: '_list', type: 'special' },
  { name: '_filter', type: 'special' },
];

/** Describes the search parameters of types, for the CapabilityStatement. */
export class SearchCapabilities {
  /** The ids of HL7's search parameter definitions, by `type.code`. */
  private readonly definitions = new Map(
    searchParameterDefinitions().flatMap(({ id, code, base }) => base.map((type) => [`${type}.${code}`, id] as const)),
  );
  /** Names of reference parameters, by target type. A parameter that allows any target is listed for each type. */
  private readonly referrers: ReadonlyMap<string, readonly string[]>;

  constructor(
    private readonly types: readonly string[],
    private readonly parameters: SearchParameterSet,
  ) {
    const referrers = new Map<string, string[]>(types.map((type) => [type, []]));
    for (const parameter of types.flatMap((type) => parameters.list(type))) {
      if (parameter.kind !== 'reference') continue;
      const targets = parameter.targets.length === 0 ? types : parameter.targets;
      for (const target of targets) referrers.get(target)?.push(nameOfInclude(parameter));
    }
    this.referrers = referrers;
  }

  /** Returns `searchParam`, `searchInclude` and `searchRevInclude` of a type. Empty lists are omitted. */
  of(type: string): object {
    const parameters = this.parameters.list(type);
    const includes = parameters.filter(({ kind }) => kind === 'reference').map(nameOfInclude);
    const reverse = this.referrers.get(type) ?? [];
    return {
      ...(includes.length === 0 ? {} : { searchInclude: includes }),
      ...(reverse.length === 0 ? {} : { searchRevInclude: reverse }),
      ...(parameters.length === 0 ? {} : { searchParam: parameters.map((parameter) => this.describe(parameter)) }),
    };
  }

  /** Returns the parameters that all types have. */
  parametersOfAll(): DescribedParameter[] {
    const [first = [], ...others] = this.types.map((type) => this.parameters.list(type));
    const shared = first.filter(({ code }) => others.every((own) => own.some((parameter) => parameter.code === code)));
    return [...shared.map((parameter) => this.describe(parameter)), ...TEXT_PARAMETERS];
  }

  private describe({ type, code, kind }: SearchParameter): DescribedParameter {
    const bases = [type, 'DomainResource', 'Resource'];
    const id = bases.map((base) => this.definitions.get(`${base}.${code}`)).find(Boolean);
    return {
      name: code,
      ...(id === undefined ? {} : { definition: `http://hl7.org/fhir/SearchParameter/${id}` }),
      type: kind,
    };
  }
}

const nameOfInclude = ({ type, code }: SearchParameter): string => `${type}:${code}`;
