import { parameterDigest } from '../extract/parameter-digest';
import { type SearchParameter } from '../extract/search-parameter';
import { type SearchParameterSet } from '../extract/search-parameter-set';
import { PRESENCE_BITS } from '../extract/type-parameters';
import { definitionOf, type ParameterState } from './parameter-state';

/** A state with the columns that a start compares. */
export interface ComparedState extends ParameterState {
  readonly presence_bit: number | null;
  /** Null if indexed before digests existed. */
  readonly digest: string | null;
}

/** A parameter of HL7 or of a module to build. */
export interface ParameterToBuild {
  readonly type: string;
  readonly code: string;
  readonly digest: string;
  /** Undefined if presence is not recorded. */
  readonly bit: number | undefined;
}

export interface StateChanges {
  readonly built: readonly ParameterToBuild[];
  /** Stored parameters to rebuild. */
  readonly rebuilt: readonly { readonly state: ComparedState; readonly digest: string }[];
  readonly removed: readonly ComparedState[];
  /** Stored parameters whose code HL7 or a module now defines. */
  readonly takenOver: readonly ComparedState[];
}

/**
 * Finds the parameters to build and to remove, so that stored rows match `declared`. A presence bit is assigned once: a
 * parameter keeps it as long as its state, in any order of declaration.
 * @param declared the parameters of HL7 and of modules
 */
export function compareStates(declared: SearchParameterSet, stored: readonly ComparedState[]): StateChanges {
  const states = new Map(stored.map((state) => [parameterName(state.resource_type, state.code), state]));
  const built: ParameterToBuild[] = [];
  const wanted = new Set<string>();
  for (const type of declared.types()) {
    const bits = new FreeBits(stored.filter((state) => state.resource_type === type));
    for (const parameter of declared.list(type).filter(hasRows)) {
      const { code } = parameter;
      wanted.add(parameterName(type, code));
      const state = states.get(parameterName(type, code));
      const digest = parameterDigest(parameter, declared);
      if (state?.definition_id === null && state.digest === digest && state.state !== 'removing') continue;
      built.push({ type, code, digest, bit: hasBit(parameter) ? (state?.presence_bit ?? bits.take()) : undefined });
    }
  }
  const others = stored.filter((state) => !wanted.has(parameterName(state.resource_type, state.code)));
  return {
    built,
    rebuilt: rebuiltAmong(declared, others),
    removed: others.filter(({ definition_id: id, state }) => id === null && state !== 'removing'),
    takenOver: stored.filter((state) => state.definition_id !== null && !others.includes(state)),
  };
}

function rebuiltAmong(declared: SearchParameterSet, others: readonly ComparedState[]): StateChanges['rebuilt'] {
  const live = others.filter(({ state }) => state !== 'removing');
  const set = declared.withLive(live.flatMap((state) => definitionOf(state) ?? []));
  return live.flatMap((state) => {
    const parameter = state.definition_id === null ? undefined : set.find(state.resource_type, state.code);
    const digest = parameter && parameterDigest(parameter, set);
    return digest === undefined || digest === state.digest ? [] : [{ state, digest }];
  });
}

/** Parameters served by columns of the resource (`_id`) have no rows. */
const hasRows = ({ storedAs }: SearchParameter): boolean => storedAs.length > 0;

/** Unions use the bits of their members; composites have no `:missing`. */
const hasBit = ({ composite, parameterId, storedAs, narrowedTo }: SearchParameter): boolean =>
  composite === undefined && (storedAs.includes(parameterId) || narrowedTo !== undefined);

/**
 * The unused bits of one type. The bit of a parameter that is being removed is still in stored masks, so it is not
 * free.
 */
class FreeBits {
  private readonly taken: ReadonlySet<number | null>;
  private next = 0;

  constructor(states: readonly ComparedState[]) {
    this.taken = new Set(states.map((state) => state.presence_bit));
  }

  take(): number | undefined {
    while (this.taken.has(this.next)) this.next++;
    return this.next < PRESENCE_BITS ? this.next++ : undefined;
  }
}

const parameterName = (type: string, code: string): string => `${type}.${code}`;
