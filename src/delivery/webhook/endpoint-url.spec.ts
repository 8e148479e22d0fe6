import { isIP } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { addressClassOf } from './address-class';
import { readEndpointUrl } from './endpoint-url';

/**
 * The result for a URL: `refused` if no destination may be stored with it, `looked up` if its host is a name, else the
 * class of its IP address.
 */
function fateOf(text: string): string {
  const url = readEndpointUrl(text);
  if (typeof url === 'string') return 'refused';
  const host = new URL(url.href).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? 'looked up' : addressClassOf(host);
}

describe(readEndpointUrl.name, () => {
  it.each([
    // Plain URLs
    ['http://hook.example/in', 'looked up'],
    ['HTTPS://Hook.Example:8443/in?x=1&y=%20', 'looked up'],
    ['http://hook.example', 'looked up'],
    ['http://localhost:9090/', 'looked up'],
    ['http://localhost./', 'looked up'],
    ['http://hook.example./in', 'looked up'],
    ['http://1.1.1.1/', 'public'],
    ['http://[2606:4700:4700::1111]/', 'public'],
    // Names in other scripts become ASCII
    ['http://bücher.example/', 'looked up'],
    ['http://xn--bcher-kva.example/', 'looked up'],
    ['http://ﻝﺍﻞﻋﺮﺒﻴﺓ.example/', 'looked up'],
    ['http://hook。example/', 'looked up'],
    // This machine and private networks, in every notation
    ['http://127.0.0.1/', 'private'],
    ['http://127.1/', 'private'],
    ['http://127.0.0.1./', 'private'],
    ['http://2130706433/', 'private'],
    ['http://0x7f000001/', 'private'],
    ['http://0x7f.1/', 'private'],
    ['http://0177.0.0.1/', 'private'],
    ['http://017700000001/', 'private'],
    ['http://%31%32%37.0.0.1/', 'private'],
    ['http://①②⑦.⓪.⓪.①/', 'private'],
    ['http://[::1]/', 'private'],
    ['http://[0:0:0:0:0:0:0:1]/', 'private'],
    ['http://[::ffff:127.0.0.1]/', 'private'],
    ['http://[::ffff:7f00:1]/', 'private'],
    ['http://[64:ff9b::7f00:1]/', 'private'],
    ['http://10.0.0.1/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://[fd12:3456::1]/', 'private'],
    // Cloud metadata services, "any", multicast
    ['http://169.254.169.254/latest/meta-data', 'forbidden'],
    ['http://169.254.169.254./', 'forbidden'],
    ['http://2852039166/', 'forbidden'],
    ['http://0xa9fea9fe/', 'forbidden'],
    ['http://0xa9.0xfe.0xa9.0xfe/', 'forbidden'],
    ['http://0251.0376.0251.0376/', 'forbidden'],
    ['http://169.254.43518/', 'forbidden'],
    ['http://[::ffff:a9fe:a9fe]/', 'forbidden'],
    ['http://[::ffff:169.254.169.254]/', 'forbidden'],
    ['http://[::a9fe:a9fe]/', 'forbidden'],
    ['http://[64:ff9b::a9fe:a9fe]/', 'forbidden'],
    ['http://[2002:a9fe:a9fe::]/', 'forbidden'],
    ['http://[fe80::1]/', 'forbidden'],
    ['http://[::]/', 'forbidden'],
    ['http://0/', 'forbidden'],
    ['http://0.0.0.0/', 'forbidden'],
    ['http://224.0.0.1/', 'forbidden'],
    ['http://100.100.100.200/', 'forbidden'],
    // Credentials, complete and partial
    ['http://user:geheim@hook.example/', 'refused'],
    ['http://user@hook.example/', 'refused'],
    ['http://@hook.example/', 'refused'],
    ['http://:@hook.example/', 'refused'],
    ['http://hook.example\\@evil.example/', 'refused'],
    // Errors that a parser would silently repair
    ['http:/hook.example/', 'refused'],
    ['http:hook.example/', 'refused'],
    ['http:///hook.example/', 'refused'],
    ['http:\\\\hook.example/', 'refused'],
    ['//hook.example/', 'refused'],
    [' http://hook.example/', 'refused'],
    ['http://hook.example/ ', 'refused'],
    ['http://hook.example/a b', 'refused'],
    ['http://hook.example/\r\nHost: evil.example', 'refused'],
    ['http://ho\tok.example/', 'refused'],
    ['http://hook.example/\u0000', 'refused'],
    ['http://hook.example/\u007f', 'refused'],
    // Parts that are not sent, and URLs without a target
    ['http://hook.example/#fragment', 'refused'],
    ['http://hook.example/#', 'refused'],
    ['http://hook.example:0/', 'refused'],
    ['http://hook.example:65536/', 'refused'],
    ['http://hook.example:http/', 'refused'],
    ['http://', 'refused'],
    ['http://?x', 'refused'],
    ['http://[::1/', 'refused'],
    ['http://[fe80::1%25eth0]/', 'refused'],
    ['http://256.256.256.256/', 'refused'],
    ['http://1.2.3.4.5/', 'refused'],
    ['http://hook.exa mple/', 'refused'],
    ['ftp://hook.example/', 'refused'],
    ['file:///etc/passwd', 'refused'],
    ['javascript:alert(1)', 'refused'],
    ['unix:/var/run/docker.sock', 'refused'],
    ['hook.example/in', 'refused'],
    ['', 'refused'],
    [`http://hook.example/${'x'.repeat(2_048)}`, 'refused'],
  ])('classifies %s as %s', (text, fate) => {
    expect(fateOf(text)).toBe(fate);
  });

  it('returns a message without the refused text', () => {
    expect(readEndpointUrl('http://user:geheim@hook.example/')).not.toContain('geheim');
  });
});
