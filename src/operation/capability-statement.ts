import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { memoized } from '../platform/memoized';
import { softwareVersion } from '../platform/software-version';
import { Clock } from '../platform/time/clock';
import { type WriteKind } from '../model/resource-type';
import { ResourceTypes } from '../model/resource-types';
import { ANY_TYPE, type OperationDefinition } from './operation';
import { type SearchParameterSet } from '../search-index/extract/search-parameter-set';
import { SearchIndex } from '../search-index/search-index';
import { OperationRegistry } from './operation.registry';
import { SearchCapabilities } from './search-capabilities';

/** Reading interactions (http://hl7.org/fhir/R4/valueset-type-restful-interaction.html). */
const READING = ['read', 'vread', 'history-instance', 'history-type', 'search-type'];
/** Writing interactions, each with the kind of write that a type must accept. */
const WRITING: readonly (readonly [interaction: string, write: WriteKind])[] = [
  ['create', 'create'],
  ['update', 'update'],
  ['patch', 'update'],
  ['delete', 'delete'],
];
/** Interactions of the whole server (http://hl7.org/fhir/R4/valueset-system-restful-interaction.html). */
const OF_SYSTEM = ['transaction', 'batch', 'search-system', 'history-system'];

const FORMATS = ['application/fhir+json', 'application/json', 'json', 'text/yaml', 'application/yaml', 'yaml'];
const PATCH_FORMATS = ['application/json-patch+json', 'application/merge-patch+json', 'application/fhir+json'];

const SECURITY_SERVICE = 'http://terminology.hl7.org/CodeSystem/restful-security-service';
/**
 * The extension that lists OAuth endpoints
 * (http://hl7.org/fhir/smart-app-launch/1.0.0/StructureDefinition-oauth-uris.html).
 */
const OAUTH_URIS = 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris';

type Mode = 'full' | 'terminology';

export interface StatementText {
  readonly text: string;
  /** The ETag of the text. It differs between versions of the server, and between servers with different modules. */
  readonly etag: string;
}

/**
 * The CapabilityStatement (http://hl7.org/fhir/R4/capabilitystatement.html) of the types, search parameters and
 * operations that exist. It changes with the stored SearchParameters.
 */
@Injectable()
export class CapabilityStatements {
  private made: { readonly parameters: SearchParameterSet; readonly of: (mode: Mode) => StatementText } | undefined;

  constructor(
    private readonly types: ResourceTypes,
    private readonly index: SearchIndex,
    private readonly operations: OperationRegistry,
    private readonly clock: Clock,
    private readonly environment: Environment,
  ) {}

  /** @param mode `full`, `normative` or `terminology` (http://hl7.org/fhir/R4/http.html#capabilities) */
  async of(mode: string): Promise<StatementText> {
    const { parameters } = await this.index.current();
    if (this.made?.parameters !== parameters) {
      const of = (made: Mode): StatementText =>
        statementText(made === 'full' ? this.full(parameters) : this.terminology());
      this.made = { parameters, of: memoized(of) };
    }
    return this.made.of(mode === 'terminology' ? mode : 'full');
  }

  private full(parameters: SearchParameterSet): object {
    const search = new SearchCapabilities(this.types.names(), parameters);
    return {
      resourceType: 'CapabilityStatement',
      ...this.head(),
      fhirVersion: '4.0.1',
      format: FORMATS,
      patchFormat: PATCH_FORMATS,
      rest: [
        {
          mode: 'server',
          security: this.security(),
          resource: this.types.names().map((type) => this.resource(type, search)),
          interaction: coded(OF_SYSTEM),
          searchParam: search.parametersOfAll(),
          ...listed('operation', this.operationsOf(undefined)),
        },
      ],
    };
  }

  /** The TerminologyCapabilities. They are empty, since this server neither expands value sets nor translates codes. */
  private terminology(): object {
    return { resourceType: 'TerminologyCapabilities', ...this.head() };
  }

  private head(): object {
    return {
      status: 'active',
      date: this.clock.now().toISOString(),
      kind: 'instance',
      software: { name: 'svc-health-server', version: softwareVersion() },
      implementation: { description: 'Healthcare data server', url: `${this.environment.baseUrl}/fhir` },
    };
  }

  private security(): object {
    const { baseUrl, corsOrigins } = this.environment;
    return {
      cors: corsOrigins.length > 0,
      service: ['OAuth', 'Basic'].map((code) => ({ coding: [{ system: SECURITY_SERVICE, code }] })),
      description:
        'OAuth 2.0 Bearer tokens from /auth/token, or HTTP Basic of a client; denied unless an AccessPolicy grants.',
      extension: [{ url: OAUTH_URIS, extension: [{ url: 'token', valueUri: `${baseUrl}/auth/token` }] }],
    };
  }

  private resource(type: string, search: SearchCapabilities): object {
    const accepts = (write: WriteKind): boolean => this.types.accepts(type, write);
    const writing = WRITING.filter(([, write]) => accepts(write)).map(([interaction]) => interaction);
    const canPut = accepts('create') && accepts('update');
    return {
      type,
      interaction: coded([...READING, ...writing]),
      versioning: 'versioned-update',
      readHistory: true,
      updateCreate: canPut,
      conditionalCreate: accepts('create'),
      conditionalRead: 'full-support',
      conditionalUpdate: canPut,
      conditionalDelete: accepts('conditional-delete') ? 'single' : 'not-supported',
      referencePolicy: ['literal', 'logical'],
      ...search.of(type),
      ...listed('operation', this.operationsOf(type)),
    };
  }

  /** Lists each operation of a type (undefined: of the system) once, also if its instances have it too. */
  private operationsOf(type: string | undefined): object[] {
    const own = this.operations
      .all()
      .map(({ meta }) => meta)
      .filter(({ resourceType }) => resourceType === type || (type !== undefined && resourceType === ANY_TYPE));
    return [...new Map(own.map((meta) => [meta.code, meta])).values()].map((meta) => ({
      name: meta.code,
      definition: meta.definition ?? ownDefinition(meta),
      documentation: meta.description,
    }));
  }
}

/** The canonical of an operation without a published definition: a URN, since there is no address to read it from. */
const ownDefinition = ({ resourceType, code }: OperationDefinition): string =>
  `urn:svc:operation:${resourceType === undefined ? '' : `${resourceType}-`}${code}`;

function statementText(statement: object): StatementText {
  const text = JSON.stringify(statement);
  return { text, etag: `W/"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"` };
}

const coded = (interactions: readonly string[]): object[] => interactions.map((code) => ({ code }));

/** Returns an object with this member, or an empty object for an empty list: FHIR allows no empty arrays. */
const listed = (name: string, items: readonly object[]): object => (items.length === 0 ? {} : { [name]: items });
