import { describe, expect, it } from '@jest/globals';
import { textOf } from './documents';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
}

describe('O10: an installation', () => {
  it('allows or denies the install script of each package that has one', () => {
    const { allowScripts } = JSON.parse(textOf('package.json')) as { allowScripts: object };
    const { packages } = JSON.parse(textOf('package-lock.json')) as Lock;
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect([...new Set(names)].sort()).toEqual(Object.keys(allowScripts).sort());
  });

  it('names one recommended version of Node everywhere', () => {
    const version = textOf('.nvmrc').trim();
    expect(textOf('Dockerfile').match(/FROM node:\d+/g)).toEqual([`FROM node:${version}`, `FROM node:${version}`]);
    expect(textOf('README.md')).toContain(`Node ${version} (\`.nvmrc\`)`);
  });
});
