import { describe, expect, it } from '@jest/globals';
import { xhtmlFaultOf } from './xhtml';

const div = (content: string): string => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`;

const SIGN = 'an "&" must be written as "&amp;", and other signs as themselves or by number ("&#160;" for "&nbsp;")';

describe(xhtmlFaultOf, () => {
  it.each([
    '<b>bold</b> &amp; <i>plain</i>',
    '<table border="1"><tr><td style="color:red">1 &lt; 2</td></tr></table>',
    '<img src="#image" alt="x"/>',
    'line<br/>line<!-- a comment -->',
    '<a href="https://example.org/a?b=c&amp;d=e">x</a> &#169; &#xA0; &quot;&apos;',
  ])('accepts %s', (content) => {
    expect(xhtmlFaultOf(div(content))).toBeUndefined();
  });

  it.each([
    [div('<script>alert(1)</script>'), '<script> is not allowed'],
    [div('<p onclick="x()">a</p>'), 'onclick is not allowed'],
    [div('<a href="javascript:x()">a</a>'), 'href must not run a script'],
    [div('<a href="java&#115;cript:x()">a</a>'), 'href must not run a script'],
    [div('<a href="&#9;javascript:x()">a</a>'), 'href must not run a script'],
    [div('<iframe src="x"></iframe>'), '<iframe> is not allowed'],
    [div('<form action="x">a</form>'), '<form> is not allowed'],
    [div('<b>a</i>'), '</i> closes nothing'],
    ['<div><b>a</b>', '<div> is not closed'],
    [div('a & b'), SIGN],
    [div('C4.11: a&nbsp;b'), SIGN],
    [div('<p class=x>a</p>'), 'a tag is malformed'],
    [div('a') + div('b'), 'there is something after the <div>'],
    ['<p>a</p>', 'it must begin with <div>'],
    ['plain', 'it must begin with <div>'],
    [div('  '), 'it has no content'],
    ['<div/>', 'the <div> is empty'],
  ])('refuses %s: %s', (markup, fault) => {
    expect(xhtmlFaultOf(markup)).toBe(fault);
  });

  it('takes time in proportion to the length of the markup', () => {
    const before = process.cpuUsage();
    xhtmlFaultOf(div('<p a="'.repeat(200_000)));
    xhtmlFaultOf(div(`<p ${'a="b" '.repeat(200_000)}>`));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(5);
  });
});
