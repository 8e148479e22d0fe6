export type Encoding = 'br' | 'gzip';

/** Reads `Accept-Encoding` (RFC 9110, section 12.5.3): br before gzip, since it is the faster one here. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const codings = new Map(String(header).toLowerCase().split(',', MAX_CODINGS).map(codingOf));
  const accepts = (name: string): boolean => codings.get(name) ?? codings.get('*') ?? false;
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : undefined;
}

const MAX_CODINGS = 20;

function codingOf(text: string): [name: string, isAccepted: boolean] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  return [name === 'x-gzip' ? 'gzip' : name, !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter))];
}
