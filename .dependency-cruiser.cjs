/** The floors of docs/architecture.md as rules: imports run downwards only. */
const floors = [
  ['platform', []],
  ['fhir', ['platform']],
  ['fhirpath', ['fhir', 'platform']],
  ['validator', ['fhirpath', 'fhir', 'platform']],
  ['model', ['fhir', 'platform']],
  ['search-index', ['model', 'fhirpath', 'fhir', 'platform']],
  ['store', ['search-index', 'model', 'fhir', 'platform']],
  ['search', ['store', 'search-index', 'model', 'fhirpath', 'fhir', 'platform']],
  ['resource', ['search', 'store', 'search-index', 'model', 'validator', 'fhirpath', 'fhir', 'platform']],
  ['rest', ['resource', 'search', 'store', 'search-index', 'model', 'fhirpath', 'fhir', 'platform']],
  ['rpc', ['resource', 'fhir', 'platform']],
  ['operation', ['resource', 'store', 'search-index', 'model', 'fhir', 'platform']],
  ['session', ['resource', 'model', 'fhir', 'platform']],
  ['access', ['resource', 'search', 'store', 'model', 'fhir', 'platform']],
  ['audit', ['resource', 'model', 'fhir', 'platform']],
  ['delivery', ['fhir', 'platform']],
  ['auth', ['session', 'access', 'resource', 'store', 'model', 'fhir', 'platform']],
  ['addendum', ['operation', 'rpc', 'resource', 'search', 'store', 'search-index', 'model', 'fhir', 'platform']],
  ['everything', ['operation', 'resource', 'search', 'store', 'search-index', 'model', 'fhir', 'platform']],
  [
    'topic-destination',
    ['audit', 'delivery', 'operation', 'resource', 'store', 'model', 'fhirpath', 'fhir', 'platform'],
  ],
  ['validation', ['operation', 'resource', 'model', 'fhir', 'platform']],
];

/** The files of a package that others import, extensions among them (docs/extending.md). */
const faces = {
  access: [
    'access.module',
    'decision/access-decision',
    'denials/denials',
    'policy/policy-engine',
    'request/access-requests',
    'roles/roles',
  ],
  addendum: ['addendum.module'],
  delivery: [
    'attempt-log-level',
    'delivery-kind',
    'delivery-kind.registry',
    'delivery-statements',
    'delivery.module',
    'destinations',
    'notification-renderer',
    'outbox',
    'replays',
    'timeline',
    'topic-correlation.guard',
    'trials',
    'webhook/webhook.module',
  ],
  operation: ['operation', 'operation.module', 'operation.registry', 'operation-api.module'],
  rpc: ['member-text', 'rpc-method', 'rpc-refusal', 'rpc.controller', 'rpc.module', 'rpc.registry'],
};

/**
 * Packages of resources, and the files of each that others import: `modules` those of every module, `above` those of the packages
 * above it in this list besides. Whatever is not listed is the package's own.
 */
const resourceFaces = {
  model: {
    modules: ['bundle-text', 'resource-draft', 'resource-type', 'resource-types', 'stored-resource'],
    above: ['meta-style', 'meta-styles', 'model.module'],
  },
  'search-index': {
    modules: [
      'search-index',
      'unfinished-index',
      'extract/search-parameter',
      'extract/search-parameter-set',
      'states/parameter-state',
      'states/parameter-states.repository',
    ],
    above: [
      'index-snapshot',
      'search-index.module',
      'extract/composite',
      'extract/composite-rows',
      'extract/extraction',
      'extract/fold',
      'extract/hash',
      'extract/kind-types',
      'extract/parameter-digest',
      'extract/position-rows',
      'extract/scope',
      'extract/search-rows',
      'states/incomplete-indexes',
      'states/parameter-state-statements',
    ],
  },
  store: {
    modules: [
      'history-position',
      'history-statements',
      'not-stored',
      'resource-reader',
      'resource-statements',
      'resource-store',
    ],
    above: ['index-job', 'late-texts', 'resource-row', 'store.module'],
  },
  search: {
    modules: [
      'query/explain-options',
      'query/result-parameters',
      'rows/reach',
      'rows/row-criteria',
      'rows/row-limit',
      'run/explain-advice',
      'run/resource-criteria',
    ],
    above: [
      'search.module',
      'include/included-resources',
      'parse/criteria-query',
      'parse/parse-search',
      'query/great-circle',
      'query/search-position',
      'query/search-query',
      'run/clause-resolver',
      'run/read-search',
      'run/resource-search',
      'types/read-types-search',
      'types/types-search',
    ],
  },
  resource: {
    modules: [
      'may-act',
      'resource-history',
      'resource-writer',
      'resource.module',
      'access/entry-access',
      'access/entry-access.module',
      'access/entry-access.registry',
      'compartment/compartments',
      'hooks/resource-change',
      'hooks/resource-rule',
      'rows/granted-reader',
      'rows/row-check',
      'rows/row-limits',
      'writes/write',
      'writes/write-extensions',
    ],
    above: ['feed-bookmark', 'hooks/resource-rule.registry', 'writes/possible-writes', 'writes/write-set'],
  },
  rest: { modules: ['resource-api.module', 'bundle/init-bundle'], above: [] },
};

const ofResources = Object.keys(resourceFaces).join('|');
const filesOf = (room, names) => `^src/${room}/(${names.join('|').replaceAll('.', '\\.')})\\.ts$`;

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'A circle is mended by a port, never by forwardRef.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circles-of-folders',
      severity: 'error',
      comment: 'A file that two folders share stands in a folder below both, or in the package below.',
      scope: 'folder',
      from: { path: `^src/(${ofResources})(/|$)` },
      to: { circular: true },
    },
    ...Object.entries(resourceFaces).flatMap(([room, { modules, above }]) => [
      {
        name: `${room}-has-a-face`,
        severity: 'error',
        comment: `Modules import of src/${room} only what its face lists.`,
        from: { path: '^src/', pathNot: `^src/(${ofResources})/` },
        to: { path: `^src/${room}/`, pathNot: filesOf(room, modules) },
      },
      {
        name: `${room}-has-a-face-for-packages-above`,
        severity: 'error',
        comment: `The other packages of resources import of src/${room} only what its face lists.`,
        from: { path: `^src/(${ofResources})/`, pathNot: `^src/${room}/` },
        to: { path: `^src/${room}/`, pathNot: filesOf(room, [...modules, ...above]) },
      },
    ]),
    ...floors.map(([room, below]) => ({
      name: `${room}-imports-downwards`,
      severity: 'error',
      comment: `src/${room} may import: ${below.join(', ') || 'nothing of ours'}.`,
      from: { path: `^src/${room}/` },
      to: { path: '^src/', pathNot: `^src/(${[room, ...below].join('|')})/` },
    })),
    {
      name: 'fhirpath-has-one-face',
      severity: 'error',
      comment: 'Only src/fhirpath/fhirpath.ts is imported from outside.',
      from: { path: '^src/', pathNot: '^src/fhirpath/' },
      to: { path: '^src/fhirpath/', pathNot: '^src/fhirpath/fhirpath\\.ts$' },
    },
    {
      name: 'typeorm-stays-in-storage',
      severity: 'error',
      comment:
        'Decisions know no ORM: TypeORM is imported by entities, repositories, modules, migrations and platform/database.',
      from: { path: '^src/', pathNot: '^src/platform/database/|\\.(entity|repository|module)\\.ts$' },
      to: { path: 'node_modules/(typeorm|@nestjs/typeorm)/' },
    },
    {
      name: 'pure-stays-pure',
      severity: 'error',
      comment: 'Pure files know no framework.',
      from: {
        path: '^src/platform/json/|^src/fhir/(instant|reference)\\.ts$|^src/validator/|^src/fhirpath/|^src/search-index/extract/|^src/search/compile/|snapshot-diff\\.ts$',
      },
      to: { path: 'node_modules/(@nestjs|typeorm|pg)/' },
    },
    {
      name: 'tools-are-clients',
      severity: 'error',
      comment: 'Tools talk HTTP; only the definitions maker, the examples check and the audit of addenda read src.',
      from: { path: '^src/' },
      to: { path: '^(tools|test)/' },
    },
    {
      name: 'validator-has-one-face',
      severity: 'error',
      comment: 'Only src/validator/validator.ts is imported from outside.',
      from: { path: '^src/', pathNot: '^src/validator/' },
      to: { path: '^src/validator/', pathNot: '^src/validator/validator\\.ts$' },
    },
    {
      name: 'fhir-has-a-face',
      severity: 'error',
      comment: 'What a resource is stands in src/fhir itself; of its folders these files are for others.',
      from: { path: '^src/', pathNot: '^src/fhir/|^src/app\\.setup\\.ts$' },
      to: {
        path: '^src/fhir/\\w+/',
        pathNot: [
          '^src/fhir/definitions/(definitions|element-tables|search-parameter-resources)\\.ts$',
          '^src/fhir/edge/(fhir-answer|fhir-error\\.filter|format|format\\.guard|operation-outcome|resource-request|root-url)\\.ts$',
          '^src/fhir/subset/(read-)?subset\\.ts$',
        ],
      },
    },
    ...Object.entries(faces).flatMap(([room, files]) => [
      {
        name: `${room}-has-a-face`,
        severity: 'error',
        comment: `Of src/${room} others import: ${files.join(', ')}.`,
        from: { path: '^src/', pathNot: `^src/${room}/` },
        to: { path: `^src/${room}/`, pathNot: `^src/${room}/(${files.join('|')})\\.ts$` },
      },
      {
        name: `${room}-has-no-circle-of-folders`,
        severity: 'error',
        scope: 'folder',
        comment: 'Folders import one another in one direction.',
        from: { path: `^src/${room}/` },
        to: { circular: true, path: `^src/${room}/` },
      },
    ]),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
  },
};
