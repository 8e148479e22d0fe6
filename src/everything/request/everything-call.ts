import { Injectable } from '@nestjs/common';
import { type AnswerFormat } from '../../fhir/edge/format';
import { Environment } from '../../platform/config/environment';
import { Slices } from '../../platform/time/slices';
import { limitedToRows } from '../../platform/request/request-context';
import { valuesInBody } from '../../operation/body-values';
import { type OperationRequest } from '../../operation/operation';
import { type Compartment, Compartments } from '../../resource/compartment/compartments';
import { RowLimits } from '../../resource/rows/row-limits';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { SearchIndex } from '../../search-index/search-index';
import { careDateIdsOf } from '../plan/care-dates';
import { type CompartmentQuery } from '../plan/compartment-query';
import { EntryPrinter } from '../print/entry-printer';
import { type Reasons, reasonsOf } from '../print/reasons';
import { type EverythingRequest, readEverythingRequest } from './everything-request';
import { assertReferencesFinished, includesOf, SHARED_TYPES } from './read-includes';

export interface EverythingCall {
  readonly request: EverythingRequest;
  readonly query: CompartmentQuery;
  /**
   * Types of the compartment and of `_include` that the caller may not search, whether or not such resources are
   * stored.
   */
  readonly hiddenTypes: readonly string[];
  readonly printer: EntryPrinter;
  readonly format: AnswerFormat;
  /** Returns the URL of this call with other parameters. */
  readonly urlWith: (parameters: URLSearchParams) => string;
}

/** Reads a call: its parameters, the stored compartment definition, and the rows that the caller may read. */
@Injectable()
export class EverythingCalls {
  private readonly reasons = new WeakMap<Compartment, Reasons>();

  constructor(
    private readonly compartments: Compartments,
    private readonly limits: RowLimits,
    private readonly index: SearchIndex,
    private readonly environment: Environment,
    private readonly slices: Slices,
  ) {}

  /**
   * @throws ServiceError 'invalid' for a parameter that is unknown or malformed, 'forbidden' to a caller who may not
   * search Patients
   */
  async read({ id = '', query, body, headers, rootUrl, format }: OperationRequest): Promise<EverythingCall> {
    const compartment = await this.compartments.of('Patient');
    const { parameters } = await this.index.current();
    const given = new URLSearchParams([...query, ...valuesInBody(body)]);
    const request = readEverythingRequest(given, {
      prefer: headers.prefer,
      maxTimeoutSeconds: this.environment.everythingTimeoutMaxSeconds,
      isInCompartment: (type) => type === 'Patient' || (compartment.parameterIdsByType.get(type) ?? []).length > 0,
    });
    const { types, since, period, subset, cursor } = request;
    // A later page shows the versions that the first page has listed.
    if (cursor === undefined || subset === 'count') compartment.assertFinished(types);
    const all = ['Patient', ...compartment.parameterIdsByType.keys()];
    const granted = await this.limits.ofCompartment({ type: 'Patient', id }, all, types);
    if (granted.hidden.includes('Patient')) throw await this.limits.refusalOf(['Patient']);
    const included = includesOf(given, parameters);
    const further = included && [...included.types, ...included.references.flatMap((one) => one.types)];
    if (included !== undefined && included.types.length > 0) {
      const entries = types ?? compartment.parameterIdsByType.keys();
      assertReferencesFinished(new Set([...entries, ...(further ?? [])]), parameters);
    }
    const reach = await this.limits.reach();
    const reached = further && (await reach.ofTypes(further));
    // A query plan also counts rows of other patients, so it is shown only to callers who may search them all.
    if (request.explain !== undefined && (await reach.ofTypes([...all, ...(further ?? [])])).limit)
      throw limitedToRows();
    const reasons = this.reasonsOf(compartment, parameters);
    const part = subset === 'count' ? undefined : subset;
    return {
      request,
      query: {
        patientId: id,
        patientHash: this.index.referenceHash('Patient', id),
        compartment,
        types,
        since,
        period: period && { ...period, ...careDateIdsOf(parameters, types) },
        limit: granted.limit,
        included: included && { ...included, limit: reached?.limit },
      },
      hiddenTypes: [...new Set([...granted.hidden, ...(reached?.hidden ?? [])])].sort(),
      printer: new EntryPrinter(rootUrl, reasons, part, format.isLines === true, this.slices),
      format,
      urlWith: (used) => {
        const text = used.toString();
        return `${rootUrl}/Patient/${id}/$everything${text === '' ? '' : `?${text}`}`;
      },
    };
  }

  private reasonsOf(compartment: Compartment, parameters: SearchParameterSet): Reasons {
    const reasons =
      this.reasons.get(compartment) ?? reasonsOf(compartment, () => referenceNamesOf(compartment, parameters));
    this.reasons.set(compartment, reasons);
    return reasons;
  }
}

/**
 * Returns the names of references by parameter id, such as `Observation:performer` (the notation of `_include`), for
 * all types that an answer may contain.
 */
function referenceNamesOf(
  { parameterIdsByType }: Compartment,
  parameters: SearchParameterSet,
): ReadonlyMap<number, string> {
  const references = [...parameterIdsByType.keys(), ...SHARED_TYPES].flatMap((type) =>
    parameters.list(type).filter(({ kind }) => kind === 'reference'),
  );
  return new Map(references.map(({ type, code, parameterId }) => [parameterId, `${type}:${code}`]));
}
