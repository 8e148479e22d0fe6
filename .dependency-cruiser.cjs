/** The floors of docs/architecture.md as rules: imports run downwards only. */
const floors = [
  ['platform', []],
  ['fhir', ['platform']],
  ['fhirpath', ['fhir', 'platform']],
  ['resource', ['fhirpath', 'fhir', 'platform']],
  ['rpc', ['resource', 'fhir', 'platform']],
  ['operation', ['resource', 'fhir', 'platform']],
  ['session', ['resource', 'fhir', 'platform']],
  ['access', ['resource', 'fhir', 'platform']],
  ['audit', ['resource', 'fhir', 'platform']],
  ['delivery', ['fhir', 'platform']],
  ['auth', ['session', 'access', 'resource', 'fhir', 'platform']],
  ['addendum', ['operation', 'rpc', 'resource', 'fhir', 'platform']],
  ['everything', ['operation', 'resource', 'fhir', 'platform']],
  ['topic-destination', ['audit', 'delivery', 'operation', 'resource', 'fhirpath', 'fhir', 'platform']],
  ['validation', ['operation', 'resource', 'fhir', 'platform']],
];

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'A circle is mended by a port, never by forwardRef.',
      from: {},
      to: { circular: true },
    },
    ...floors.map(([room, below]) => ({
      name: `${room}-imports-downwards`,
      severity: 'error',
      comment: `src/${room} may import: ${below.join(', ') || 'nothing of ours'}.`,
      from: { path: `^src/${room}/`, pathNot: '^src/fhir/validation/' },
      to: { path: '^src/', pathNot: `^src/(${[room, ...below].join('|')})/` },
    })),
    {
      name: 'validation-stands-on-fhirpath',
      severity: 'error',
      comment:
        'src/fhir/validation evaluates invariants: it may import fhirpath, fhir and platform. Nothing below imports it.',
      from: { path: '^src/fhir/validation/' },
      to: { path: '^src/', pathNot: '^src/(fhirpath|fhir|platform)/' },
    },
    {
      name: 'fhirpath-knows-no-validation',
      severity: 'error',
      comment: 'The definitions of src/fhir are below fhirpath, its validation is above.',
      from: { path: '^src/(fhirpath|fhir)/', pathNot: '^src/fhir/validation/' },
      to: { path: '^src/fhir/validation/' },
    },
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
        path: '^src/platform/json/|^src/fhir/(instant|reference)\\.ts$|^src/fhir/validation/|^src/fhirpath/|^src/resource/search/(extract|compile)/|snapshot-diff\\.ts$',
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
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
  },
};
