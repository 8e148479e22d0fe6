const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`;
const cell = (text = '') =>
  text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;').replaceAll('{{', '{&#123;');
const section = (title, text) => (text === '' ? '' : `## ${title}\n\n${text}\n\n`);
const table = (head, rows) =>
  rows.length === 0 ? '' : [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Pages of the operations and RPC methods that the OpenAPI document of a server describes. */
function describedPages({ paths, components }) {
  /** @param kind of the component that a reference names */
  const resolved = (part = {}, kind = 'schemas') =>
    part.$ref === undefined ? part : components[kind][part.$ref.split('/').at(-1)];
  const members = (schema) => {
    const { properties = {}, required = [] } = resolved(schema);
    return table(
      ['Member', 'Type', 'Meaning'],
      Object.entries(properties).map(([name, of]) => {
        const { type = of.$ref?.split('/').at(-1) ?? '', description = '' } = of;
        return [`\`${name}\`${required.includes(name) ? ' (required)' : ''}`, cell(String(type)), cell(description)];
      }),
    );
  };
  const examplesOf = ({ example, examples = {}, schema = {} } = {}) =>
    [example ?? schema.example, ...Object.values(examples).map(({ value }) => value)]
      .filter((one) => one !== undefined)
      .slice(0, 1);

  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]?.operationId !== undefined).map((method) => {
      const { operationId, summary = '', description = '', parameters = [], requestBody, responses } = item[method];
      const [sent] = Object.values(requestBody?.content ?? {});
      const answers = Object.entries(responses).map(([status, answer]) => [status, cell(answer.description)]);
      const [shown] = Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.values(content).flatMap((one) => examplesOf(one).map((value) => ({ status, value }))),
      );
      const rows = parameters
        .map((one) => resolved(one, 'parameters'))
        .map((one) => [`\`${one.name}\``, one.in, cell(one.description)]);
      const content = [
        `# ${operationId}\n\n\`${method.toUpperCase()} ${path}\`\n\n${cell(summary)}\n\n${cell(description)}\n\n`,
        section('Parameters', table(['Name', 'In', 'Meaning'], rows)),
        section('Body', [members(sent?.schema), ...examplesOf(sent).map(json)].join('\n\n').trim()),
        section('Answers', table(['Status', 'Meaning'], answers)),
        shown === undefined ? '' : section(`An answer ${shown.status}`, json(shown.value)),
      ];
      return {
        page: operationId,
        group: path.split('/').find((part) => part !== '' && part !== 'fhir') ?? 'fhir',
        content: content.join(''),
      };
    }),
  );

  const { mapping } = components.schemas.RpcCall.discriminator;
  const methods = Object.entries(mapping).map(([method, ref]) => {
    const { description = '', properties, example } = resolved({ $ref: ref });
    const content = `# ${method}\n\nA method of \`POST /rpc\`.\n\n${cell(description)}\n\n${section('params', members(properties.params))}${example === undefined ? '' : section('A call', json(example))}`;
    return { page: method.replaceAll('/', '-'), group: 'RPC methods', content };
  });
  return [...operations, ...methods];
}

module.exports = { describedPages };
