/** Preferences of a person that are kept for the next visit. The console stores nothing else in the browser. */
type Preference = 'theme' | 'shortcuts';

const keyOf = (name: Preference): string => `svc-console.${name}`;

/** The stored value of a preference; undefined if there is none, or if the browser forbids storage by an error. */
export function remembered(name: Preference): string | undefined {
  try {
    return localStorage.getItem(keyOf(name)) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: Preference, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), value);
  } catch {
    // Without storage, the preference lasts until the page is closed.
  }
}
