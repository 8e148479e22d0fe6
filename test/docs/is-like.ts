/**
 * Whether a response has the members and types of an example. Each element of a list in the example must match an
 * element of the response.
 */
export function isLike(example: unknown, answer: unknown): boolean {
  if (Array.isArray(example)) {
    return Array.isArray(answer) && example.every((one) => answer.some((other) => isLike(one, other)));
  }
  if (typeof example !== 'object' || example === null || answer === null) {
    return typeof example === typeof answer && (example === null) === (answer === null);
  }
  if (typeof answer !== 'object') return false;
  const [documented, given] = [example, answer].map(
    (value) => new Map(Object.entries(value as Record<string, unknown>)),
  );
  const names = [...(documented?.keys() ?? [])];
  return names.length === given?.size && names.every((name) => isLike(documented?.get(name), given.get(name)));
}
