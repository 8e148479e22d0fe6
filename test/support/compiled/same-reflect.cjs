/** Gives a spec file the Reflect to which the packages that Node loads add the metadata of decorators. */
const { runInThisContext } = require('node:vm');

Object.defineProperty(globalThis, 'Reflect', {
  value: runInThisContext('Reflect'),
  configurable: true,
  writable: true,
});
