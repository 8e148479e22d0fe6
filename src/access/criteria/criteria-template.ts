import { isRequestPart, type RequestObject, type RequestPart } from '../request/access-request';
import { valuesAt } from '../request/paths';

/** One row criterion of a policy, such as `Observation?subject=Patient/{{user.data.patient}}`. */
export interface CriteriaTemplate {
  /** The text in the policy. */
  readonly text: string;
  readonly type: string;
  readonly parameters: readonly TemplateParameter[];
  /** Parts of the request that it reads. */
  readonly parts: readonly RequestPart[];
}

interface TemplateParameter {
  readonly name: string;
  /** Separated by commas in the criterion: one must match. */
  readonly alternatives: readonly (readonly Piece[])[];
}

/** Text in FHIR search syntax, or a path into the request object. */
type Piece = string | { readonly path: readonly string[] };

/** The limit of alternatives in a search. */
const MAX_ALTERNATIVES = 1000;

const PLACEHOLDER = /\{\{ *([^{}]*?) *\}\}/;

/**
 * Parses a criterion: `Type`, or `Type?query` with `{{path}}` in its values.
 * @returns an error text if it is malformed
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
 * Fills in the request's values, percent-encoded and escaped for FHIR search, so that no value can add a parameter or
 * an alternative.
 * @returns undefined when a value is missing: a search without it would match more, so nothing is granted
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

/** The criterion with `sample` in place of every value, to check that the search can be parsed. */
export const sampleCriterion = ({ type, parameters }: CriteriaTemplate, sample: string): string =>
  parameters.length === 0
    ? type
    : `${type}?${parameters
        .map(({ name, alternatives }) => {
          const values = alternatives.map((pieces) =>
            pieces.map((piece) => (typeof piece === 'string' ? piece : sample)).join(''),
          );
          return `${encodeURIComponent(name)}=${encodeURIComponent(values.join(','))}`;
        })
        .join('&')}`;

/** Commas inside `\,` or `{{ }}` are not separators. */
const splitAlternatives = (value: string): string[] => value.match(/(?:\\.|\{\{[^{}]*\}\}|[^\\,])+/gsu) ?? [''];

function piecesOf(alternative: string): Piece[] {
  const pieces = alternative.split(PLACEHOLDER);
  return pieces.flatMap((piece, at): Piece[] => {
    if (at % 2 === 1) return [{ path: piece.split('.') }];
    return piece === '' ? [] : [piece];
  });
}

/** A list of values becomes alternatives, each with the text around it. */
function fillAlternative(pieces: readonly Piece[], request: RequestObject): readonly string[] {
  let texts = [''];
  for (const piece of pieces) {
    const values = typeof piece === 'string' ? [piece] : valuesAt(request, piece.path).flatMap(searchValueOf);
    if (texts.length * values.length > MAX_ALTERNATIVES) return [];
    texts = texts.flatMap((text) => values.map((value) => `${text}${value}`));
  }
  return texts.filter((text) => text.trim() !== '');
}

/** http://hl7.org/fhir/R4/search.html#escaping */
function searchValueOf(value: unknown): string[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  const text = String(value);
  return text.trim() === '' || text.includes('\0') ? [] : [text.replace(/[\\,$|]/g, '\\$&')];
}
