import { type Extraction, type RowWriter } from './extraction';
import { isObject } from '../../platform/json/plain-object';

/**
 * Writes the rows of a token parameter. The shape of a value shows whether it is a CodeableConcept, Coding, Identifier,
 * ContactPoint or primitive. Codes are kept as written, because case matters in most code systems.
 * http://hl7.org/fhir/R4/search.html#token
 */
export function tokenRows(parameterId: number): RowWriter {
  return (value, extraction) => {
    visitCodes(value, (code, system) => {
      addToken(extraction, parameterId, code, system);
    });
  };
}

/** The codes of a token value with their systems. */
export function codesOf(value: unknown): readonly { readonly code: string; readonly system?: string }[] {
  const codes: { code: string; system?: string }[] = [];
  visitCodes(value, (code, system) => {
    if (isScalar(code)) codes.push({ code: String(code), ...(typeof system === 'string' ? { system } : {}) });
  });
  return codes;
}

function visitCodes(value: unknown, visit: (code: unknown, system: unknown) => void): void {
  if (!isObject(value)) {
    visit(value, undefined);
    return;
  }
  const { coding, code, value: text, system } = value;
  if (!Array.isArray(coding)) {
    visit(code ?? text, system);
    return;
  }
  for (const item of coding as unknown[]) if (isObject(item)) visit(item.code, item.system);
}

/**
 * Writes the rows of a uri parameter: the exact text, and for a canonical with a version also the URL without it.
 * http://hl7.org/fhir/R4/search.html#uri
 */
export function uriRows(parameterId: number): RowWriter {
  return (value, extraction) => {
    if (typeof value !== 'string') return;
    addToken(extraction, parameterId, value, undefined);
    const bar = value.indexOf('|');
    if (bar > 0) addToken(extraction, parameterId, value.slice(0, bar), undefined);
  };
}

function addToken(extraction: Extraction, parameterId: number, code: unknown, system: unknown): void {
  if (!isScalar(code)) return;
  const { hashes } = extraction;
  extraction.addToken(
    hashes.ofToken(parameterId, String(code)),
    hashes.ofSystem(typeof system === 'string' ? system : undefined),
  );
}

function isScalar(code: unknown): code is string | number | boolean {
  return (typeof code === 'string' && code !== '') || typeof code === 'boolean' || typeof code === 'number';
}
