import { Injectable } from '@nestjs/common';
import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { Operation, type OperationHandler, type OperationRequest, partsAnswer } from '../../operation/operation';
import { Clock } from '../../platform/time/clock';
import { Slices } from '../../platform/time/slices';
import { ResourceTypes } from '../../model/resource-types';
import { DRY_RUN_PARTS } from './dry-run-answer';
import { readDryRunRequest } from './dry-run-request';
import { TopicDryRun } from './topic-dry-run';

/** Finds the past changes for which a topic would have fired. It stores and sends nothing. */
@Injectable()
@Operation({
  resourceType: 'SvcSubscriptionTopic',
  code: 'dry-run',
  tag: 'Topics',
  level: 'type',
  methods: ['POST'],
  enforcesRows: true,
  description:
    'Finds the versions for which a draft topic would have fired, the reasons of all others, and the events per hour',
  parameters: [
    { name: 'start', description: 'The first time of the window; 24 hours before its end when left out' },
    { name: 'end', description: 'The last time of the window; now when left out' },
    { name: '_count', description: 'How many versions are listed, at most 1000 (100); 0 counts up to 20000' },
    {
      name: '_fires',
      description:
        'true lists only the newest versions that fire, false those that do not; all up to 20000 are counted',
    },
    { name: '_after', description: 'Where an earlier answer ended: its "next"' },
  ],
  answerParts: DRY_RUN_PARTS,
  exampleBody: {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'topic',
        resource: {
          resourceType: 'SvcSubscriptionTopic',
          url: 'http://clinic.example/topics/women',
          status: 'draft',
          trigger: [{ resource: 'Patient', fhirPathCriteria: "gender = 'female' and name.family.exists()" }],
        },
      },
      { name: 'start', valueDateTime: '2024-01-01' },
      { name: '_count', valueUnsignedInt: 20 },
    ],
  },
})
export class DryRunOperation implements OperationHandler {
  constructor(
    private readonly dryRun: TopicDryRun,
    private readonly types: ResourceTypes,
    private readonly clock: Clock,
    private readonly slices: Slices,
  ) {}

  async execute({ body, query }: OperationRequest): Promise<FhirAnswer> {
    const request = await this.slices.run(readDryRunRequest(body, query, this.clock.now(), this.types));
    return partsAnswer(DRY_RUN_PARTS, await this.dryRun.run(request));
  }
}
