import { parameterIdOf } from './hash';
import { nearestCode } from '../../platform/text/nearest-code';
import { StartError } from '../../platform/errors/start-error';
import { definitionsByType, liveDefinitionOf, type ParameterDefinition } from './parameter-definition';
import { type OwnSearchParameter, type SearchParameter, type UnusableParameter } from './search-parameter';
import { compileParameters, type PresenceBits, type TypeParameters } from './type-parameters';

type Definitions = ReadonlyMap<string, ReadonlyMap<string, ParameterDefinition>>;

/** The part that a set adds to the one below it; it shares all else with that one. */
interface Layer {
  readonly below: SearchParameterSet;
  readonly live?: readonly OwnSearchParameter[];
  readonly unfinished?: UnfinishedParameters;
}

/** The parameters whose index is being built. */
export interface UnfinishedParameters {
  readonly ids: ReadonlySet<number>;
  /** How far the index of one is; undefined where that is not known. */
  progressOf(type: string, code: string): IndexProgress | undefined;
}

/** How far an index is that is built or removed. */
export interface IndexProgress {
  /** From 0 to 100, rounded down: 100 only when it is done. */
  readonly percent: number;
  /** Undefined until there is something to go by. */
  readonly secondsLeft?: number;
}

/** The presence bits of all types, as the database has assigned them. */
export type AssignedBits = ReadonlyMap<string, PresenceBits>;

/** All search parameters of all resource types, those of HL7 R4 and those that the server adds. It never changes. */
export class SearchParameterSet {
  private readonly definitions: Definitions;
  /** A type is compiled when it is first asked for: all 146 would hold up each start. */
  private readonly compiled = new Map<string, TypeParameters>();

  /**
   * @param own parameters beside HL7's, in an order that never changes; they replace HL7's of the same type and code
   * @param ownTypes types that R4 does not know and that need not have parameters of their own
   * @param bits in the order of definition when absent
   * @throws StartError when two parameters have one code of a type, or one id: their rows could not be told apart
   */
  constructor(
    private readonly own: readonly OwnSearchParameter[] = [],
    private readonly ownTypes: readonly string[] = [],
    private readonly bits?: AssignedBits,
    private readonly layer?: Layer,
  ) {
    this.definitions =
      layer === undefined ? definitionsByType(own, ownTypes) : layer.below.definitionsWith(layer.live ?? []);
    if (layer !== undefined) return;
    refuseRepetitions(own);
    refuseCollisions(this.definitions);
  }

  /** The same parameters with other presence bits. */
  withBits(bits: AssignedBits): SearchParameterSet {
    return new SearchParameterSet(this.own, this.ownTypes, bits);
  }

  /**
   * This set and live parameters: compiles the types that have some, and shares all others. Codes that this set defines
   * already keep their meaning.
   */
  withLive(live: readonly OwnSearchParameter[]): SearchParameterSet {
    return live.length === 0 ? this : new SearchParameterSet([], [], this.bits, { below: this, live });
  }

  /** This set, of which some parameters are still being built. */
  withUnfinished(unfinished: UnfinishedParameters): SearchParameterSet {
    return unfinished.ids.size === 0 ? this : new SearchParameterSet([], [], this.bits, { below: this, unfinished });
  }

  get hasUnfinished(): boolean {
    return this.layer?.unfinished !== undefined;
  }

  /** Whether rows that answer for the parameter may be missing or outdated. */
  isUnfinished({ parameterId, storedAs }: SearchParameter): boolean {
    const { ids } = this.layer?.unfinished ?? {};
    return ids !== undefined && [parameterId, ...storedAs].some((id) => ids.has(id));
  }

  /** How far the index of an unfinished parameter is. */
  progressOf({ type, code }: Pick<SearchParameter, 'type' | 'code'>): IndexProgress | undefined {
    return this.layer?.unfinished?.progressOf(type, code);
  }

  types(): readonly string[] {
    return [...new Set([...this.definitions.keys(), ...(this.layer?.below.types() ?? [])])];
  }

  has(type: string): boolean {
    return this.definitions.has(type) || (this.layer?.below.has(type) ?? false);
  }

  /** Whether the code means something already, searchable or not. */
  defines(type: string, code: string): boolean {
    return this.definitions.get(type)?.has(code) ?? this.layer?.below.defines(type, code) ?? false;
  }

  /** The parameter that has the same number in stored rows as one of this name would have; they could not be told apart. */
  collidingWith(type: string, code: string): string | undefined {
    const id = parameterIdOf(type, code);
    for (const [otherType, byCode] of this.definitions) {
      for (const otherCode of byCode.keys()) {
        const isOther = otherType !== type || otherCode !== code;
        if (isOther && parameterIdOf(otherType, otherCode) === id) return `${otherType}.${otherCode}`;
      }
    }
    return this.layer?.below.collidingWith(type, code);
  }

  find(type: string, code: string): SearchParameter | undefined {
    return this.parametersOf(type)?.byCode.get(code);
  }

  /** The parameters of a type in an order that never changes; none for types that the set does not know. */
  list(type: string): readonly SearchParameter[] {
    return [...(this.parametersOf(type)?.byCode.values() ?? [])];
  }

  /** Parameters of a type that cannot be searched, with the reason. */
  listUnusable(type: string): readonly UnusableParameter[] {
    return this.parametersOf(type)?.unusable ?? [];
  }

  /** The code that a mistyped one most likely means, for "did you mean". */
  nearestCode(type: string, code: string): string | undefined {
    return nearestCode(code, this.parametersOf(type)?.byCode.keys() ?? []);
  }

  /** The date parameter whose value is the main date of the type's resources. */
  mainDateParameter(type: string): SearchParameter | undefined {
    return this.parametersOf(type)?.mainDate;
  }

  /**
   * The parameter whose Patient is the `patientHash` of all rows of a resource. Only types that allow one patient at most
   * have it, so that a search by patient finds everything under that hash. A Patient's rows carry the hash of the Patient itself.
   */
  patientParameter(type: string): SearchParameter | undefined {
    return this.parametersOf(type)?.patient;
  }

  private parametersOf(type: string): TypeParameters | undefined {
    const known = this.compiled.get(type);
    if (known !== undefined) return known;
    const definitions = this.definitions.get(type);
    if (definitions === undefined) return this.layer?.below.parametersOf(type);
    const parameters = compileParameters(type, definitions.values(), this.bits && (this.bits.get(type) ?? new Map()));
    this.compiled.set(type, parameters);
    return parameters;
  }

  /** Those of the types that have searchable live parameters. */
  private definitionsWith(live: readonly OwnSearchParameter[]): Definitions {
    const changed = new Map<string, Map<string, ParameterDefinition>>();
    for (const parameter of live) {
      const known = this.definitions.get(parameter.type);
      if (known === undefined || known.has(parameter.code)) continue;
      const definitions = changed.get(parameter.type) ?? new Map(known);
      changed.set(parameter.type, definitions.set(parameter.code, liveDefinitionOf(parameter)));
    }
    return changed;
  }
}

function refuseRepetitions(own: readonly OwnSearchParameter[]): void {
  const names = new Set<string>();
  for (const { type, code } of own) {
    const name = `${type}.${code}`;
    if (names.has(name)) throw new StartError(`The search parameter ${name} is defined twice. Rename one of both.`);
    names.add(name);
  }
}

function refuseCollisions(definitions: Definitions): void {
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
}
