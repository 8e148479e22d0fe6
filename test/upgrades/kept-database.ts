import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type ClonedDatabase } from '../../testing/test-databases';
import { databaseUrl, dropDatabase, runStatement } from '../../testing/databases';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Responses of the old release, and notifications that its receivers got (keep-database.mjs). */
export interface Kept {
  readonly answers: Readonly<Record<string, { readonly status: number; readonly text: string }>>;
  readonly tokens: Readonly<Record<'jwt' | 'opaque' | 'limited' | 'used' | 'next' | 'closed', Tokens>>;
  readonly received: readonly {
    readonly path: string;
    readonly id: string;
    readonly body: string;
    readonly isTaken: boolean;
  }[];
}

export const KEPT_KEY = Buffer.from('kept-database-of-an-old-release!').toString('base64');

const unzipped = (name: string): string => gunzipSync(readFileSync(join(__dirname, name))).toString();

export const keptAnswers = (release: string): Kept => JSON.parse(unzipped(`${release}.json.gz`)) as Kept;

/** Restores the database of a release under a new name. */
export async function restoreKept(release: string): Promise<ClonedDatabase> {
  const adminUrl = process.env.TEST_DATABASE_URL ?? '';
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  await runStatement(adminUrl, `create database ${name} template template0 encoding 'UTF8' locale 'C.UTF-8'`);
  const url = databaseUrl(adminUrl, name);
  await runStatement(url, unzipped(`${release}.sql.gz`));
  return { name, url, drop: () => dropDatabase(adminUrl, name) };
}
