import { type JsonValue } from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';
import { type ElementPath, compileElementPath } from './element-path';
import { type OperationParts, operationsOf } from './patch-operation';
import { PatchTree } from './patch-tree';
import { PatchedResource } from './patched-resource';
import { type TreePatch, excerpt, unfit } from './tree-patch';

type Operation = (resource: PatchedResource) => void;

/**
 * Compiles a FHIRPath patch (http://hl7.org/fhir/R4/fhirpatch.html). Either all its operations apply, or none. A path
 * must select exactly one element; for `insert` and `move`, it selects the list. Only the path of a `delete` may select
 * nothing, as R4 says.
 * @throws ServiceError 'invalid' for malformed operations; the patch itself throws 'unprocessable' if it does not apply
 */
export function* compileFhirPathPatch(patch: JsonValue): Steps<TreePatch> {
  const operations: Operation[] = [];
  for (const parts of operationsOf(patch)) {
    operations.push(compiledOperation(parts));
    yield;
  }
  return function* (tree): Steps<JsonValue> {
    if (!(tree instanceof Map)) return tree;
    const resource = new PatchedResource(yield* PatchTree.of(tree));
    for (const apply of operations) {
      apply(resource);
      yield;
    }
    return tree;
  };
}

function compiledOperation(parts: OperationParts): Operation {
  const [type, path] = [parts.text('type'), parts.text('path')];
  switch (type) {
    case 'add': {
      const [name, value] = [parts.text('name'), parts.value()];
      const parent = compileElementPath(path);
      return (resource) => {
        resource.add(resource.findOne(parent), name, value);
      };
    }
    case 'insert': {
      const [index, value] = [parts.index('index'), parts.value()];
      const { parent, name } = listPathOf(path);
      return (resource) => {
        resource.insert(resource.findOne(parent), name, index, value);
      };
    }
    case 'delete': {
      const element = compileElementPath(path);
      return (resource) => {
        resource.delete(element);
      };
    }
    case 'replace': {
      const value = parts.value();
      const element = compileElementPath(path);
      return (resource) => {
        resource.replace(resource.findOne(element), value);
      };
    }
    case 'move': {
      const [source, destination] = [parts.index('source'), parts.index('destination')];
      const { parent, name } = listPathOf(path);
      return (resource) => {
        resource.move(resource.findOne(parent), name, source, destination);
      };
    }
    default:
      throw parts.refused('"type" is add, insert, delete, replace or move');
  }
}

/**
 * Splits the path of a list into the path of its parent and the name of the list. The parent exists even if the list is
 * empty.
 */
function listPathOf(path: string): { parent: ElementPath; name: string } {
  const [, parent, name] = /^(?:([^]*)\.)?\s*([A-Za-z]\w*)\s*$/.exec(path) ?? [];
  if (name === undefined) throw unfit(`The path "${excerpt(path)}" names no list: it must end with the name of one.`);
  return { parent: compileElementPath(parent ?? '$this'), name };
}
