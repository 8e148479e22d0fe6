/** Whether `error` is the failure of a system call with this code (errno(3)), such as ENOENT. */
export function isSystemError(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
