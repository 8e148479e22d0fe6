import { useQueries } from '@tanstack/react-query';
import { type SvcClient } from 'svc-health-client';
import { useSession } from '../app/session';

/** The maximum number of ids in one search, which keeps its address short. */
const IDS_AT_ONCE = 50;

interface Named {
  readonly resourceType: string;
  readonly id: string;
  readonly display?: string;
}

export type NameOf = (person: Named) => string;

/** The names of Users and Patients. If somebody has no name, or it may not be read, the reference itself is shown. */
export function useNames(people: readonly (Named | undefined)[]): NameOf {
  const { client, userId } = useSession();
  const chunks = ['User', 'Patient'].flatMap((type) => {
    const ids = new Set(
      people.flatMap((person) => (person?.resourceType === type && person.display === undefined ? [person.id] : [])),
    );
    return chunksOf([...ids].sort()).map((chunk) => ({ type: type as 'User' | 'Patient', ids: chunk }));
  });
  const answers = useQueries({
    queries: chunks.map(({ type, ids }) => ({
      queryKey: ['names', userId, type, ids],
      queryFn: () => namesOf(client, type, ids),
      retry: false,
      staleTime: 60_000,
    })),
  });
  const names = new Map(answers.flatMap(({ data }) => data ?? []));
  return (person) => {
    const reference = `${person.resourceType}/${person.id}`;
    return person.display ?? names.get(reference) ?? reference;
  };
}

function chunksOf(ids: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) chunks.push(ids.slice(at, at + IDS_AT_ONCE));
  return chunks;
}

async function namesOf(
  client: SvcClient,
  type: 'User' | 'Patient',
  ids: readonly string[],
): Promise<readonly (readonly [reference: string, name: string])[]> {
  const elements = { User: 'name,userName', Patient: 'name' }[type];
  const query = { _id: ids.join(','), _elements: elements, _count: IDS_AT_ONCE, _total: 'none' };
  const names: [string, string][] = [];
  for await (const resource of client.search(type, query)) {
    const { id = '' } = resource;
    const name = nameIn(resource);
    if (name !== undefined) names.push([`${type}/${id}`, name]);
  }
  return names;
}

interface WithName {
  readonly name?: unknown;
  readonly userName?: unknown;
}

/** The name of a User (SCIM) or of a Patient (HumanName). */
export function nameIn({ name, userName }: WithName): string | undefined {
  const first: unknown = Array.isArray(name) ? name[0] : name;
  const { formatted, givenName, familyName, text, given, family } = (first ?? {}) as Record<string, unknown>;
  const whole = [formatted, text].find((one) => typeof one === 'string' && one !== '');
  if (typeof whole === 'string') return whole;
  const parts = [givenName, ...(Array.isArray(given) ? (given as unknown[]) : []), familyName, family];
  const joined = parts.filter((part) => typeof part === 'string').join(' ');
  return joined === '' ? (typeof userName === 'string' ? userName : undefined) : joined;
}

/** The text of a reference with the name, if the name may be read: `User/ana` becomes `Ana Okafor (User/ana)`. */
export function referenceText(text: string, nameOf: NameOf): string {
  const person = personIn(text);
  const name = person === undefined ? text : nameOf(person);
  return name === text ? text : `${name} (${text})`;
}

/** The User or Patient that a text refers to, as in `User/ana`. */
export function personIn(text: string): Named | undefined {
  const [, resourceType, id] = /^(User|Patient)\/([A-Za-z0-9.-]{1,64})$/.exec(text) ?? [];
  return resourceType === undefined || id === undefined ? undefined : { resourceType, id };
}
