/**
 * TypeScript and the ES-module packages of Nest 12 are compiled to CommonJS by swc: the suite runs on
 * Node 20.19 and newer with no Node flag (ADR 0001).
 */
const fs = require('node:fs');
const { availableParallelism } = require('node:os');

const typescript = JSON.parse(fs.readFileSync(`${__dirname}/.swcrc`, 'utf8'));
delete typescript.$schema;

const javascript = {
  swcrc: false,
  sourceMaps: false,
  jsc: { target: 'es2022', parser: { syntax: 'ecmascript', dynamicImport: true } },
  module: { type: 'commonjs' },
};

/**
 * Parameters of each module, because a lookup of a global in jest's sandbox runs through a proxy: snapshot-diff took 12 s of CPU
 * without them and 6 s with them. Map and Set are missing: antlr4 has constants of these names.
 */
const GLOBALS = 'Array BigInt Error JSON Math Number Object Promise RegExp String Symbol';

const ES_MODULES = 'axios|oauth4webapi|file-type|uint8array-extras|token-types|strtok3|@tokenizer';

const project = (displayName, testRegex, ...folders) => ({
  displayName,
  roots: folders.map((folder) => `<rootDir>/${folder}`),
  testEnvironment: '<rootDir>/test/support/environment.cjs',
  testRegex,
  moduleFileExtensions: ['js', 'ts', 'json'],
  injectGlobals: false,
  sandboxInjectedGlobals: GLOBALS.split(' '),
  moduleNameMapper: {
    '^svc-health-server$': '<rootDir>/src/index.ts',
    '^svc-health-server/testing$': '<rootDir>/testing/index.ts',
  },
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...typescript, swcrc: false }],
    '^.+\\.m?js$': ['@swc/jest', javascript],
  },
  transformIgnorePatterns: [`/node_modules/(?!(@nestjs|${ES_MODULES})/)`],
});

const COMPILED = '<rootDir>/test/support/compiled';
/** A worker loads these packages once by Node's require. In jest's sandbox it would load them for each spec file. */
const loadedOnce = (packages) => ({ [`^(${packages})$`]: `${COMPILED}/packages/$1.cjs` });
const NEST = 'common|common/constants|core|jwt|platform-express|swagger|testing|typeorm';

/** class-validator stays in the sandbox, since it checks the objects of specs by instanceof. */
const onPackages = (project) => ({
  ...project,
  setupFiles: [`${COMPILED}/same-reflect.cjs`],
  moduleNameMapper: { ...loadedOnce(`@nestjs/(?:${NEST})|fast-check|pg|typeorm`), ...project.moduleNameMapper },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES})/)`], // Node loads those of Nest
});

const E2E = '\\.e2e-spec\\.ts$';

const onPostgres = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

const SRC = `${__dirname.replaceAll('\\', '/')}/src/`.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');

/** Spec files run the compiled server, which a worker loads once; so they share its packages and what it checks with instanceof. */
const onServer = ({ transform, ...others }) => ({
  ...others,
  ...onPostgres,
  setupFiles: [`${COMPILED}/same-globals.cjs`],
  moduleNameMapper: {
    ...others.moduleNameMapper,
    '^(@nestjs/(common|core|swagger|testing|typeorm)|class-validator|pg|typeorm)$': `${COMPILED}/packages/$1.cjs`,
  },
  transform: { [`^${SRC}.+\\.ts$`]: `${COMPILED}/compiled-module.cjs`, ...transform },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES})/)`], // Node loads those of Nest
});

/** `unit` needs neither PostgreSQL nor a build; `faults` kills servers, crashes databases and lets receivers hang. */
module.exports = {
  projects: [
    onPackages(project('unit', '\\.spec\\.ts$', 'src', 'tools', 'test', 'console/src')),
    { ...onServer(project('e2e', E2E, 'test')), testPathIgnorePatterns: ['/test/faults/'] },
    onServer(project('faults', E2E, 'test/faults')),
  ],
  // For machines with other work: longer than the start of a server may take (server-process.ts).
  testTimeout: 180_000,
  // Specs wait for timeouts and for servers that start: with one worker for a core, cores are idle.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  testSequencer: '<rootDir>/test/support/projects-in-order.cjs',
  // V8 collects the modules of earlier spec files late, and a worker with many of them runs all code more slowly: as the
  // 13th file of a worker, access-rows took 22 s of CPU without this limit and 9 s with it. A new worker costs about 1 s.
  workerIdleMemoryLimit: '600MB',
  maxConcurrency: 3, // of specs with `it.concurrent`: those that start servers and wait
};
