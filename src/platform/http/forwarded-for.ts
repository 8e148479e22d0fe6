import { type RequestHandler } from 'express';

/** An IPv4 address with a port (`192.0.2.7:1234`), or an IPv6 address in brackets (`[2001:db8::7]:1234`). */
const WITH_PORT = /^(?:(\d+(?:\.\d+){3}):\d+|\[([^\]]*)\](?::\d+)?)$/;

/**
 * Removes the ports that some proxies, such as Azure Application Gateway, append to addresses in `X-Forwarded-For`.
 * Otherwise each connection would count as another address, and no limit by address would work.
 */
export const withoutForwardedPorts: RequestHandler = ({ headers }, _response, next) => {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded === 'string') {
    const addresses = forwarded.split(',').map((address) => address.trim().replace(WITH_PORT, '$1$2'));
    headers['x-forwarded-for'] = addresses.join(', ');
  }
  next();
};
