import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session';
import { capabilitiesOf } from '../../parts/capabilities';
import { type Option } from '../../parts/Combobox';
import { nameIn } from '../../parts/names';
import { readSearchText, searchParametersOf } from '../../parts/patient-query';
import { firstPage, textSearch } from '../../parts/search-pages';
import { useSettled } from '../../parts/use-settled';

const MOST_OPTIONS = 8;

/**
 * Users or Clients whose text contains the typed words. Without the right to read them the list is empty, and the id
 * must be typed.
 */
export function useNamed(type: 'User' | 'Client', typed: string, isAsked: boolean): readonly Option[] {
  const { client, userId } = useSession();
  const words = useSettled(typed.trim());
  const { data } = useQuery({
    queryKey: ['named', userId, type, words],
    enabled: isAsked,
    retry: false,
    queryFn: async ({ signal }): Promise<readonly Option[]> => {
      const elements = type === 'User' ? 'name,userName,email,inactive' : 'grant_types,active,description';
      const query = { ...textSearch(words), _elements: elements, _count: MOST_OPTIONS, _total: 'none' };
      const { resources } = await firstPage(client, type, query, signal);
      return resources.map((resource) => ({ text: String(resource['id']), note: noteOn(type, resource) }));
    },
  });
  return data ?? [];
}

function noteOn(type: 'User' | 'Client', resource: Readonly<Record<string, unknown>>): string {
  if (type === 'Client') {
    const grants = resource['grant_types'];
    return Array.isArray(grants) ? grants.join(', ') : '';
  }
  return `${nameIn(resource) ?? ''}${resource['inactive'] === true ? ' (inactive)' : ''}`;
}

/** Patients whose name, birth date or identifier is typed in place of a path. */
function usePatients(typed: string): readonly Option[] {
  const { client, userId } = useSession();
  const [, below, alone = ''] = /^\/?(?:fhir\/)?Patient\/([^/?]*)$|^([^/?$]*)$/.exec(typed) ?? [];
  const words = useSettled((below ?? alone).trim());
  const { data } = useQuery({
    queryKey: ['named-patients', userId, words],
    enabled: words.length > 1,
    retry: false,
    queryFn: async ({ signal }): Promise<readonly Option[]> => {
      const shown = { _elements: 'name,birthDate', _count: MOST_OPTIONS, _total: 'none' };
      const query = { ...shown, ...searchParametersOf(readSearchText(words)) };
      const { resources } = await firstPage(client, 'Patient', query, signal);
      return resources.map((patient) => ({
        text: `/fhir/Patient/${String(patient['id'])}`,
        note: [nameIn(patient), patient['birthDate']].filter((part) => typeof part === 'string').join(', '),
      }));
    },
  });
  return words.length > 1 ? (data ?? []) : [];
}

/**
 * Suggested paths for the typed text: paths of types whose names begin with it, and paths of patients whom it names.
 */
export function usePaths(typed: string): readonly Option[] {
  const { client } = useSession();
  const { data } = useQuery(capabilitiesOf(client));
  const known = data?.rest?.flatMap(({ resource = [] }) => resource.map(({ type }) => type)) ?? [];
  const patients = usePatients(typed);
  const [, begun] = /^\/?(?:fhir\/)?([A-Za-z]*)$/.exec(typed) ?? [];
  if (begun === undefined) return patients;
  const types = known.filter((type) => type.toLowerCase().startsWith(begun.toLowerCase()) && type !== begun);
  const common =
    begun === ''
      ? ['Patient', 'Observation', 'Encounter', 'SDCDocument'].filter((type) => known.includes(type))
      : types;
  return [
    ...common
      .slice(0, MOST_OPTIONS)
      .map((type) => ({ text: `/fhir/${type}/`, note: 'add an id to read one', isOpen: true })),
    ...patients,
    ...(begun === '' ? [{ text: '/rpc', note: 'POST: methods of addenda' }] : []),
  ];
}
