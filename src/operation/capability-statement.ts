import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { Clock } from '../platform/time/clock';
import { ResourceTypes } from '../resource/resource-types';
import { type SearchParameterSet } from '../resource/search/extract/search-parameter-set';
import { SearchIndex } from '../resource/search/search-index';
import { OperationRegistry } from './operation.registry';

const READING = ['read', 'vread', 'history-instance', 'search-type'];
const WRITING = ['create', 'update', 'delete'];

/** The CapabilityStatement: what is registered, and nothing else. It changes with the stored SearchParameters. */
@Injectable()
export class CapabilityStatements {
  private made: { readonly parameters: SearchParameterSet; readonly text: string } | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly operations: OperationRegistry,
    private readonly clock: Clock,
    private readonly environment: Environment,
  ) {}

  async text(): Promise<string> {
    const { parameters } = await this.index.current();
    if (this.made?.parameters !== parameters) this.made = { parameters, text: JSON.stringify(this.make(parameters)) };
    return this.made.text;
  }

  private make(set: SearchParameterSet): object {
    return {
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: this.clock.now().toISOString(),
      kind: 'instance',
      fhirVersion: '4.0.1',
      format: ['application/fhir+json', 'application/json'],
      software: { name: 'svc-health-server' },
      implementation: { description: 'Healthcare data server', url: `${this.environment.baseUrl}/fhir` },
      rest: [
        {
          mode: 'server',
          security: {
            description:
              'OAuth 2.0 Bearer tokens from /auth/token, or HTTP Basic of a client; denied unless an AccessPolicy grants.',
          },
          resource: this.types.names().map((type) => this.resource(type, set)),
          operation: this.operationsOf(undefined),
        },
      ],
    };
  }

  private resource(type: string, set: SearchParameterSet): object {
    const interactions = this.types.isReadOnly(type) ? READING : [...READING, ...WRITING];
    const parameters = set.list(type);
    return {
      type,
      interaction: interactions.map((code) => ({ code })),
      versioning: 'versioned-update',
      readHistory: true,
      updateCreate: !this.types.isReadOnly(type),
      conditionalCreate: false,
      conditionalUpdate: false,
      searchParam: parameters.map(({ code, kind }) => ({ name: code, type: kind })),
      operation: this.operationsOf(type),
    };
  }

  private operationsOf(type: string | undefined): object[] {
    return this.operations
      .all()
      .filter(({ meta }) => meta.resourceType === type)
      .map(({ meta }) => ({
        name: meta.code,
        definition: `${this.environment.baseUrl}/fhir/OperationDefinition/${meta.code}`,
        documentation: meta.description,
      }));
  }
}
