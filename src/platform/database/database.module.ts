import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Environment } from '../config/environment';
import { dataSourceOptions } from './data-source-options';
import { PoolMetrics } from './pool.metrics';
import { RegistryEpoch } from './registry-epoch';
import { ServerSetup } from './server-setup';
import { Snapshots } from './snapshots';
import { Statements } from './statements';
import { RowMetrics, SizeMetrics } from './storage.metrics';
import { UnitOfWork } from './unit-of-work';

/** The one DataSource, its unit of work and its named statements, for every module. */
@Module({})
export class DatabaseModule {
  static at(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Environment],
          useFactory: ({ databasePoolSize, statementTimeoutSeconds }: Environment) => ({
            ...dataSourceOptions(url, { poolSize: databasePoolSize, statementTimeoutSeconds }),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
        }),
      ],
      providers: [UnitOfWork, Statements, Snapshots, RegistryEpoch, ServerSetup, PoolMetrics, RowMetrics, SizeMetrics],
      exports: [UnitOfWork, Statements, Snapshots, RegistryEpoch, ServerSetup],
    };
  }
}
