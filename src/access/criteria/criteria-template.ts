import { isRequestPart, type RequestObject, type RequestPart } from '../request/access-request';
import { valuesAt } from '../request/paths';

/**
 * One row criterion of a policy: a search that limits the grant to the resources that it finds, such as
 * `Observation?subject=Patient/{{user.data.patient}}`.
 */
export interface CriteriaTemplate {
  readonly text: string;
  readonly type: string;
  readonly parameters: readonly TemplateParameter[];
  /** Parts of the request that the placeholders of the criterion read. */
  readonly parts: readonly RequestPart[];
}

interface TemplateParameter {
  readonly name: string;
  /** Values that the criterion separates by commas. A resource must match one of them. */
  readonly alternatives: readonly (readonly Piece[])[];
}

/** A piece of a value: text in FHIR search syntax, or the path of a placeholder into the request object. */
type Piece = string | { readonly path: readonly string[] };

/** Maximum number of comma-separated values of a parameter, as in a search. */
const MAX_ALTERNATIVES = 1000;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/;

/**
 * Parses a criterion: `Type`, or `Type?query` with `{{path}}` in its values.
 * @returns an error text if the criterion is malformed
 */
export function parseCriterion(text: string): CriteriaTemplate | string {
  const [, type = '', query = ''] = /^([A-Z][A-Za-z]{0,63})(?:\?(.+))?$/s.exec(text) ?? [];
  if (type === '') return 'must read Type, or Type?parameter=value';
  const parameters: TemplateParameter[] = [];
  const parts = new Set<RequestPart>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (/[{}]/.test(name)) return 'takes {{path}} in values only';
    const alternatives = splitAlternatives(value).map(piecesOf);
    for (const piece of alternatives.flat()) {
      if (typeof piece === 'string') {
        if (/\{\{|\}\}/.test(piece)) return 'has a {{ or }} alone';
        continue;
      }
      const [part = ''] = piece.path;
      if (piece.path.includes('')) return 'has a {{path}} with an empty step';
      if (!isRequestPart(part)) return `reads {{${part}…}}, which is no part of the request object`;
      parts.add(part);
    }
    parameters.push({ name, alternatives });
  }
  return { text, type, parameters, parts: [...parts] };
}

/**
 * Whether the criterion may use a search parameter. The types to which a chain leads are not resolved here, so each
 * link with the code counts.
 */
export function mayUse({ type, parameters }: CriteriaTemplate, used: { type: string; code: string }): boolean {
  return parameters.some(({ name }) => {
    const isOfOtherTypes = name.includes('.') || name.startsWith('_has:');
    return (isOfOtherTypes || type === used.type) && name.split(/[.:]/).includes(used.code);
  });
}

/**
 * Replaces the placeholders of a criterion by values of the request. The values are percent-encoded and escaped for
 * FHIR search, so that no value can add a parameter or an alternative.
 * @returns the search; undefined when a value is missing. A search without that value would match more resources, so
 * the criterion then grants nothing
 */
export function fillCriterion({ type, parameters }: CriteriaTemplate, request: RequestObject): string | undefined {
  const filled: string[] = [];
  for (const { name, alternatives } of parameters) {
    const values = alternatives.flatMap((pieces) => fillAlternative(pieces, request));
    if (values.length === 0 || values.length > MAX_ALTERNATIVES) return undefined;
    filled.push(`${encodeURIComponent(name)}=${values.map(encodeURIComponent).join(',')}`);
  }
  return filled.length === 0 ? type : `${type}?${filled.join('&')}`;
}

/** Returns a search by one parameter, with `sample` in place of every placeholder, to check that it can be parsed. */
export function sampleSearch(type: string, { name, alternatives }: TemplateParameter, sample: string): string {
  const texts = alternatives.map((pieces) => pieces.map((piece) => (typeof piece === 'string' ? piece : sample)));
  const value = texts.map((text) => text.join('')).join(',');
  return `${type}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

/** Splits a value at its commas, except at those inside `\,` and `{{ }}`. */
const splitAlternatives = (value: string): string[] => value.match(/(?:\\.|\{\{[^{}]*\}\}|[^\\,])+/gsu) ?? [''];

function piecesOf(alternative: string): Piece[] {
  const pieces = alternative.split(PLACEHOLDER);
  return pieces.flatMap((piece, at): Piece[] => {
    if (at % 2 === 1) return [{ path: piece.trim().split('.') }];
    return piece === '' ? [] : [piece];
  });
}

/** If a placeholder yields several values, each becomes an alternative with the same text around it. */
function fillAlternative(pieces: readonly Piece[], request: RequestObject): readonly string[] {
  let texts = [''];
  for (const piece of pieces) {
    const values = typeof piece === 'string' ? [piece] : valuesAt(request, piece.path).flatMap(searchValueOf);
    if (texts.length * values.length > MAX_ALTERNATIVES) return [];
    texts = texts.flatMap((text) => values.map((value) => `${text}${value}`));
  }
  return texts.filter((text) => text.trim() !== '');
}

/**
 * Escapes a value for a search (http://hl7.org/fhir/R4/search.html#escaping). Returns no value for an object, a list,
 * blank text or text with a NUL.
 */
function searchValueOf(value: unknown): string[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value);
  return text.trim() === '' || text.includes('\0') ? [] : [text.replace(/[\\,$|]/g, '\\$&')];
}
