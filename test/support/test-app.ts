import { type NestExpressApplication } from '@nestjs/platform-express';
import { type AppOptions } from '../../src/app.module';
import { createApp, listen } from '../../src/app.setup';
import { readEnvironment } from '../../src/platform/config/environment';
import { migrate } from '../../src/platform/database/schema/migrate';
import { migrationSetsOf } from '../../src/platform/database/schema/brings-migrations';
import { type CompiledApp, type CompiledAppOptions, startApp } from './compiled-app';

export {
  ADMIN_PASSWORD,
  BASE_URL,
  ROOT,
  ROOT_SECRET,
  type Received,
  type Sent,
  basicHeader,
  encryptionKey,
} from './compiled-app';

/** One whose providers a spec can reach. */
export interface TestApp extends CompiledApp {
  readonly app: NestExpressApplication;
}

export type TestAppOptions = CompiledAppOptions & Pick<AppOptions, 'extensions'>;

/** For specs that reach into the server, or extend it: it has the classes that the spec imports. */
export const startTestApp = (options: TestAppOptions = {}): Promise<TestApp> =>
  startApp({ createApp: createMigratedApp, listen, readEnvironment }, options);

/** The template database has no tables of modules of other teams. */
async function createMigratedApp(options: AppOptions): Promise<NestExpressApplication> {
  const sets = migrationSetsOf(options.extensions ?? []);
  if (sets.length > 0) await migrate(options.databaseUrl, undefined, sets);
  return createApp(options);
}
