import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AccessModule } from './access/access.module';
import { AddendumModule } from './addendum/addendum.module';
import { AuditModule } from './audit/audit.module';
import { AuthModule } from './auth/auth.module';
import { DeliveryModule } from './delivery/delivery.module';
import { WebhookModule } from './delivery/webhook/webhook.module';
import { EverythingModule } from './everything/everything.module';
import { FhirErrorFilter } from './fhir/edge/fhir-error.filter';
import { OperationApiModule } from './operation/operation-api.module';
import { OperationModule } from './operation/operation.module';
import { BackgroundModule } from './platform/background/background.module';
import { ConfigModule } from './platform/config/config.module';
import { type Environment } from './platform/config/environment';
import { DatabaseModule } from './platform/database/database.module';
import { HealthModule } from './platform/health/health.module';
import { HttpModule } from './platform/http/http.module';
import { MetricsModule } from './platform/metrics/metrics.module';
import { ResourceApiModule } from './rest/resource-api.module';
import { ResourceModule } from './resource/resource.module';
import { RpcModule } from './rpc/rpc.module';
import { ServerStatusModule } from './server-status/server-status.module';
import { SessionModule } from './session/session.module';
import { TopicDestinationModule } from './topic-destination/topic-destination.module';
import { ValidationModule } from './validation/validation.module';

export interface AppOptions {
  readonly environment: Environment;
  readonly databaseUrl: string;
  /** Modules of other teams (docs/how-to/extend.md). */
  readonly extensions?: readonly (Type | DynamicModule)[];
}

/** Modules of the server, in floor order, that have no settings. */
const MODULES: readonly Type[] = [
  HttpModule,
  HealthModule,
  MetricsModule,
  BackgroundModule,
  ResourceModule,
  AuditModule,
  SessionModule,
  AccessModule,
  RpcModule,
  OperationModule,
  DeliveryModule,
  WebhookModule,
  AuthModule,
  AddendumModule,
  EverythingModule,
  TopicDestinationModule,
  ValidationModule,
  ServerStatusModule,
];

/**
 * Modules with catch-all routes come last, since Express takes the first match: those of any operation, then those of
 * any type (ADR 0007).
 */
const LAST_MODULES: readonly Type[] = [OperationApiModule, ResourceApiModule];

/** The modules of the server that have routes. */
export const CORE_MODULES: ReadonlySet<unknown> = new Set([...MODULES, ...LAST_MODULES]);

/** The only place that knows all modules. */
@Module({})
export class AppModule {
  static with({ environment, databaseUrl, extensions = [] }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(environment),
        DatabaseModule.at(databaseUrl),
        ...MODULES,
        ...extensions,
        ...LAST_MODULES,
      ],
      providers: [{ provide: APP_FILTER, useClass: FhirErrorFilter }],
    };
  }
}
