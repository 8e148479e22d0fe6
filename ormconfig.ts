import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { readEnvironment } from './src/platform/config/environment';
import { dataSourceOptions } from './src/platform/database/data-source-options';

/** For the TypeORM command line: DATABASE_URL=… npm run migration:show */
const { databaseUrl, databasePoolSize, statementTimeoutSeconds } = readEnvironment();
if (databaseUrl === undefined) throw new Error('Set DATABASE_URL: the embedded database migrates itself at start.');

export default new DataSource(dataSourceOptions(databaseUrl, { poolSize: databasePoolSize, statementTimeoutSeconds }));
