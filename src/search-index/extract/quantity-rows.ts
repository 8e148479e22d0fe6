import { type RowWriter } from './extraction';
import { type Unit } from './search-rows';
import { isObject } from '../../platform/json/plain-object';

/** One number of a value, with its unit. A Range gives two numbers, its ends. */
export interface Amount {
  readonly value: number;
  readonly unit?: Unit;
}

/** Writes the rows of a number or quantity parameter. http://hl7.org/fhir/R4/search.html#number, #quantity */
export function quantityRows(parameterId: number): RowWriter {
  return (value, extraction) => {
    for (const { value: amount, unit } of amountsOf(value)) {
      extraction.addNumber({ parameterId, codeHash: 0, value: amount, unitHash: extraction.hashes.ofUnit(unit) }, unit);
    }
  };
}

/** The numbers in an integer, decimal, Quantity, Money, Range or SampledData. Other shapes give none. */
export function amountsOf(value: unknown): readonly Amount[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [{ value }] : [];
  if (!isObject(value)) return [];
  if (value.value !== undefined) return quantityOf(value);
  return [value.low ?? value.lowerLimit, value.high ?? value.upperLimit].flatMap((end) =>
    isObject(end) ? quantityOf(end) : amountsOf(typeof end === 'number' ? end : undefined),
  );
}

function quantityOf({ value, system, code, unit, currency }: Readonly<Record<string, unknown>>): readonly Amount[] {
  if (typeof value !== 'number' || !Number.isFinite(value)) return [];
  if (typeof currency === 'string') return [{ value, unit: { system: CURRENCIES, code: currency } }];
  const known = { ...text('system', system), ...text('code', code), ...text('unit', unit) };
  return [Object.keys(known).length === 0 ? { value } : { value, unit: known }];
}

const text = (name: keyof Unit, value: unknown): Unit => (typeof value === 'string' ? { [name]: value } : {});

/** The system of currencies, in which the code of a Money is (http://hl7.org/fhir/R4/datatypes.html#Money). */
const CURRENCIES = 'urn:iso:std:iso:4217';
