import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../fhir/edge/fhir-answer';
import { definitionOfId } from '../fhir/definitions/search-parameter-resources';
import { Clock } from '../platform/time/clock';
import { assertKnownParameters, SHAPE_PARAMETERS } from '../platform/http/known-parameters';
import { ResourceReader } from '../store/resource-reader';
import { SearchIndex } from '../search-index/search-index';
import { type ParameterState, progressOf } from '../search-index/states/parameter-state';
import { ParameterStates } from '../search-index/states/parameter-states.repository';
import { Operation, type OperationHandler, type OperationRequest, partsAnswer } from './operation';

const ANSWER_PARTS = {
  index: {
    base: 'code',
    code: 'code',
    state: 'code',
    done: 'decimal',
    total: 'decimal',
    percent: 'integer',
    secondsLeft: 'integer',
    started: 'instant',
    finished: 'instant',
  },
} as const;

/** Returns the progress of the indexes of one SearchParameter. It has one index for each of its types. */
@Injectable()
@Operation({
  resourceType: 'SearchParameter',
  code: 'index-status',
  level: 'instance',
  methods: ['GET'],
  answerParts: ANSWER_PARTS,
  exampleId: 'patient-race',
  description: 'How far the indexes of a search parameter are: state, resources done and in all, by type',
})
export class IndexStatusOperation implements OperationHandler {
  constructor(
    private readonly reader: ResourceReader,
    private readonly states: ParameterStates,
    private readonly index: SearchIndex,
    private readonly clock: Clock,
  ) {}

  /** Returns the progress. A deleted SearchParameter has one too, as long as its index rows are being removed. */
  async execute({ id = '', query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$index-status', query, SHAPE_PARAMETERS, headers.prefer);
    const states = await this.statesOf(id);
    if (states.length === 0) await this.reader.read('SearchParameter', id);
    return answerOf(states, this.clock.now());
  }

  private statesOf(id: string): Promise<ParameterState[]> {
    const definition = definitionOfId(id);
    if (definition === undefined) return this.states.listOf(id);
    const { base, code } = definition;
    const isOfAll = base.includes('Resource') || base.includes('DomainResource');
    return this.states.listNamed((isOfAll ? this.index.builtIn.types() : base).map((type) => ({ type, code })));
  }
}

/** Returns the progress of all search parameters whose indexes are being built or removed, also of built-in ones. */
@Injectable()
@Operation({
  resourceType: 'SearchParameter',
  code: 'index-status',
  level: 'type',
  methods: ['GET'],
  answerParts: ANSWER_PARTS,
  description: 'Search parameters whose indexes are being built or removed: state, resources done and in all, by type',
})
export class IndexesStatusOperation implements OperationHandler {
  constructor(
    private readonly states: ParameterStates,
    private readonly clock: Clock,
  ) {}

  async execute({ query, headers }: OperationRequest): Promise<FhirAnswer> {
    assertKnownParameters('$index-status', query, SHAPE_PARAMETERS, headers.prefer);
    return answerOf(await this.states.listUnfinished(), this.clock.now());
  }
}

const answerOf = (states: readonly ParameterState[], now: Date): FhirAnswer =>
  partsAnswer(ANSWER_PARTS, {
    index: states.map((state) => ({
      base: state.resource_type,
      code: state.code,
      state: state.state,
      done: state.done_count,
      total: state.total_count,
      ...progressOf(state, now.getTime()),
      started: state.started_at,
      finished: state.finished_at,
    })),
  });
