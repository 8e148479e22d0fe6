/** Words with hyphens or underscores between, or in camel case. Whatever else, such as `8310-5`, is a code and stays one. */
const WORDS = /^[a-z]+(?:[-_ ][a-z]+)*$/i;

/** `cancel-reason` and `cancelReason` as `Cancel reason`. */
export function readableKey(key: string): string {
  if (!WORDS.test(key)) return key;
  const words = key.replace(/([a-z])(?=[A-Z])/g, '$1 ').replaceAll(/[-_]/g, ' ');
  const [first = '', ...rest] = words.split(' ');
  const isShouted = (word: string): boolean => word.length > 1 && word === word.toUpperCase();
  return [
    isShouted(first) ? first : `${first.charAt(0).toUpperCase()}${first.slice(1)}`,
    ...rest.map((word) => (isShouted(word) ? word : word.toLowerCase())),
  ].join(' ');
}
