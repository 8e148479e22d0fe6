/** The code of an error of Node, such as ENOENT (errno(3)), or of a library; undefined if it has none. */
export const systemCodeOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

export const isSystemError = (error: unknown, code: string): boolean => systemCodeOf(error) === code;
