import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/fhir-answer';
import { Clock } from '../platform/time/clock';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { ResourceReader } from '../resource/resource-reader';
import { type LiveParameterRow, progressOf } from '../resource/search/live/live-search-parameter';
import { LiveSearchParameters } from '../resource/search/live/live-search-parameters.repository';
import { Operation, type OperationHandler, type OperationRequest } from './operation';

/** How far the indexes of a SearchParameter are, one for each of its types. */
@Injectable()
@Operation({
  resourceType: 'SearchParameter',
  code: 'index-status',
  level: 'instance',
  methods: ['GET'],
  exampleId: 'patient-race',
  description: 'How far the indexes of a search parameter are: state, resources done and in all, by type',
})
export class IndexStatusOperation implements OperationHandler {
  constructor(
    private readonly reader: ResourceReader,
    private readonly live: LiveSearchParameters,
    private readonly clock: Clock,
  ) {}

  /** A deleted definition is answered for as long as its rows are being removed. */
  async execute({ id = '', query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$index-status', query, SHAPE_PARAMETERS, headers.prefer);
    const rows = await this.live.listOf(id);
    if (rows.length === 0) await this.reader.read('SearchParameter', id);
    const now = this.clock.now().getTime();
    const parameter = rows.map((row) => ({ name: 'index', part: partsOf(row, now) }));
    return {
      status: 200,
      text: JSON.stringify({ resourceType: 'Parameters', ...(rows.length === 0 ? {} : { parameter }) }),
    };
  }
}

function partsOf(row: LiveParameterRow, now: number): object[] {
  const { percent, secondsLeft } = progressOf(row, now);
  return [
    { name: 'base', valueCode: row.resource_type },
    { name: 'code', valueCode: row.code },
    { name: 'state', valueCode: row.state },
    { name: 'done', valueDecimal: row.done_count },
    { name: 'total', valueDecimal: row.total_count },
    { name: 'percent', valueInteger: percent },
    ...(secondsLeft === undefined ? [] : [{ name: 'secondsLeft', valueInteger: secondsLeft }]),
    ...(row.started_at === null ? [] : [{ name: 'started', valueInstant: row.started_at.toISOString() }]),
    ...(row.finished_at === null ? [] : [{ name: 'finished', valueInstant: row.finished_at.toISOString() }]),
  ];
}
