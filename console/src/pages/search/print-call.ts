/** A search as sent: parameters in order, including repeated ones. */
export interface AskedSearch {
  readonly type: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** A text as one word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The search as a line to paste into a shell that has the token in `$TOKEN`. */
export function asCurl(baseUrl: string, { type, parameters }: AskedSearch): string {
  const lines = [
    `curl -sS -G ${shellWord(`${baseUrl}/fhir/${encodeURIComponent(type)}`)}`,
    '-H "Authorization: Bearer $TOKEN"',
    // curl encodes the text after the first `=`, but not the name.
    ...parameters.map(([name, value]) => `--data-urlencode ${shellWord(`${nameInForm(name)}=${value}`)}`),
  ];
  return lines.join(' \\\n  ');
}

/** The search in TypeScript, by the typed client. */
export function asClientCode(baseUrl: string, { type, parameters }: AskedSearch): string {
  const byName = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [value]);
    else known.push(value);
  }
  const members = [...byName].map(([name, values]) => {
    const [only = ''] = values;
    const value = values.length === 1 ? literal(only) : `[${values.map(literal).join(', ')}]`;
    return `  ${keyOf(name)}: ${value},\n`;
  });
  const query = members.length === 0 ? '' : `, {\n${members.join('')}}`;
  return [
    "import { SvcClient } from 'svc-health-client';",
    '',
    `const client = SvcClient.with({ baseUrl: ${literal(baseUrl)} }, \`Bearer \${process.env.TOKEN}\`);`,
    `for await (const { id } of client.search(${literal(type)}${query})) console.log(id);`,
    '',
  ].join('\n');
}

/** The name as a key of an object literal. Only a computed key makes `__proto__` a member. */
function keyOf(name: string): string {
  if (name === '__proto__') return `[${literal(name)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** A text as a literal of TypeScript. */
function literal(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`);
  return `'${escaped}'`;
}

/** The name for curl, readable: only `&`, `=`, spaces and the like are encoded. */
const nameInForm = (name: string): string =>
  [...name]
    .map((letter) =>
      /[\w:.$-]/.test(letter) ? letter : new URLSearchParams({ n: letter }).toString().slice('n='.length),
    )
    .join('');
