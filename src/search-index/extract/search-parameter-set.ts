import { parameterIdOf } from './hash';
import { ElementTables } from '../../fhir/definitions/element-tables';
import { memoized } from '../../platform/memoized';
import { nearestCode } from '../../platform/text/nearest-code';
import { StartError } from '../../platform/errors/start-error';
import { definitionsByType, ownDefinitionOf, type ParameterDefinition } from './parameter-definition';
import { type OwnSearchParameter, type SearchParameter, type UnusableParameter } from './search-parameter';
import { compileParameters, type PresenceBits, type TypeParameters } from './type-parameters';

type Definitions = ReadonlyMap<string, ReadonlyMap<string, ParameterDefinition>>;

interface Parts {
  readonly definitions: Definitions;
  readonly tables: ElementTables;
  readonly bits?: AssignedBits | undefined;
  readonly parametersOf: ParametersOf;
  readonly unfinished?: UnfinishedParameters;
}

type ParametersOf = (type: string) => TypeParameters | undefined;

export interface UnfinishedParameters {
  readonly ids: ReadonlySet<number>;
  progressOf(type: string, code: string): KnownIndexProgress | undefined;
}

/** Progress of an index that is being built or removed. */
export interface IndexProgress {
  /** Whole percent from 0 to 100, rounded down, so that 100 means finished. */
  readonly percent: number;
  /** Estimated time to the end; undefined until it can be estimated. */
  readonly secondsLeft?: number;
}

export interface KnownIndexProgress extends IndexProgress {
  /** Id of the stored SearchParameter that defines the parameter; null for parameters of HL7 and of modules. */
  readonly definitionId: string | null;
}

/** For all types, the presence bits that the database assigned. */
export type AssignedBits = ReadonlyMap<string, PresenceBits>;

/** All search parameters of all resource types: those of HL7 R4 and those that the server adds. Immutable. */
export class SearchParameterSet {
  private readonly parts: Parts;

  /**
   * @param own parameters in addition to HL7's, in a fixed order; they replace HL7's of the same type and code
   * @param ownTypes types that R4 does not define, with or without parameters
   * @param tables the elements that expressions may name
   * @param parts the parts of a changed set; the other arguments then have no effect
   * @throws StartError if two parameters of a type have the same code, or two parameters have the same id: their rows
   *   would be indistinguishable
   */
  constructor(
    own: readonly OwnSearchParameter[] = [],
    ownTypes: readonly string[] = [],
    tables = new ElementTables(),
    parts?: Parts,
  ) {
    const definitions = parts?.definitions ?? definitionsByType(own, ownTypes);
    this.parts = parts ?? { definitions, tables, parametersOf: compilerOf(definitions, tables) };
    if (parts !== undefined) return;
    refuseRepetitions(own);
    namesById(definitions);
  }

  /**
   * The same parameters with presence bits that the database assigned. Without them, bits follow the order of
   * definition.
   */
  withBits(bits: AssignedBits): SearchParameterSet {
    const { definitions, tables } = this.parts;
    return setOf({ definitions, tables, bits, parametersOf: compilerOf(definitions, tables, bits) });
  }

  /**
   * This set with live parameters added (those that stored SearchParameters define). The types with live parameters are
   * compiled, all others are shared. If this set already defines a code, the code keeps its meaning.
   */
  withLive(live: readonly OwnSearchParameter[]): SearchParameterSet {
    const { definitions, tables, bits, parametersOf } = this.parts;
    const changed = withDefinitions(definitions, live);
    if (changed.size === 0) return this;
    const compiled = compilerOf(changed, tables, bits);
    return setOf({
      definitions: new Map([...definitions, ...changed]),
      tables,
      bits,
      parametersOf: (type) => (changed.has(type) ? compiled(type) : parametersOf(type)),
    });
  }

  withUnfinished(unfinished: UnfinishedParameters): SearchParameterSet {
    return unfinished.ids.size === 0 ? this : setOf({ ...this.parts, unfinished });
  }

  get hasUnfinished(): boolean {
    return this.parts.unfinished !== undefined;
  }

  /** Whether the rows that serve the parameter may be incomplete or outdated. */
  isUnfinished({ parameterId, storedAs }: SearchParameter): boolean {
    const { ids } = this.parts.unfinished ?? {};
    return ids !== undefined && [parameterId, ...storedAs].some((id) => ids.has(id));
  }

  progressOf({ type, code }: Pick<SearchParameter, 'type' | 'code'>): KnownIndexProgress | undefined {
    return this.parts.unfinished?.progressOf(type, code);
  }

  types(): readonly string[] {
    return [...this.parts.definitions.keys()];
  }

  has(type: string): boolean {
    return this.parts.definitions.has(type);
  }

  /** Whether the type has a parameter with this code, even if it cannot be searched. */
  defines(type: string, code: string): boolean {
    return this.parts.definitions.get(type)?.has(code) ?? false;
  }

  /**
   * The name of a parameter that has the same number in stored rows as the named one. The rows of both would be
   * indistinguishable.
   */
  collidingWith(type: string, code: string): string | undefined {
    const other = namesById(this.parts.definitions).get(parameterIdOf(type, code));
    return other === `${type}.${code}` ? undefined : other;
  }

  find(type: string, code: string): SearchParameter | undefined {
    return this.parts.parametersOf(type)?.byCode.get(code);
  }

  list(type: string): readonly SearchParameter[] {
    return [...(this.parts.parametersOf(type)?.byCode.values() ?? [])];
  }

  listUnusable(type: string): readonly UnusableParameter[] {
    return this.parts.parametersOf(type)?.unusable ?? [];
  }

  /** Whether stored SearchParameters define some of the parameters of the type. */
  hasLive(type: string): boolean {
    return this.parts.parametersOf(type)?.hasLive === true;
  }

  /** The known code that is nearest to a misspelt one, for "did you mean". */
  nearestCode(type: string, code: string): string | undefined {
    return nearestCode(code, this.parts.parametersOf(type)?.byCode.keys() ?? []);
  }

  /** The date parameter whose value is the main date (the clinical date) of a resource. */
  mainDateParameter(type: string): SearchParameter | undefined {
    return this.parts.parametersOf(type)?.mainDate;
  }

  /**
   * Returns the parameter whose target is the patient of a resource; the index rows of the resource hold the hash of
   * this patient (`patientHash`). Undefined for types whose resources may have several patients, since one hash would
   * not find all of them. Rows of a Patient hold the hash of this Patient.
   */
  patientParameter(type: string): SearchParameter | undefined {
    return this.parts.parametersOf(type)?.patient;
  }
}

const setOf = (parts: Parts): SearchParameterSet => new SearchParameterSet([], [], parts.tables, parts);

/** Compiles the parameters of a type at its first use, since compiling all 146 types would delay each start. */
const compilerOf = (definitions: Definitions, tables: ElementTables, bits?: AssignedBits): ParametersOf =>
  memoized((type) => {
    const ofType = definitions.get(type);
    const elements = tables.namedIn(type);
    return ofType && compileParameters(type, ofType.values(), elements, bits && (bits.get(type) ?? new Map()));
  });

function withDefinitions(definitions: Definitions, live: readonly OwnSearchParameter[]): Definitions {
  const changed = new Map<string, Map<string, ParameterDefinition>>();
  for (const parameter of live) {
    const known = definitions.get(parameter.type);
    if (known === undefined || known.has(parameter.code)) continue;
    const ofType = changed.get(parameter.type) ?? new Map(known);
    changed.set(parameter.type, ofType.set(parameter.code, ownDefinitionOf(parameter, true)));
  }
  return changed;
}

function refuseRepetitions(own: readonly OwnSearchParameter[]): void {
  const names = new Set<string>();
  for (const { type, code } of own) {
    const name = `${type}.${code}`;
    if (names.has(name)) throw new StartError(`The search parameter ${name} is defined twice. Rename one of both.`);
    names.add(name);
  }
}

/** @throws StartError if two parameters have the same id */
function namesById(definitions: Definitions): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [type, byCode] of definitions) {
    for (const code of byCode.keys()) {
      const name = `${type}.${code}`;
      const id = parameterIdOf(type, code);
      const other = names.get(id);
      if (other !== undefined)
        throw new StartError(`The search parameters ${other} and ${name} have one id, ${id}. Rename one of both.`);
      names.set(id, name);
    }
  }
  return names;
}
