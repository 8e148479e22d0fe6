import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';

const FOLDER = join(process.env.TEST_BUILD ?? '', 'console');
const MOST_BYTES = 350_000;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

describe('the files of the console', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));

  it('are less than 350 kB compressed, all pages together', () => {
    const sizes = files
      .filter((name) => !name.endsWith('.md'))
      .map((name) => gzipSync(readFileSync(join(FOLDER, name))).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThan(MOST_BYTES);
    expect(total).toBeGreaterThan(60_000);
  });

  it('include the licenses of the bundled packages', () => {
    const licenses = readFileSync(join(FOLDER, 'licenses.md'), 'utf8');
    for (const name of ['react', 'react-dom', 'scheduler', '@tanstack/query-core', '@tanstack/react-query'])
      expect(licenses).toMatch(new RegExp(`^## ${name.replace('/', '/')}\\b`, 'm'));
    expect(licenses).toContain('Permission is hereby granted');
  });

  it('include no source map, and no URL of another host in HTML and CSS', () => {
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
    const texts = files.filter((name) => /\.(?:html|css)$/.test(name));
    for (const name of texts)
      expect(readFileSync(join(FOLDER, name), 'utf8')).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  });
});

describe('an installation for production', () => {
  it('contains neither the build tools of the console nor its bundled packages', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
    const names = ['vite', 'rolldown', 'react', 'react-dom', '@tanstack/react-query', '@tanstack/react-virtual'];
    for (const name of names) expect([name, packages[`node_modules/${name}`]?.dev]).toEqual([name, true]);
  });
});
