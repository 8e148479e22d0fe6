// Fails if package-lock.json names an optional platform package without its own entry: such a lock makes `npm ci` fail
// on the next machine.
const { packages } = require('../package-lock.json');

const isLocked = (from, name) => {
  for (
    let at = from;
    ;
    at = at.includes('node_modules/') ? at.slice(0, at.lastIndexOf('node_modules/')).replace(/\/$/, '') : ''
  ) {
    if (packages[`${at ? `${at}/` : ''}node_modules/${name}`]) return true;
    if (!at) return false;
  }
};

const missing = Object.entries(packages).flatMap(([from, entry]) =>
  Object.keys(entry.optionalDependencies ?? {})
    .filter((name) => !isLocked(from, name))
    .map((name) => `${name} (wanted by ${from || 'package.json'})`),
);
if (missing.length > 0) {
  console.error(`package-lock.json is incomplete; delete it and run npm install:\n${missing.join('\n')}`);
  process.exit(1);
}
