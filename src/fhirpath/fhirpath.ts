/** The public part of this package: other packages import only this file. */
export { type Expression, ExpressionError } from './syntax/expression';
export { parseExpression } from './syntax/parse-expression';
export { NotAllowed } from './allowed';
export { type Truth, type Variables } from './compile/compiled';
export { compileConstraint, compileInvariant } from './invariant';
export { compileClause, compileCriterion, type Criterion, type Versions } from './criterion';
export { type LocationStep, type ResolveReference } from './library';
export { compileLocations } from './locations';
export { type Branch, CompilationBudget, evaluatorOf, type Step, type Visit, walkSteps } from './compile/compiled';
export { RESOURCE_STEP, visitEach } from './compile/paths';
export { compilePart, compilePaths } from './search-paths';
