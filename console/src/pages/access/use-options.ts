import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session';
import { type Option } from '../../parts/Combobox';
import { nameIn } from '../../parts/names';
import { firstPage } from '../../parts/search-pages';
import { useSettled } from '../../parts/use-settled';

const MOST_OPTIONS = 8;

/** Users or Clients whose text has what is typed. A User without the right to read them gets none, and types the id. */
export function useNamed(type: 'User' | 'Client', typed: string, isAsked: boolean): readonly Option[] {
  const { client, userId } = useSession();
  const words = useSettled(typed.trim());
  const { data } = useQuery({
    queryKey: ['named', userId, type, words],
    enabled: isAsked,
    retry: false,
    queryFn: async ({ signal }): Promise<readonly Option[]> => {
      const elements = type === 'User' ? 'name,userName,email,inactive' : 'grant_types,active,description';
      const query = { ...wordsIn(words), _elements: elements, _count: MOST_OPTIONS, _total: 'none' };
      const { resources } = await firstPage(client, type, query, signal);
      return resources.map((resource) => ({ text: String(resource['id']), note: noteOn(type, resource) }));
    },
  });
  return data ?? [];
}

/** `_ilike` takes a comma as OR. */
const wordsIn = (words: string): Readonly<Record<string, string>> =>
  words === '' ? {} : { _ilike: words.replaceAll(/[\\,]/g, ' ') };

function noteOn(type: 'User' | 'Client', resource: Readonly<Record<string, unknown>>): string {
  if (type === 'Client') {
    const grants = resource['grant_types'];
    return Array.isArray(grants) ? grants.join(', ') : '';
  }
  return `${nameIn(resource) ?? ''}${resource['inactive'] === true ? ' (inactive)' : ''}`;
}

/** Paths of types that begin as typed. */
export function usePaths(typed: string): readonly Option[] {
  const { client } = useSession();
  const { data = [] } = useQuery({
    queryKey: ['types-of-metadata'],
    staleTime: Infinity,
    retry: false,
    queryFn: async () => {
      const { rest = [] } = (await (
        await client.request('GET', '/metadata', { query: { _elements: 'rest' } })
      ).json()) as {
        readonly rest?: readonly { readonly resource?: readonly { readonly type: string }[] }[];
      };
      return rest.flatMap(({ resource = [] }) => resource.map(({ type }) => type));
    },
  });
  const [, begun] = /^\/?(?:fhir\/)?([A-Za-z]*)$/.exec(typed) ?? [];
  if (begun === undefined) return [];
  const types = data.filter((type) => type.toLowerCase().startsWith(begun.toLowerCase()) && type !== begun);
  const common =
    begun === '' ? ['Patient', 'Observation', 'Encounter', 'SDCDocument'].filter((type) => data.includes(type)) : types;
  return [
    ...common
      .slice(0, MOST_OPTIONS)
      .map((type) => ({ text: `/fhir/${type}/`, note: 'add an id to read one', isOpen: true })),
    ...(begun === '' ? [{ text: '/rpc', note: 'POST: methods of addenda' }] : []),
  ];
}
