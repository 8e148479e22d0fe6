import { type NamedElements } from '../../fhir/definitions/element-tables';
import { type Alias, type Candidate, findAliases } from './alias';
import { compileComposite } from './composite';
import { parameterIdOf } from './hash';
import { holdsValuesOf } from './kind-types';
import { type ParameterDefinition } from './parameter-definition';
import { type Composite, type SearchParameter, type UnusableParameter } from './search-parameter';
import { type Branch, compilePaths, ExpressionError } from '../../fhirpath/fhirpath';

export interface TypeParameters {
  readonly byCode: ReadonlyMap<string, SearchParameter>;
  readonly mainDate: SearchParameter | undefined;
  readonly patient: SearchParameter | undefined;
  readonly unusable: readonly UnusableParameter[];
  readonly hasLive: boolean;
}

/**
 * Number of usable bits in the presence mask, which has a bit for each parameter with a value in the resource.
 * PostgreSQL stores it as a bigint, which is signed.
 */
export const PRESENCE_BITS = 63;

/** Codes that columns of the resource table serve, so the body need not hold their values. */
const columnCodes: ReadonlySet<string> = new Set(['_id', '_lastUpdated']);

/** Codes of the parameter that names the patient; every R4 type uses one of them. */
const patientCodes = ['patient', 'subject'];

/**
 * Codes of the parameter for the clinical date of a resource. If a type has several, the first in this list counts.
 * Dates of orders, documents and records about a person come before planned dates. Lifetimes (Patient's birthdate, a
 * Medication's expiration) are no clinical dates, so persons and things sort by their creation.
 */
const mainDateCodes = (
  'authoredon authored-on authored date created sent onset-date occurrence effective effective-time whenhandedover ' +
  'started start-date start collected datetime datewritten recorded identified issued timestamp period'
).split(' ');

interface Compiled extends ParameterDefinition {
  readonly branches: readonly Branch[];
  readonly composite?: Composite;
}

/** For each search parameter of one type, by code: the bit (0 to 62) that is set if a resource has a value for it. */
export type PresenceBits = ReadonlyMap<string, number>;

/**
 * Compiles the parameters of one type. Those that fail to compile are listed with the reason.
 * @param elements the elements that expressions about the type may name
 * @param bits presence bits that the database assigned; if absent, bits follow the order of definition
 */
export function compileParameters(
  type: string,
  definitions: Iterable<ParameterDefinition>,
  elements: NamedElements,
  bits?: PresenceBits,
): TypeParameters {
  const unusable: UnusableParameter[] = [];
  const compiled: Compiled[] = [];
  for (const definition of definitions) {
    const found = compile(definition, type, elements);
    if (found instanceof ExpressionError) unusable.push({ type, code: definition.code, reason: found.message });
    else compiled.push({ ...definition, ...found });
  }
  const parameters = searchableParameters(type, compiled, bits);
  const byCode = new Map(parameters.map((parameter) => [parameter.code, parameter]));
  // Every row holds the main date and the patient, so stored SearchParameters, which come and go, must not define them.
  const lasting = new Map([...byCode].filter(([, { isLive }]) => !isLive));
  const hasLive = lasting.size < byCode.size;
  return { byCode, mainDate: mainDateOf(lasting), patient: patientOf(lasting), unusable, hasLive };
}

function compile(
  definition: ParameterDefinition,
  type: string,
  elements: NamedElements,
): Pick<Compiled, 'branches' | 'composite'> | ExpressionError {
  const { expression, kind, isOwn, isLive } = definition;
  if (expression instanceof ExpressionError) return expression;
  try {
    const found = compilePaths(expression, type, elements);
    // The expression of a composite leads to items, not to values, so its paths are not checked by the kind of the
    // values.
    const indexed = kind === 'composite' ? found : found.filter((branch) => holdsValuesOf(kind, branch));
    if (isOwn && found.length > 0 && indexed.length === 0)
      return new ExpressionError(`it leads to ${typeNames(found)}, which a parameter of type ${kind} does not index`);
    const branches = isLive ? indexed : found;
    if (branches.length === 0) return new ExpressionError(`it names nothing of ${type}`);
    return kind === 'composite' ? { branches, composite: compileComposite(definition, branches, type) } : { branches };
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

const typeNames = (branches: readonly Branch[]): string => [...new Set(branches.map(({ type }) => type))].join(', ');

function searchableParameters(
  type: string,
  compiled: readonly Compiled[],
  bits: PresenceBits | undefined,
): readonly SearchParameter[] {
  const indexed = compiled.filter(({ code, kind }) => kind !== 'composite' && !columnCodes.has(code));
  const aliases = findAliases(
    indexed.filter(({ isOwn }) => !isOwn),
    indexed.filter(({ isOwn }) => isOwn),
  );
  const masks = presenceMasksOf(indexed, aliases, bits);
  const unions = findAliases(compiled.flatMap(compositeCandidateOf), []);
  return compiled.map(({ code, kind, targets, branches, composite, isLive }) => {
    const alias = aliases.get(code) ?? unions.get(code);
    const owners = columnCodes.has(code) ? [] : (alias?.codes ?? [code]);
    return {
      type,
      code,
      kind,
      parameterId: parameterIdOf(type, code),
      targets,
      storedAs: owners.map((owner) => parameterIdOf(type, owner)),
      narrowedTo: alias?.narrowedTo,
      presenceMask: masks.get(code) ?? 0n,
      branches,
      isLive,
      ...(composite === undefined ? {} : { composite }),
    };
  });
}

/**
 * A composite as a candidate for an alias. HL7's composite is the union of others (`combo-code-value-quantity`) if it
 * has the same components and more kinds of items. A composite that a stored SearchParameter defines is no candidate:
 * its rows also hold the system.
 */
function compositeCandidateOf({ code, branches, composite, components, isOwn }: Compiled): Candidate[] {
  if (composite?.rows === undefined || isOwn) return [];
  return [{ code, kind: `composite ${JSON.stringify(components.map(({ expression }) => expression))}`, branches }];
}

/**
 * The presence bits of each parameter. Each has one bit, and a union has the bits of the parameters that it unites.
 * Parameters of stored SearchParameters have none: they come and go, and the bits of stored masks must keep their
 * meaning.
 */
function presenceMasksOf(
  indexed: readonly Compiled[],
  aliases: ReadonlyMap<string, Alias>,
  bits: PresenceBits | undefined,
): ReadonlyMap<string, bigint> {
  const unions = [...aliases].filter(([, { narrowedTo }]) => narrowedTo === undefined);
  const unionCodes = new Set(unions.map(([code]) => code));
  const single = indexed.filter(({ code, isLive }) => !unionCodes.has(code) && !isLive);
  const masks = new Map(
    single.flatMap(({ code }, place): [string, bigint][] => {
      const bit = bits === undefined ? place : bits.get(code);
      return bit === undefined || bit >= PRESENCE_BITS ? [] : [[code, 1n << BigInt(bit)]];
    }),
  );
  for (const [code, { codes }] of unions)
    masks.set(
      code,
      codes.reduce((mask, member) => mask | (masks.get(member) ?? 0n), 0n),
    );
  return masks;
}

function mainDateOf(byCode: ReadonlyMap<string, SearchParameter>): SearchParameter | undefined {
  return mainDateCodes.map((code) => byCode.get(code)).find((parameter) => parameter?.kind === 'date');
}

function patientOf(byCode: ReadonlyMap<string, SearchParameter>): SearchParameter | undefined {
  return patientCodes
    .map((code) => byCode.get(code))
    .find((parameter) => parameter !== undefined && identifiesPatient(parameter));
}

/**
 * Whether the parameter names the patient. It must allow at most one per resource: a second patient would not be found
 * under the hash of the first.
 */
function identifiesPatient({ kind, targets, branches }: SearchParameter): boolean {
  const isSingle = branches.length === 1 && branches.every(({ steps }) => steps.every(({ isRepeated }) => !isRepeated));
  return kind === 'reference' && isSingle && (targets.length === 0 || targets.includes('Patient'));
}
