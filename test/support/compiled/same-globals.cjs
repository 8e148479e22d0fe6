/**
 * Gives a spec file the globals that the compiled server uses in instanceof checks, and the Reflect with the metadata
 * of its decorators. Jest's sandbox has different objects under these names.
 */
const { runInThisContext } = require('node:vm');

for (const name of ['Date', 'Error', 'Map', 'Reflect', 'Set'])
  Object.defineProperty(globalThis, name, { value: runInThisContext(name), configurable: true, writable: true });
