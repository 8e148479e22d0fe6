import { describe, expect, it } from '@jest/globals';
import { rootOfOriginal } from './root-url';

const BASE = 'http://svc.example/base';

describe(rootOfOriginal, () => {
  it.each([
    ['https://gw.example/clinic/fhir/Patient?name=x', '/Patient', 'https://gw.example/clinic/fhir'],
    ['https://gw.example:8443/Patient', '/Patient', 'https://gw.example:8443'],
    ['HTTPS://GW.example/fhir/Patient/', '/Patient/', 'https://gw.example/fhir'],
    ['/clinic/fhir/Patient/p7/_history?_count=1', '/Patient/p7/_history', 'http://svc.example/clinic/fhir'],
    ['https://gw.example/clinic/fhir', '', 'https://gw.example/clinic/fhir'],
    ['https://gw.example/a"b<c>/Patient', '/Patient', 'https://gw.example/a%22b%3Cc%3E'],
    ['https://gw.example/x/Patient/p7/$everything', '/Patient/p7/$everything', 'https://gw.example/x'],
  ])('reads %s', (original, below, root) => {
    expect(rootOfOriginal(original, below, BASE)).toBe(root);
  });

  it.each([
    ['', '/Patient'],
    ['Patient', '/Patient'],
    ['//gw.example/Patient', '/Patient'],
    ['javascript:alert(1)//Patient', '/Patient'],
    ['ftp://gw.example/Patient', '/Patient'],
    ['https://user:secret@gw.example/Patient', '/Patient'],
    ['https://[bad/Patient', '/Patient'],
    ['https://gw.example/Observation', '/Patient'],
    ['https://gw.example/NotPatient', '/Patient'],
    [`https://gw.example/${'x'.repeat(9_000)}/Patient`, '/Patient'],
  ])('ignores %.60s', (original, below) => {
    expect(rootOfOriginal(original, below, BASE)).toBeUndefined();
  });
});
