/** The parts of a refused request that a sentence needs. */
export interface RefusedRequest {
  readonly method?: string | undefined;
  readonly type?: string | undefined;
  readonly operation?: string | undefined;
  /** The caller: `nora`. */
  readonly caller?: string | undefined;
}

/**
 * One sentence on the clause of a policy that failed: "lab-reader allows Observation only; the request was for
 * Patient." Undefined if a sentence would say no more than the clause itself.
 * @param wanted the value in the policy at `path`
 */
export function clauseSentence(
  policy: string,
  path: string,
  wanted: unknown,
  { method, type, operation, caller = 'the caller' }: RefusedRequest,
): string | undefined {
  if (path === 'roleName' && typeof wanted === 'string')
    return `${policy} is for holders of the role ${wanted}, which ${caller} does not hold.`;
  const allowed = plainTexts(wanted);
  if (allowed === undefined) return undefined;
  const only = (texts: readonly string[], was: string): string =>
    `${policy} allows ${texts.join(' or ')} only; the request was ${was}.`;
  if (path.endsWith('params.resource/type')) return only(allowed, type === undefined ? 'for no type' : `for ${type}`);
  if (path.endsWith('request-method') && method !== undefined)
    return only(
      allowed.map((one) => one.toUpperCase()),
      method.toUpperCase(),
    );
  if (path.endsWith('operation.id')) return only(allowed, operation ?? 'none that policies name');
  return undefined;
}

/**
 * The texts that a pattern of matcho accepts: one text, or those of an `$enum`. Undefined for patterns that are no
 * plain text.
 */
export function plainTexts(wanted: unknown): readonly string[] | undefined {
  const texts = (wanted as { readonly $enum?: unknown } | null | undefined)?.$enum ?? [wanted];
  if (!Array.isArray(texts)) return undefined;
  const plain = texts.filter((one): one is string => typeof one === 'string' && /^[A-Za-z$][\w$-]*$/.test(one));
  return plain.length === texts.length && plain.length > 0 ? plain : undefined;
}
