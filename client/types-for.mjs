// Writes types of schemas of openapi.json in another language, by quicktype:
//   node types-for.mjs python Patient SDCNote > svc.py
import { readFileSync } from 'node:fs';
import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core';

const [lang, ...names] = process.argv.slice(2);
const { components } = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8'));

/** Formats are left out: values stay as they were sent, and no library for dates is needed. */
const definitions = JSON.parse(
  JSON.stringify(components.schemas).replaceAll('#/components/schemas/', '#/definitions/'),
  (key, value) => (key === 'format' && typeof value === 'string' ? undefined : value),
);
const unknown = names.filter((name) => definitions[name] === undefined);
if (names.length === 0 || unknown.length > 0) {
  console.error(`Name a language and schemas of openapi.json. Unknown: ${unknown.join(', ') || 'none'}`);
  process.exit(1);
}

const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]));
const input = new JSONSchemaInput(undefined);
await input.addSource({
  name: 'Types',
  schema: JSON.stringify({ type: 'object', required: names, properties, definitions }),
});
const inputData = new InputData();
inputData.addInput(input);
const { lines } = await quicktype({ inputData, lang, rendererOptions: { 'python-version': '3.7' } });
process.stdout.write(lines.join('\n'));
