import { nameIn } from '../../parts/names';
import { type Row } from '../../parts/search-pages';

/** A patient in the list. */
export interface PatientLine {
  readonly id: string;
  readonly name: string;
  readonly birthDate: string;
  readonly gender: string;
  readonly identifiers: readonly string[];
}

export function patientLineOf(resource: Row): PatientLine {
  const { id, birthDate, gender, identifier } = resource;
  return {
    id: textOf(id),
    name: nameIn(resource) ?? 'without a name',
    birthDate: textOf(birthDate),
    gender: textOf(gender),
    identifiers: Array.isArray(identifier) ? identifier.flatMap(identifierText) : [],
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function identifierText(identifier: unknown): readonly string[] {
  const { value, type } = (identifier ?? {}) as {
    value?: unknown;
    type?: { text?: unknown; coding?: { code?: unknown }[] };
  };
  if (typeof value !== 'string') return [];
  const kind = [type?.text, type?.coding?.[0]?.code].find((one) => typeof one === 'string');
  return [typeof kind === 'string' ? `${kind} ${value}` : value];
}
