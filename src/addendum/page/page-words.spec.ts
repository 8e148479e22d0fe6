import { describe, expect, it } from '@jest/globals';
import { markup, spelledOut } from './html';
import { readableKey } from './readable-key';
import { isSameNumber } from '../../platform/json/same-number';

describe(isSameNumber, () => {
  it.each([
    ['37.20', '37.2', true],
    ['1e2', '100', true],
    ['0.0', '-0', true],
    ['12e-1', '1.2', true],
    ['0.10', '0.01', false],
    ['-1', '1', false],
    ['0.1', '0.10000000000000000001', false],
    ['100', '10', false],
  ])('returns for %s and %s: %s', (one, other, isSame) => {
    expect([isSameNumber(one, other), isSameNumber(other, one)]).toEqual([isSame, isSame]);
  });
});

describe(readableKey, () => {
  it.each([
    ['cancel-reason', 'Cancel reason'],
    ['bloodPressure', 'Blood pressure'],
    ['patientID', 'Patient ID'],
    ['status', 'Status'],
    ['8310-5', 'Body temperature'],
    ['loinc-8480-6', 'Systolic blood pressure'],
    ['1234-5', '1234-5'],
    ['', ''],
  ])('prints %s as %s', (key, words) => {
    expect(readableKey(key)).toBe(words);
  });
});

describe(markup, () => {
  it('escapes each inserted text once', () => {
    expect(markup`<b>${`<&>"'`}${markup`<i>${'&'}</i>`}${[markup`1`, markup`2`]}</b>`.text).toBe(
      '<b>&lt;&amp;&gt;&quot;&#39;<i>&amp;</i>12</b>',
    );
  });
});

describe(spelledOut, () => {
  it.each([
    ['plain text, with\nlines', undefined],
    ['two  spaces', '"two  spaces"'],
    ['no\u00A0break', String.raw`"no\u00a0break"`],
    ['tag \u{E0041}', String.raw`"tag \udb40\udc41"`],
  ])('returns for %j: %j', (text, exact) => {
    expect(spelledOut(text)).toBe(exact);
  });
});
