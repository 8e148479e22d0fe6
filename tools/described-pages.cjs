const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** The page about each group of requests. */
const GUIDES = {
  Tokens: '[Tokens](../docs/reference/tokens.md)',
  Sessions: '[Tokens](../docs/reference/tokens.md)',
  RPC: '[Addenda](../docs/reference/addenda.md)',
  Access: '[Write policies](../docs/how-to/write-policies.md)',
  Operations: '[Routes](../docs/reference/routes.md)',
  Topics: '[Topics](../docs/reference/topics.md) and [destinations](../docs/reference/destinations.md)',
  Resources: '[Search](../docs/reference/search.md) and [routes](../docs/reference/routes.md)',
  Server: '[Monitoring](../docs/reference/monitoring.md)',
};
/** Schemas of this server. The other schemas with a name are types of FHIR, which HL7 describes. */
const OWN = /^(AccessPolicy|Client|Diff|Native|Role|Rpc|SDC|Session|Svc|User)|(Answer|Call)$/;
const ERRORS = 'Errors have a code: see [errors](../docs/reference/errors.md).';
const HL7 = 'https://hl7.org/fhir/R4';

const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const cell = (text = '') =>
  text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;').replaceAll('{{', '{&#123;');
const code = (text) => `\`${String(text).replaceAll('|', '\\|')}\``;
const blocks = (...texts) => texts.filter((text) => text !== '').join('\n\n');
const section = (title, ...texts) => {
  const text = blocks(...texts);
  return text === '' ? '' : `${title}\n\n${text}`;
};
const nameOf = (ref) => ref.split('/').at(-1);

/** A table without the columns that are empty in each row. */
function table(head, rows) {
  const shown = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const line = (row) => `| ${row.filter((_, column) => shown[column]).join(' | ')} |`;
  return rows.length === 0 ? '' : [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The page of HL7 that describes a type of FHIR. */
function pageOf(name) {
  const type = name.split('.')[0];
  if (/^(Coding|CodeableConcept|Identifier|Period)$/.test(type)) return `${HL7}/datatypes.html#${type}`;
  if (/^(ContactDetail|UsageContext)$/.test(type)) return `${HL7}/metadatatypes.html#${type}`;
  return `${HL7}/${type.toLowerCase().replace(/^meta$/, 'resource')}.html`;
}

/** Pages of the operations and RPC methods that the OpenAPI document of a server describes. */
function describedPages({ paths, components, tags }) {
  /** @param kind of the component that a reference names */
  const resolved = (part = {}, kind = 'schemas') => {
    const { $ref, allOf: [first] = [], ...rest } = part;
    if ($ref !== undefined) return components[kind][nameOf($ref)];
    return first === undefined ? part : { ...resolved(first), ...rest };
  };
  const choicesOf = ({ oneOf, anyOf }) => oneOf ?? anyOf ?? [];

  /** The type of a value, for people: ``list of `string` ``. */
  function typeOf(schema = {}) {
    const { $ref, allOf: [first] = [], type, items, format } = schema;
    if ($ref !== undefined || first?.$ref !== undefined) {
      const name = nameOf($ref ?? first.$ref);
      if (name === 'NativeReference') return '`{resourceType, id}`';
      return OWN.test(name) ? code(name) : `[${name}](${pageOf(name)})`;
    }
    if (type === 'array') return `list of ${typeOf(items)}`;
    const choices = [...new Set(choicesOf(schema).map(typeOf))];
    if (choices.length > 0) return choices.join(' or ');
    if (schema.enum !== undefined) return schema.enum.map(code).join(' or ');
    return type === undefined ? 'any' : `${type}${format === undefined ? '' : ` (${format})`}`;
  }

  const meaningOf = ({ description = '', example, minimum, maxItems, default: byDefault }) =>
    [
      cell(description),
      minimum === undefined ? '' : `at least ${minimum}`,
      maxItems === undefined ? '' : `at most ${maxItems} items`,
      byDefault === undefined ? '' : `default ${code(byDefault)}`,
      ['string', 'number', 'boolean'].includes(typeof example) ? `for example ${code(example)}` : '',
    ]
      .filter((text) => text !== '')
      .join('; ');

  /** A named part of a Parameters resource is shown by its name, with the type of its value. */
  const partOf = ({ properties: { name, part, ...values } = {} }) =>
    name?.enum?.length === 1
      ? { name: name.enum[0], of: part ?? Object.values(values)[0] ?? {}, type: Object.keys(values)[0] ?? 'parts' }
      : undefined;

  /** The members of a value, with the members inside of them. Types of FHIR stay closed: HL7 describes them. */
  function membersOf(schema = {}, path = '', above = []) {
    const name = schema.$ref === undefined ? undefined : nameOf(schema.$ref);
    if (name !== undefined && (!OWN.test(name) || name === 'NativeReference' || above.includes(name))) return [];
    const inside = name === undefined ? above : [...above, name];
    const whole = resolved(schema);
    if (whole.type === 'array') return membersOf(whole.items, `${path}[]`, inside);
    const own = Object.entries(whole.properties ?? {}).flatMap(([member, of]) => {
      const at = path === '' ? member : `${path}.${member}`;
      const isRequired = (whole.required ?? []).includes(member);
      const row = [`${code(at)}${isRequired ? ' (required)' : ''}`, typeOf(of), meaningOf(of)];
      return [row, ...membersOf(of, at, inside)];
    });
    const alternatives = choicesOf(whole).flatMap((choice) => {
      const part = partOf(choice);
      if (part === undefined) return membersOf(choice, path, inside);
      const at = [path.replace(/^parameter(?=\[)|\[\]$/g, ''), part.name].join('.').replace(/^\./, '');
      return [[code(at), part.type, meaningOf(part.of)], ...membersOf(part.of, at, inside)];
    });
    const rows = [...own, ...alternatives];
    return rows.filter(([shown], index) => rows.findIndex(([other]) => other === shown) === index);
  }
  const members = (schema) => table(['Member', 'Type', 'Meaning'], membersOf(schema));

  const exampleOf = ({ example, examples = {}, schema = {} } = {}) =>
    [example ?? resolved(schema).example, ...Object.values(examples).map(({ value }) => value)].find(
      (one) => one !== undefined,
    );
  const shown = (value) => (value === undefined ? '' : json(value));

  /** Each shape of a body once, with the media types that have it. YAML has the shape of JSON. */
  function shapesOf(content = {}) {
    const shapes = new Map();
    for (const [type, of] of Object.entries(content)) {
      if (type.endsWith('/yaml')) continue;
      const key = JSON.stringify(of.schema);
      shapes.set(key, { of, types: [...(shapes.get(key)?.types ?? []), type] });
    }
    return [...shapes.values()].map(({ of, types }) => {
      const also = Object.keys(content).filter((type) => type.endsWith('/yaml'));
      return { of, text: `${[...types, ...also].map(code).join(', ')}: ${typeOf(of.schema)}` };
    });
  }

  function parametersOf(parameters = []) {
    const rows = parameters
      .map((one) => resolved(one, 'parameters'))
      .map(({ name, in: place, required, description, example, schema }) => [
        `${code(name)}${required === true ? ' (required)' : ''}`,
        place,
        typeOf(schema),
        meaningOf({ ...schema, description: description ?? schema?.description, example }),
      ]);
    return table(['Name', 'In', 'Type', 'Meaning'], rows);
  }

  const bodyOf = ({ content } = {}) =>
    blocks(...shapesOf(content).map(({ of, text }) => blocks(text, members(of.schema), shown(exampleOf(of)))));

  function answersOf(responses) {
    const all = Object.entries(responses).map(([status, answer]) => ({
      status,
      answer,
      shapes: shapesOf(answer.content),
    }));
    const rows = all.map(({ status, answer, shapes }) => [
      status,
      cell(answer.description),
      shapes.map(({ of }) => typeOf(of.schema)).join(', '),
    ]);
    const seen = new Set();
    const details = all.map(({ status, shapes }) => {
      const fresh = shapes.filter(({ of }) => {
        const key = JSON.stringify(of.schema);
        return !seen.has(key) && seen.add(key);
      });
      const isError = /^[45d]/.test(status);
      return section(
        `### Body of ${status}`,
        ...fresh.flatMap(({ of }) => {
          const rowsOf = members(of.schema);
          return isError && rowsOf === '' ? [] : [rowsOf, shown(exampleOf(of))];
        }),
      );
    });
    return blocks(table(['Status', 'Meaning', 'Body'], rows), ...details);
  }

  const callbacksOf = (callbacks = {}) =>
    Object.values(callbacks)
      .flatMap(Object.values)
      .flatMap(Object.values)
      .map(({ summary, description = '', parameters, requestBody }) =>
        section(`## ${summary} to your endpoint`, cell(description), parametersOf(parameters), bodyOf(requestBody)),
      );

  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]?.operationId !== undefined).map((method) => {
      const { operationId, summary, description = '', parameters, requestBody, responses, callbacks } = item[method];
      const name = `${method.toUpperCase()} ${path}`;
      const content = blocks(
        `# \`${name}\``,
        `**${cell(summary.replace(/\.$/, ''))}.** ${cell(description)}`,
        `More: ${GUIDES[item[method].tags[0]]}.`,
        section('## Parameters', parametersOf(parameters)),
        section('## Body', bodyOf(requestBody)),
        section('## Answers', answersOf(responses), ERRORS),
        ...callbacksOf(callbacks),
      );
      return { page: operationId, group: item[method].tags[0], name, summary, content };
    }),
  );

  const results = components.schemas.RpcResults.properties;
  const { mapping } = components.schemas.RpcCall.discriminator;
  const methods = Object.entries(mapping).map(([method, ref]) => {
    const { description = '', properties, example } = resolved({ $ref: ref });
    const [summary] = description.split(/(?<=[.:;]) (.*)/s);
    const name = `RPC ${method}`;
    const content = blocks(
      `# \`${name}\``,
      `A method of [\`POST /rpc\`](rpc.md). ${cell(description)}`,
      section('## Params', members(properties.params)),
      section('## A call', shown(example)),
      section('## Result', results[method] === undefined ? '' : typeOf(results[method]), members(results[method])),
    );
    return { page: method.replaceAll('/', '-'), group: 'RPC', name, summary: summary.replace(/[.:;]$/, ''), content };
  });
  const pages = [...operations, ...methods];

  const groups = tags.map(({ name, description }) => ({
    name,
    description,
    pages: pages.filter(({ group }) => group === name),
  }));
  const overview = blocks(
    '# API: all requests and RPC methods',
    'A running server has the same as OpenAPI at `/api-json` and as Swagger UI at `/api`.',
    'A path that begins with `/fhir` also works without that beginning.',
    ...groups.map((group) =>
      section(
        `## ${group.name}`,
        `${cell(group.description)}. More: ${GUIDES[group.name]}.`,
        table(
          ['Request', 'Does'],
          group.pages.map(({ name, summary, page }) => [`[${code(name)}](${page}.md)`, cell(summary)]),
        ),
      ),
    ),
  );
  return { pages, groups, overview };
}

module.exports = { describedPages };
