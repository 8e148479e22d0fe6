import { parameterDigest } from '../extract/parameter-digest';
import { type SearchParameter } from '../extract/search-parameter';
import { type SearchParameterSet } from '../extract/search-parameter-set';
import { PRESENCE_BITS } from '../extract/type-parameters';
import { definitionOf, type ParameterState } from './parameter-state';

export interface ComparedState extends ParameterState {
  readonly presence_bit: number | null;
  /**
   * The digest of all that decides which rows the parameter gives; null if the index was built before digests existed.
   */
  readonly digest: string | null;
}

export interface ParameterToBuild {
  readonly type: string;
  readonly code: string;
  readonly digest: string;
  /** Bit of the parameter in the presence mask; undefined if the mask does not record the parameter. */
  readonly bit: number | undefined;
}

export interface StateChanges {
  readonly built: readonly ParameterToBuild[];
  /** Parameters of stored SearchParameters whose index must be rebuilt. */
  readonly rebuilt: readonly { readonly state: ComparedState; readonly digest: string }[];
  readonly removed: readonly ComparedState[];
  /** Parameters of stored SearchParameters whose code is now defined by HL7 or a module. */
  readonly takenOver: readonly ComparedState[];
}

/**
 * Finds the indexes to build and to remove, so that stored rows match `declared`. A presence bit is assigned once: a
 * parameter keeps its bit as long as it has a state, whatever the order of declaration.
 * @param declared the parameters of HL7 and of modules
 */
export function compareStates(declared: SearchParameterSet, stored: readonly ComparedState[]): StateChanges {
  const states = new Map(stored.map((state) => [parameterName(state.resource_type, state.code), state]));
  const built: ParameterToBuild[] = [];
  const wanted = new Set<string>();
  for (const type of declared.types()) {
    const bits = freeBits(stored.filter((state) => state.resource_type === type));
    for (const parameter of declared.list(type).filter(hasRows)) {
      const { code } = parameter;
      wanted.add(parameterName(type, code));
      const state = states.get(parameterName(type, code));
      const digest = parameterDigest(parameter, declared);
      if (state?.definition_id === null && state.digest === digest && state.state !== 'removing') continue;
      built.push({
        type,
        code,
        digest,
        bit: hasBit(parameter) ? (state?.presence_bit ?? bits.next().value) : undefined,
      });
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
    if (state.definition_id === null) return [];
    const parameter = set.find(state.resource_type, state.code);
    const digest = parameter === undefined ? UNUSABLE : parameterDigest(parameter, set);
    return digest === state.digest ? [] : [{ state, digest }];
  });
}

/**
 * The digest of a stored SearchParameter that this server cannot use, such as one for a type whose module was removed.
 * Meanwhile writes and jobs leave no rows of it, so a server that can use it again must rebuild its index.
 */
const UNUSABLE = '';

/** Columns of the resource serve parameters without rows (`_id`). */
const hasRows = ({ storedAs }: SearchParameter): boolean => storedAs.length > 0;

/**
 * Whether a parameter has its own presence bit. A union uses the bits of the parameters that it unites; a composite has
 * no `:missing`.
 */
const hasBit = ({ composite, parameterId, storedAs, narrowedTo }: SearchParameter): boolean =>
  composite === undefined && (storedAs.includes(parameterId) || narrowedTo !== undefined);

/**
 * The unused presence bits of one type. While a parameter is being removed, stored masks still hold its bit, so this
 * bit is not free.
 */
function* freeBits(states: readonly ComparedState[]): Generator<number, undefined> {
  const taken = new Set(states.map((state) => state.presence_bit));
  for (let bit = 0; bit < PRESENCE_BITS; bit++) if (!taken.has(bit)) yield bit;
}

const parameterName = (type: string, code: string): string => `${type}.${code}`;
