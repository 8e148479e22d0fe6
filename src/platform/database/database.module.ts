import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Environment } from '../config/environment';
import { dataSourceOptions, type Pooler } from './data-source-options';
import { PoolMetrics } from './pool.metrics';
import { poolingOf } from './pooler';
import { RegistryEpoch } from './registry-epoch';
import { ServerSetup } from './server-setup';
import { Snapshots } from './snapshots';
import { Statements } from './statements';
import { RowMetrics, SizeMetrics } from './storage.metrics';
import { UnitOfWork } from './unit-of-work';

/** Provides the only DataSource, its unit of work and its named statements. */
@Module({})
export class DatabaseModule {
  static at(url: string): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Environment],
          useFactory: async ({ databaseDirectUrl, databasePoolSize, statementTimeoutSeconds }: Environment) => {
            const limits = { poolSize: databasePoolSize, statementTimeoutSeconds };
            const pooler = await poolerOf(url, databaseDirectUrl);
            return { ...dataSourceOptions(url, limits, pooler), autoLoadEntities: true, retryAttempts: 0 };
          },
        }),
      ],
      providers: [UnitOfWork, Statements, Snapshots, RegistryEpoch, ServerSetup, PoolMetrics, RowMetrics, SizeMetrics],
      exports: [UnitOfWork, Statements, Snapshots, RegistryEpoch, ServerSetup],
    };
  }
}

/** Returns the pooler that `url` leads through; undefined if each connection has a separate session. */
async function poolerOf(url: string, directUrl: string | undefined): Promise<Pooler | undefined> {
  const pooling = await poolingOf(url);
  const logger = new Logger(DatabaseModule.name);
  if (pooling !== 'none') {
    logger.log(`Connections go through a pooler in ${pooling} mode: each transaction brings its settings.`);
    return { pooling, directUrl: directUrl ?? url };
  }
  if (directUrl !== undefined)
    logger.log('Connections of DATABASE_URL go through no pooler: they keep their settings.');
  return undefined;
}
