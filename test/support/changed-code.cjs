/** Loaded into a server before its own code (NODE_OPTIONS): makes the changes that TEST_CHANGES describes. */
const { Module } = require('node:module');

const changes = JSON.parse(process.env.TEST_CHANGES);
const compile = Module.prototype._compile;

Module.prototype._compile = function (text, path, ...rest) {
  const changed = changes.reduce((code, { file, from, to }) => {
    if (!path.endsWith(file)) return code;
    if (!code.includes(from)) throw new Error(`${file} does not hold ${from}`);
    return code.replace(from, to);
  }, text);
  return compile.call(this, changed, path, ...rest);
};
