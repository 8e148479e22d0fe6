/** The elements of HTML 4.0 that a narrative may have (http://hl7.org/fhir/R4/narrative.html, invariant txt-1). */
const ELEMENTS = new Set(
  (
    'a abbr acronym b big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img li ol p ' +
    'pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var kbd address del ins bdo'
  ).split(' '),
);

const TAG =
  /<(?:!--[\s\S]*?-->|\/([A-Za-z][\w:.-]*)\s*>|([A-Za-z][\w:.-]*)((?:\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>)/y;
const ATTRIBUTE = /(?<![\w:.-])([A-Za-z_:][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/**
 * Pattern of an `&` that is not allowed. XML has five named entities, and a narrative may have no others
 * (http://hl7.org/fhir/R4/narrative.html#xhtml).
 */
const ENTITY = /&(?!(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|lt|gt|amp|quot|apos);)/;
const FRAGMENT = /\s(?:href|src)\s*=\s*["']#([A-Za-z0-9.-]{1,64})["']/g;

/**
 * The fault of the `div` of a narrative, if there is one. A `div` must be well-formed, contain only formatting, and not
 * be empty (http://hl7.org/fhir/R4/narrative.html, invariants txt-1 and txt-2).
 */
export function xhtmlFaultOf(markup: string): string | undefined {
  const open: string[] = [];
  let position = 0;
  let hasContent = false;
  const source = markup.trim();
  if (!/^<div[\s/>]/.test(source)) return 'it must begin with <div>';
  while (position < source.length) {
    const next = source.indexOf('<', position);
    const words = source.slice(position, next === -1 ? source.length : next);
    if (ENTITY.test(words))
      return 'an "&" must be written as "&amp;", and other signs as themselves or by number ("&#160;" for "&nbsp;")';
    if (words.trim() !== '') {
      if (open.length === 0) return 'there is text outside of the <div>';
      hasContent = true;
    }
    if (next === -1) break;
    TAG.lastIndex = next;
    const tag = TAG.exec(source);
    if (tag === null) return 'a tag is malformed';
    position = TAG.lastIndex;
    const [, closing, opening, attributes = '', selfClosing] = tag;
    if (closing !== undefined) {
      if (open.pop() !== closing) return `</${closing}> closes nothing`;
      if (open.length === 0 && position < source.length) return 'there is something after the <div>';
    } else if (opening !== undefined) {
      const fault = elementFaultOf(opening, attributes);
      if (fault !== undefined) return fault;
      if (opening === 'img') hasContent = true;
      if (selfClosing === '') open.push(opening);
      else if (open.length === 0) return 'the <div> is empty';
    }
  }
  if (open.length > 0) return `<${open.at(-1) ?? ''}> is not closed`;
  return hasContent ? undefined : 'it has no content';
}

/** The ids to which links and images of a narrative refer by `#id`. */
export const fragmentsOf = (markup: string): readonly string[] =>
  [...markup.matchAll(FRAGMENT)].map(([, id = '']) => id);

function elementFaultOf(name: string, attributes: string): string | undefined {
  if (!ELEMENTS.has(name)) return `<${name}> is not allowed`;
  for (const [, attribute = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    const value = (double ?? single ?? '').trim();
    if (/^on/i.test(attribute)) return `${attribute} is not allowed`;
    if (/^(?:href|src)$/i.test(attribute) && /^[\s\S]{0,20}script\s*:/i.test(decoded(value)))
      return `${attribute} must not run a script`;
  }
  return undefined;
}

/** Undoes character references and removes white space, since both can hide the scheme of a URL. */
function decoded(value: string): string {
  return value
    .replace(/&#(?:x([0-9A-Fa-f]+)|(\d+));?/g, (_all, hexadecimal?: string, decimal?: string) => {
      const code = hexadecimal === undefined ? Number(decimal) : parseInt(hexadecimal, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replace(/\s/g, '');
}
