import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { Clock } from '../platform/time/clock';
import { ResourceTypes } from '../resource/resource-types';
import { type SearchParameter } from '../resource/search/extract/search-parameter';
import { SearchIndex } from '../resource/search/search-index';
import { ANY_TYPE } from './operation';
import { OperationRegistry } from './operation.registry';

const READING = ['read', 'vread', 'history-instance', 'search-type'];
const WRITING = ['create', 'update', 'delete'];

/** Kinds of search parameters that the compiler understands today. */
const SEARCHABLE = new Set<SearchParameter['kind']>(['token', 'uri', 'reference']);

/** The CapabilityStatement: what is registered, and nothing else. It does not change while the server runs. */
@Injectable()
export class CapabilityStatements {
  private made: string | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly operations: OperationRegistry,
    private readonly clock: Clock,
    private readonly environment: Environment,
  ) {}

  get text(): string {
    this.made ??= JSON.stringify(this.make());
    return this.made;
  }

  private make(): object {
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
          resource: this.types.names().map((type) => this.resource(type)),
          operation: this.operationsOf(undefined),
        },
      ],
    };
  }

  private resource(type: string): object {
    const interactions = this.types.isReadOnly(type) ? READING : [...READING, ...WRITING];
    const parameters = this.index.parameters
      .list(type)
      .filter(({ kind, code }) => SEARCHABLE.has(kind) || code === '_lastUpdated');
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

  /** An operation of types and of their instances is named once. */
  private operationsOf(type: string | undefined): object[] {
    const own = this.operations
      .all()
      .map(({ meta }) => meta)
      .filter(({ resourceType }) => resourceType === type || (type !== undefined && resourceType === ANY_TYPE));
    return [...new Map(own.map((meta) => [meta.code, meta])).values()].map(({ code, description }) => ({
      name: code,
      definition: `${this.environment.baseUrl}/fhir/OperationDefinition/${code}`,
      documentation: description,
    }));
  }
}
