/** Loaded into a server before its own code (NODE_OPTIONS): inserts the defect that TEST_DEFECT describes. */
const { Module } = require('node:module');

const { file, from, to } = JSON.parse(process.env.TEST_DEFECT);
const compile = Module.prototype._compile;

Module.prototype._compile = function (text, path, ...rest) {
  if (!path.endsWith(file)) return compile.call(this, text, path, ...rest);
  if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`);
  return compile.call(this, text.replace(from, to), path, ...rest);
};
