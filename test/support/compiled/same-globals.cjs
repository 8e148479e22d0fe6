/**
 * Gives a spec file the globals that the compiled server checks with instanceof, and the Reflect that holds the
 * metadata of its decorators: jest's sandbox has others of the same names.
 */
const { runInThisContext } = require('node:vm');

for (const name of ['Date', 'Error', 'Map', 'Reflect', 'Set'])
  Object.defineProperty(globalThis, name, { value: runInThisContext(name), configurable: true, writable: true });
