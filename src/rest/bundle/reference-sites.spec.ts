import { describe, expect, it } from '@jest/globals';
import { linkSitesOf, linkSitesOfResource, replaceLinks } from './reference-sites';

const URN = 'urn:uuid:1';
const rewritten = (value: unknown): unknown => {
  const json = JSON.stringify(value);
  return JSON.parse(replaceLinks(json, linkSitesOf(json), (link) => (link === URN ? 'Patient/"7"' : undefined)));
};

describe('links of a resource', () => {
  it.each<[string, unknown, unknown]>([
    [
      'references',
      { subject: { display: 'x', reference: URN } },
      { subject: { display: 'x', reference: 'Patient/"7"' } },
    ],
    [
      'several members, in any order',
      [{ reference: URN }, { url: URN }, { reference: URN }],
      [{ reference: 'Patient/"7"' }, { url: 'Patient/"7"' }, { reference: 'Patient/"7"' }],
    ],
    [
      'urns in uris',
      { valueUri: URN, valueUrl: URN, url: URN },
      { valueUri: 'Patient/"7"', valueUrl: 'Patient/"7"', url: 'Patient/"7"' },
    ],
    ['narratives', { div: `<a href="${URN}">` }, { div: '<a href="Patient/"7"">' }],
    ['narratives with spaces', { div: `<img src = '${URN}'/>` }, { div: '<img src = \'Patient/"7"\'/>' }],
  ])('are found in %s', (_where, value, expected) => {
    expect(rewritten(value)).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['names', { identifier: [{ system: URN, value: URN }] }],
    ['canonicals', { instantiatesCanonical: [URN], valueCanonical: URN }],
    ['texts that look like JSON', { note: `{"reference":"${URN}"}`, [`x"reference`]: URN, '","reference': URN }],
    ['other links', { reference: 'urn:uuid:12' }],
    ['an empty object', {}],
  ])('are not found in %s', (_what, value) => {
    expect(rewritten(value)).toEqual(value);
  });

  it('are replaced without a change to any other byte', () => {
    const json = `{"a":1.10,"reference":"${URN}","b":"\\u00e9\\/"}`;
    expect(replaceLinks(json, linkSitesOf(json), () => 'B/1')).toBe(`{"a":1.10,"reference":"B/1","b":"\\u00e9\\/"}`);
  });

  it('exclude those between entries of a Bundle inside the resource', () => {
    const entry = [
      { fullUrl: URN, resource: { subject: { reference: 'urn:uuid:2' } } },
      { fullUrl: 'http://a.example/Patient/3', resource: { link: [{ reference: URN }, { reference: 'Patient/3' }] } },
    ];
    const signature = [{ who: { reference: URN }, onBehalfOf: { reference: 'Patient/4' } }];
    const sites = linkSitesOfResource([entry, signature].map((value) => JSON.stringify(value)));
    expect(sites.map((some) => some.map(({ link }) => link))).toEqual([['urn:uuid:2'], ['Patient/4']]);
  });

  it('exclude those to an entry of a stored Bundle, whatever the case of its urn', () => {
    const collection = { fullUrl: 'urn:uuid:A', item: [{ reference: 'urn:UUID:a' }, { reference: 'urn:uuid:b' }] };
    const [sites = []] = linkSitesOfResource([JSON.stringify(collection)]);
    expect(sites.map(({ link }) => link)).toEqual(['urn:uuid:b']);
  });

  it('include urns in url, valueUri and valueUrl, in upper and lower case', () => {
    const values = { url: 'URN:UUID:1', valueUri: 'Urn:uuid:2', valueUrl: 'urn:UUID:3', value: 'URN:UUID:4' };
    const links = linkSitesOf(JSON.stringify(values)).map(({ link }) => link);
    expect(links).toEqual(['URN:UUID:1', 'Urn:uuid:2', 'urn:UUID:3']);
  });

  it('are unescaped', () => {
    expect(linkSitesOf('{"reference":"Patient\\/1"}').map(({ link }) => link)).toEqual(['Patient/1']);
  });
});
