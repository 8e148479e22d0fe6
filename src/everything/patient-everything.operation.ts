import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { subsetOf } from '../fhir/subset';
import { Environment } from '../platform/config/environment';
import { Operation, type OperationHandler, type OperationRequest } from '../operation/operation';
import { Compartments } from '../resource/compartment/compartments';
import { bundleText, searchEntry } from '../resource/api/resource-answer';
import { RowLimits } from '../resource/rows/row-limits';
import { SearchIndex } from '../resource/search/search-index';
import { careDateIdsOf } from './care-dates';
import { ChartReader, type Member } from './chart-reader';
import { everythingOperation } from './everything-definition';
import { parametersOf } from './everything-parameters';
import { type EverythingRequest, readEverythingRequest } from './everything-request';
import { type MemberFilter } from './member-filter';
import { Reasons } from './reasons';

/** All that belongs to a patient, by the stored compartment definition (interface, "Patient everything"). */
@Injectable()
@Operation(everythingOperation)
export class PatientEverything implements OperationHandler {
  private readonly reasons = new WeakMap<object, Reasons>();

  constructor(
    private readonly compartments: Compartments,
    private readonly limits: RowLimits,
    private readonly index: SearchIndex,
    private readonly charts: ChartReader,
    private readonly environment: Environment,
  ) {}

  async execute({ id = '', query, body, headers, rootUrl }: OperationRequest): Promise<FhirAnswer> {
    const compartment = await this.compartments.of('Patient');
    const request = readEverythingRequest(parametersOf(query, body), {
      prefer: headers.prefer,
      maxTimeoutSeconds: this.environment.everythingTimeoutMaxSeconds,
      isInCompartment: (type) => type === 'Patient' || (compartment.parameterIdsByType.get(type) ?? []).length > 0,
    });
    const members = (await this.charts.read(id, compartment, request, await this.filterOf(request))) ?? [];
    const parameters = request.used.toString();
    const url = `${rootUrl}/Patient/${id}/$everything${parameters === '' ? '' : `?${parameters}`}`;
    const head = { total: members.length, link: [{ relation: 'self', url }] };
    const { subset } = request;
    if (subset === 'count') return { status: 200, text: bundleText('searchset', head, []) };
    const reasons = this.reasonsOf(compartment);
    const entries = members.map((member) =>
      searchEntry(
        rootUrl,
        subset === undefined ? member : shown(member, subset),
        'match',
        reasons.of(member.parameters),
      ),
    );
    return { status: 200, text: bundleText('searchset', head, entries) };
  }

  private async filterOf({ period }: EverythingRequest): Promise<MemberFilter> {
    const limit = await this.limits.current();
    if (period === undefined) return { period, limit };
    return { period: { ...period, ...careDateIdsOf((await this.index.current()).parameters) }, limit };
  }

  private reasonsOf(compartment: object & ConstructorParameters<typeof Reasons>[0]): Reasons {
    const reasons = this.reasons.get(compartment) ?? new Reasons(compartment);
    this.reasons.set(compartment, reasons);
    return reasons;
  }
}

const shown = (member: Member, subset: Parameters<typeof subsetOf>[1]): Member => ({
  ...member,
  text: subsetOf(member.text, subset),
});
