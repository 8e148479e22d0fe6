import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { EnvironmentError, readEnvironment } from './environment';
import { SECRET_SETTINGS } from './secret-settings';

const KEY = Buffer.alloc(32, 7);
const EXTERNAL = { DATABASE_URL: 'postgresql://db.example/svc' };

function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readEnvironment(variables);
    return [];
  } catch (error) {
    if (error instanceof EnvironmentError) return error.problems;
    throw error;
  }
}

describe(readEnvironment, () => {
  it('needs no variables: it selects the embedded database, the loopback address and the trial policy', () => {
    expect(readEnvironment({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      baseUrl: 'http://localhost:3000',
      databaseUrl: undefined,
      dataDirectory: resolve('data'),
      rootClientSecret: undefined,
      adminPassword: undefined,
      hasTrialPolicy: true,
      encryptionKey: undefined,
      trustedProxies: [],
      corsOrigins: [],
      logLevel: 'log',
      bodyLimitBytes: 20_971_520,
    });
  });

  it('selects no trial policy and all addresses for an external database', () => {
    expect(readEnvironment(EXTERNAL)).toMatchObject({
      ...{ databaseUrl: EXTERNAL.DATABASE_URL, host: '0.0.0.0', hasTrialPolicy: false },
    });
  });

  it('reads each variable', () => {
    expect(
      readEnvironment({
        ...EXTERNAL,
        PORT: '8080',
        HOST: '::1',
        BASE_URL: 'https://svc.example/base//',
        DATA_DIR: '/var/lib/svc',
        SVC_ROOT_CLIENT_SECRET: 'secret',
        SVC_ADMIN_PASSWORD: 'password',
        SVC_TRIAL_POLICY: 'on',
        SVC_ENCRYPTION_KEY: KEY.toString('base64'),
        SVC_TRUSTED_PROXIES: '10.0.0.0/8, loopback',
        SVC_CORS_ORIGINS: 'https://a.example https://b.example',
        SVC_LOG_LEVEL: 'debug',
      }),
    ).toMatchObject({
      port: 8080,
      host: '::1',
      baseUrl: 'https://svc.example/base',
      dataDirectory: '/var/lib/svc',
      rootClientSecret: 'secret',
      adminPassword: 'password',
      hasTrialPolicy: true,
      encryptionKey: KEY,
      trustedProxies: ['10.0.0.0/8', 'loopback'],
      corsOrigins: ['https://a.example', 'https://b.example'],
      logLevel: 'debug',
    });
  });

  it('derives the base URL from the port', () => {
    expect(readEnvironment({ PORT: '8080' }).baseUrl).toBe('http://localhost:8080');
  });

  it('O7: turns traces on and off by the standard variables of OpenTelemetry', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    const all = [
      {},
      endpoint,
      { ...endpoint, OTEL_SDK_DISABLED: 'true' },
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    ];
    expect(all.map((variables) => readEnvironment(variables).isTraced)).toEqual([false, true, false, false]);
  });

  it('treats an empty variable as unset', () => {
    const empty = Object.fromEntries(['PORT', 'HOST', 'DATABASE_URL', 'SVC_ENCRYPTION_KEY'].map((name) => [name, ' ']));
    expect(readEnvironment(empty)).toEqual(readEnvironment({}));
  });

  it('returns a frozen object', () => {
    expect(Object.isFrozen(readEnvironment({}))).toBe(true);
  });

  it.each([
    ['PORT', 'http'],
    ['SVC_CREATED_AT_URL', 'created-at'],
    ['SVC_CREATED_AT_URL', 'https://svc.example/created at'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', '3e3'],
    ['BASE_URL', 'svc.example'],
    ['BASE_URL', 'https://svc.example/?tenant=1'],
    ['DATABASE_URL', 'mysql://db.example/svc'],
    ['SVC_TRIAL_POLICY', 'yes'],
    ['SVC_ENCRYPTION_KEY', Buffer.alloc(31).toString('base64')],
    ['SVC_ENCRYPTION_KEYS_ACCEPTED', [32, 31].map((length) => Buffer.alloc(length).toString('base64')).join()],
    ['SVC_LOG_LEVEL', 'fatal'],
    ['SVC_BODY_LIMIT_BYTES', '20MB'],
    ['SVC_DATABASE_POOL_SIZE', '1'],
    ['SVC_STATEMENT_TIMEOUT_SECONDS', '0'],
    ['SVC_PASSWORD_HASH_SLOTS', '0'],
    ['SVC_WEBHOOK_ADDRESSES', 'all'],
    ['SVC_ADDENDUM_AUTHOR', 'user'],
    ['SVC_TOPIC_CORRELATION_HEADER', 'two words'],
    ['SVC_TOPIC_CORRELATION_HEADER', 'Authorization'],
    ['SVC_TOPIC_CORRELATION_HEADER', 'cookie'],
  ])('refuses %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must (be|list) `))]);
  });

  it.each([
    ['app.example', 'such as https://app.example'],
    ['*', 'such as https://app.example'],
    ['null', 'such as https://app.example'],
    ['https://*.app.example', 'such as https://app.example'],
    ['https://app.example/', 'as https://app.example'],
    ['https://App.example/shop', 'as https://app.example'],
    ['https://app.example:443', 'as https://app.example'],
  ])('C12.1: refuses SVC_CORS_ORIGINS=%s, and explains the format of an origin', (origin, hint) => {
    expect(problemsOf({ SVC_CORS_ORIGINS: `https://good.example ${origin}` })).toEqual([
      expect.stringMatching(/^SVC_CORS_ORIGINS must list origins of browsers: "[^"]+" is none, /),
    ]);
    expect(problemsOf({ SVC_CORS_ORIGINS: origin }).join()).toContain(`"${origin}" is none, `);
    expect(problemsOf({ SVC_CORS_ORIGINS: origin }).join()).toContain(hint);
  });

  it('C12.1: accepts origins of web pages, with ports, and of apps', () => {
    const corsOrigins = ['https://app.example', 'http://localhost:8080', 'capacitor://localhost', 'http://[::1]:4200'];
    expect(readEnvironment({ SVC_CORS_ORIGINS: corsOrigins.join() })).toMatchObject({ corsOrigins });
  });

  it.each([
    '1',
    'true',
    'all',
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '10.0.0.1/0',
    'fe80::/129',
    '10.0.0.0/8/8',
  ])('C12.2: refuses SVC_TRUSTED_PROXIES=%s, and explains the accepted values', (proxy) => {
    expect(problemsOf({ SVC_TRUSTED_PROXIES: `loopback,${proxy}` })).toEqual([
      `SVC_TRUSTED_PROXIES must list addresses or subnets: "${proxy}" is none, such as 10.0.0.5, 10.0.0.0/8 or loopback, linklocal, uniquelocal`,
    ]);
  });

  it('C12.2: accepts addresses, subnets and named ranges, as Express does', () => {
    const trustedProxies = ['10.0.0.5', '10.0.0.0/8', '::1', 'fd00::/8', 'loopback', 'linklocal', 'uniquelocal'];
    expect(readEnvironment({ SVC_TRUSTED_PROXIES: trustedProxies.join(', ') })).toMatchObject({ trustedProxies });
    expect(() => express().set('trust proxy', trustedProxies)).not.toThrow();
  });

  it('reports all invalid variables at once', () => {
    const wrong = { PORT: 'x', SVC_TRIAL_POLICY: 'x', SVC_ENCRYPTION_KEY: 'x' };
    expect(problemsOf(wrong).map((problem) => problem.split(' ')[0])).toEqual(Object.keys(wrong));
  });

  it('reports an invalid key without its text', () => {
    expect(problemsOf({ SVC_ENCRYPTION_KEY: 'almost-a-key' }).join()).not.toContain('almost');
  });

  it.each([
    ['SVC_TRIAL_POLCY', 'off', 'SVC_TRIAL_POLCY is no setting: did you mean SVC_TRIAL_POLICY?'],
    ['SVC_AUDITS', 'all', 'SVC_AUDITS is no setting: did you mean SVC_AUDIT?'],
    ['SVC_ADMIN_PASSWORD_FLIE', '/x', 'SVC_ADMIN_PASSWORD_FLIE is no setting: did you mean SVC_ADMIN_PASSWORD_FILE?'],
    ['SVC_STREAM_MAX_SECONDS', '900', 'SVC_STREAM_MAX_SECONDS was removed in 0.2.0: delete it'],
    ['SVC_COLOR_OF_THE_LOGO', 'red', 'SVC_COLOR_OF_THE_LOGO is no setting (docs/reference/settings.md lists all)'],
  ])('O9: refuses %s=%s, and names the nearest setting', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([problem]);
  });

  it('O9: ignores empty variables, and variables that Kubernetes sets for a Service whose name begins with svc-', () => {
    const links = {
      SVC_WEB_SERVICE_HOST: '10.0.0.1',
      SVC_WEB_SERVICE_PORT: '3000',
      SVC_WEB_SERVICE_PORT_HTTP: '3000',
      SVC_WEB_PORT: 'tcp://10.0.0.1:3000',
      SVC_WEB_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
      SVC_WEB_PORT_3000_TCP_ADDR: '10.0.0.1',
      SVC_TRIAL_POLCY: '',
    };
    expect(readEnvironment(links)).toEqual(readEnvironment({}));
  });

  describe('28.7: secrets from files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    it('have the same effect as the variables, without a line feed at the end', () => {
      const secrets = {
        ...EXTERNAL,
        SVC_DATABASE_DIRECT_URL: 'postgresql://direct/svc',
        SVC_ROOT_CLIENT_SECRET: 'root-secret',
        SVC_ADMIN_PASSWORD: 'pass word',
        SVC_ENCRYPTION_KEY: KEY.toString('base64'),
        SVC_ENCRYPTION_KEYS_ACCEPTED: Buffer.alloc(32, 2).toString('base64'),
      };
      expect(Object.keys(secrets).sort()).toEqual([...SECRET_SETTINGS].sort());
      const files = Object.entries(secrets).map(([name, value]) => [`${name}_FILE`, file(name, `${value}\n`)]);
      expect(readEnvironment(Object.fromEntries(files) as Record<string, string>)).toEqual(readEnvironment(secrets));
    });

    it('are validated like the variables, and never repeated in a message', () => {
      const problems = problemsOf({
        SVC_ENCRYPTION_KEY_FILE: file('short', 'almost-a-key'),
        DATABASE_URL_FILE: file('url', 'mysql://pass-canary'),
      });
      expect(problems).toEqual([
        'DATABASE_URL must be a postgresql:// URL',
        'SVC_ENCRYPTION_KEY must be 32 bytes in base64 (openssl rand -base64 32)',
      ]);
    });

    it('are refused if the file is missing or empty, or if the variable is set too', () => {
      const [missing, empty] = [join(folder, 'missing'), file('empty', '\n')];
      expect(
        problemsOf({
          SVC_ROOT_CLIENT_SECRET_FILE: missing,
          SVC_ADMIN_PASSWORD_FILE: empty,
          SVC_ENCRYPTION_KEY_FILE: empty,
          SVC_ENCRYPTION_KEY: KEY.toString('base64'),
        }),
      ).toEqual([
        `SVC_ROOT_CLIENT_SECRET_FILE names a file that cannot be read: ${missing} (ENOENT)`,
        `SVC_ADMIN_PASSWORD_FILE names an empty file: ${empty}`,
        'SVC_ENCRYPTION_KEY and SVC_ENCRYPTION_KEY_FILE are both set: keep one of them',
      ]);
    });

    it('may be empty for the list of accepted keys, which has keys only during a key rotation', () => {
      const { encryptionKeysAccepted } = readEnvironment({ SVC_ENCRYPTION_KEYS_ACCEPTED_FILE: file('none', '\n') });
      expect(encryptionKeysAccepted).toEqual([]);
    });

    it('are supported for secrets only', () => {
      expect(problemsOf({ SVC_LOG_LEVEL_FILE: file('level', 'warn') })).toHaveLength(1);
    });
  });
});
