import { referenceTargetOf } from '../../fhir/reference';
import { type Steps } from '../../platform/time/steps';
import { type Extraction, type RowWriter } from './extraction';
import { amountsOf, codesOf } from './value-rows';
import { type Branch, evaluatorOf } from '../../fhirpath/fhirpath';

/** The paths to the values of a component, from the item that both components share. */
export interface CompositePart {
  readonly kind: 'token' | 'quantity' | 'number' | 'reference';
  readonly branches: readonly Branch[];
}

/**
 * Writes the rows of a composite parameter. Each is a pair of values of the same item, so the systolic code of a blood
 * pressure is never paired with the diastolic value (http://hl7.org/fhir/R4/search.html#composite). A pair with a
 * number or quantity is a number row with the hash of its code. Any other pair is a token row with the hash of both
 * values.
 * @param hasSystem whether tokens of the first component also have a row by {@link keyWithSystem}
 */
export function compositeRows(
  parameterId: number,
  [first, second]: readonly [CompositePart, CompositePart],
  hasSystem = false,
): RowWriter {
  const valuesOfFirst = evaluatorOf(first);
  const valuesOfSecond = evaluatorOf(second);
  return (item, extraction) => {
    const plain = valuesOfFirst(item, extraction).flatMap((value) => keysOf(first.kind, value, extraction));
    const keys = hasSystem && first.kind === 'token' ? plain.flatMap((key) => [key, qualified(key)]) : plain;
    if (keys.length === 0) return;
    const values = valuesOfSecond(item, extraction);
    if (second.kind === 'quantity' || second.kind === 'number')
      pairUp(keys, values.flatMap(amountsOf), extraction, ({ text }) => {
        const codeHash = extraction.hashes.ofText(text);
        return ({ value, unit }) => {
          extraction.addNumber(parameterId, codeHash, value, unit);
        };
      });
    else
      pairUp(
        keys,
        values.flatMap((value) => keysOf(second.kind, value, extraction)),
        extraction,
        ({ text }) =>
          (other) => {
            extraction.addToken(extraction.hashes.ofPair(parameterId, text, other.text), other.systemHash);
          },
      );
  };
}

/** Pairs that are written at once. A pair takes about 2 µs. */
const PAIRS_AT_ONCE = 1_000;

/** Pairs each key with each of `others`: at once or, if there are many, in steps at the end of the extraction. */
function pairUp<Other>(
  keys: readonly Key[],
  others: readonly Other[],
  extraction: Extraction,
  writerOf: (key: Key) => (other: Other) => void,
): void {
  const count = keys.length * others.length;
  extraction.spendPairs(count);
  if (count > PAIRS_AT_ONCE) extraction.postpone(pairInSteps(keys, others, writerOf));
  else for (const key of keys) others.forEach(writerOf(key));
}

function* pairInSteps<Other>(
  keys: readonly Key[],
  others: readonly Other[],
  writerOf: (key: Key) => (other: Other) => void,
): Steps<void> {
  for (const key of keys) {
    const write = writerOf(key);
    for (let at = 0; at < others.length; at += PAIRS_AT_ONCE) {
      others.slice(at, at + PAIRS_AT_ONCE).forEach(write);
      yield;
    }
  }
}

interface Key {
  readonly text: string;
  readonly system?: string;
  readonly systemHash: number;
}

/**
 * The text under which rows hold a token with its system. It begins with a tab, as no code does
 * (http://hl7.org/fhir/R4/datatypes.html#code).
 */
export const keyWithSystem = (system: string, code: string): string => `\t${system}\t${code}`;

const qualified = (key: Key): Key => ({ ...key, text: keyWithSystem(key.system ?? '', key.text) });

function keysOf(kind: CompositePart['kind'], value: unknown, { baseUrl, hashes }: Extraction): readonly Key[] {
  if (kind === 'token')
    return codesOf(value).map(({ code, ...of }) => ({ text: code, ...of, systemHash: hashes.ofSystem(of.system) }));
  const target = referenceTargetOf(value, baseUrl);
  return target === undefined || target.kind === 'contained' ? [] : [{ text: target.key, systemHash: 0 }];
}
