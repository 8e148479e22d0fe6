/** The floors of docs/architecture.md as rules: imports run downwards only. */
const floors = [
  ['platform', []],
  ['fhir', ['platform']],
  ['resource', ['fhir', 'platform']],
  ['rpc', ['resource', 'fhir', 'platform']],
  ['operation', ['resource', 'fhir', 'platform']],
  ['session', ['resource', 'fhir', 'platform']],
  ['access', ['resource', 'fhir', 'platform']],
  ['audit', ['resource', 'fhir', 'platform']],
  ['delivery', ['fhir', 'platform']],
  ['auth', ['session', 'access', 'resource', 'fhir', 'platform']],
  ['addendum', ['operation', 'rpc', 'resource', 'fhir', 'platform']],
  ['everything', ['operation', 'resource', 'fhir', 'platform']],
  ['topic-destination', ['audit', 'delivery', 'operation', 'resource', 'fhir', 'platform']],
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
      from: { path: `^src/${room}/` },
      to: { path: '^src/', pathNot: `^src/(${[room, ...below].join('|')})/` },
    })),
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
        path: '^src/platform/json/|^src/fhir/(instant|reference)\\.ts$|^src/fhir/(validation|fhirpath)/|^src/resource/search/(extract|compile)/|snapshot-diff\\.ts$',
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
