// Extracts the examples from the docstrings of the package's declarations, to compile them like the code of a team.

/** Names that examples may use without a declaration: providers that Nest injects, and values of the caller. */
const GIVEN = {
  app: ['TestApp', 'testing'],
  client: ['Client'],
  criteria: ['ResourceCriteria'],
  grantedReader: ['GrantedReader'],
  guesses: ['CredentialGuard'],
  issuer: ['TokenIssuer'],
  owners: ['TokenOwners'],
  reader: ['ResourceReader'],
  receiver: ['WebhookReceiver', 'testing'],
  sessions: ['Sessions'],
  unitOfWork: ['UnitOfWork'],
  writer: ['ResourceWriter'],
};

/** Names of other packages, and of examples/ward, that examples may use. */
const OTHERS = {
  '@nestjs/common': ['Controller', 'Get', 'Injectable', 'Module'],
  'fhir/r4': ['Patient'],
  '../ward.module': ['WardModule'],
};

const uses = (code, name) => new RegExp(`\\b${name}\\b`).test(code);
const declares = (code, name) => new RegExp(`\\b(class|const|let|function) ${name}\\b`).test(code);
const importOf = (from, names) => (names.length === 0 ? '' : `import { ${names.join(', ')} } from '${from}';\n`);

const exportsOf = (declarations) =>
  [...declarations.matchAll(/^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm)].map(
    ([, name]) => name,
  );

/** The examples in the text of declarations, in source order. `&#64;` stands for the `@` of a decorator. */
const examplesIn = (declarations) =>
  [...declarations.matchAll(/\/\*\*(?:(?!\*\/)[^])*?@example\n([^]*?)\*\//g)].map(([, text]) =>
    text
      .replace(/^ *\* ?/gm, '')
      .replaceAll('&#64;', '@')
      .trimEnd(),
  );

/**
 * Returns modules that compile together with examples/ward. Each has one example in a function, preceded by the imports
 * and values that the example uses.
 */
function exampleModules(name, main, testing) {
  const packages = { [name]: exportsOf(main), [`${name}/testing`]: exportsOf(testing) };
  return [...examplesIn(main), ...examplesIn(testing)].map((code) => {
    const given = Object.entries(GIVEN).filter(([variable]) => uses(code, variable) && !declares(code, variable));
    const types = given.map(([, [type]]) => type);
    const needed = (names) => names.filter((one) => (uses(code, one) && !declares(code, one)) || types.includes(one));
    const imports = Object.entries({ ...OTHERS, ...packages }).map(([from, names]) => importOf(from, needed(names)));
    const declared = given.map(([variable, [type]]) => `declare const ${variable}: ${type};\n`);
    return `${imports.join('')}${declared.join('')}export async function example() {\n${code.replace(/^export /gm, '')}\n}\n`;
  });
}

/** Callable exports of the package whose docstring has no example. */
const withoutExample = (declarations) =>
  [
    ...declarations.matchAll(
      /(\/\*\*(?:(?!\*\/)[^])*\*\/\n)?export declare (?:abstract )?(?:class|const|function) (\w+)/g,
    ),
  ]
    .filter(([, docstring = '']) => !docstring.includes('@example'))
    .map(([, , name]) => name);

module.exports = { exampleModules, withoutExample };
