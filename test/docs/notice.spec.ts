import { describe, expect, it } from '@jest/globals';
import { textOf } from './documents';

/** License files of packages. Software that contains such a package must reproduce its license. */
const NOTICES = [
  'node_modules/fhirpath/LICENSE.md',
  'node_modules/@lhncbc/ucum-lhc/LICENSE.md',
  'node_modules/swagger-ui-dist/NOTICE',
];

describe('NOTICE', () => {
  it.each(NOTICES)('S8.5: contains %s of the installed version', (file) => {
    expect(textOf('NOTICE')).toContain(textOf(file).trim());
  });

  it('S8.5: is copied to the image with the license', () => {
    expect(textOf('Dockerfile')).toContain('COPY LICENSE NOTICE ./');
    expect(textOf('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['!LICENSE', '!NOTICE']));
  });

  it('S8.5: covers each package whose license text is only in a file of that package', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<string, { readonly license?: string; readonly dev?: boolean }>;
    };
    const own = Object.entries(packages).filter(
      ([, { license, dev }]) => dev !== true && /^see license/i.test(license ?? ''),
    );
    expect(own.map(([path]) => path).sort()).toEqual(['node_modules/@lhncbc/ucum-lhc', 'node_modules/fhirpath']);
  });
});
